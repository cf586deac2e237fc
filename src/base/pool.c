// SPDX-License-Identifier: Apache-2.0
// Blocks form a chain, newest first; the oldest block is kept until pool_free(). Allocations come from the newest block. If it
// has too little room, a new block is made, larger than usual if the allocation is. So blocks are in the order of allocations,
// and rewinding frees blocks until the marked one is the newest.
#include "base/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/budget.h"
#include "base/memory.h"
#include "base/pool.h"

#if defined(__SANITIZE_ADDRESS__)
#define POOL_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_ASAN
#endif
#endif
#ifdef POOL_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { POOL_GAP = 16 }; // bytes after each allocation that the address sanitizer reports if they are touched
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { POOL_GAP = 0 };
#endif

enum {
	POOL_ALIGN = _Alignof(max_align_t),
	POOL_FIRST = 16 * 1024, // less the header and malloc's own words
	POOL_NEXT = 32 * 1024, // the largest usual block
	POOL_MALLOC_WORDS = 16,
};

struct block {
	struct block *older;
	size_t size; // bytes in data
	size_t used;
	_Alignas(max_align_t) char data[];
};

struct cleanup {
	struct cleanup *earlier;
	void (*fn)(void *arg);
	void *arg;
};

struct pool {
	struct block *newest;
	struct cleanup *last;
	size_t size, peak;
	size_t next;    // bytes of the next block, the header among them
	size_t charged; // bytes counted by pool_charge() and pool_adopt()
};

static size_t data_size(size_t block_size)
{
	return block_size - sizeof(struct block) - POOL_MALLOC_WORDS;
}

static struct block *block_new(size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);

	if (block == NULL)
		return NULL;
	block->older = NULL;
	block->size = size;
	block->used = 0;
	POISON(block->data, size);
	return block;
}

static void block_free(struct block *block)
{
	UNPOISON(block->data, block->size);
	free(block);
}

// Makes the bytes behind `used` free again. The address sanitizer then reports their use.
static void block_shrink(struct block *block, size_t used)
{
	assert(used <= block->used);
	POISON(block->data + used, block->used - used);
	block->used = used;
}

// The struct pool itself stands at the beginning of its first block.
static const size_t pool_reserved = (sizeof(struct pool) + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;

static size_t twice(size_t block_size)
{
	return block_size > POOL_NEXT / 2 ? POOL_NEXT : 2 * block_size;
}

struct pool *pool_new_sized(size_t bytes)
{
	assert(bytes >= POOL_LEAST);
	struct block *first = block_new(data_size(bytes));

	if (first == NULL)
		return NULL;
	UNPOISON(first->data, pool_reserved);
	first->used = pool_reserved;
	struct pool *pool = (struct pool *)(void *)first->data;
	size_t size = sizeof(*first) + first->size;
	*pool = (struct pool){ .newest = first, .size = size, .peak = size, .next = twice(bytes) };
	return pool;
}

struct pool *pool_new(void)
{
	return pool_new_sized(POOL_FIRST);
}

struct pool *pool_new_or_end(void)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		memory_end(POOL_FIRST);
	return pool;
}

_Noreturn static void out_of_memory(size_t size)
{
	budget_leave_if_starved();
	memory_end(size);
}

// Adds a block with at least `room` free bytes as the newest one.
static void add_block(struct pool *pool, size_t room)
{
	size_t size = room > data_size(pool->next) ? room : data_size(pool->next);

	assert(room > 0);
	budget_take(sizeof(struct block) + size); // leaves by longjmp if the budget is exceeded
	struct block *block = block_new(size);

	if (block == NULL)
		out_of_memory(room);
	block->older = pool->newest;
	pool->newest = block;
	pool->next = twice(pool->next);
	pool->size += sizeof(*block) + size;
	if (pool->size > pool->peak)
		pool->peak = pool->size;
}

void *pool_alloc(struct pool *pool, size_t size)
{
	// No real request is so large: the size was computed wrongly, and rounding it up could overflow.
	if (size > SIZE_MAX / 2)
		out_of_memory(size);
	// Every allocation counts as a step of work, so that a loop that allocates can't exceed the CPU time for long.
	budget_work(1);
	// At least one byte, so that two allocations never have the same address.
	size_t room = (size + (size == 0) + POOL_GAP + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;

	if (room > pool->newest->size - pool->newest->used)
		add_block(pool, room);
	struct block *block = pool->newest;
	char *p = block->data + block->used;
	block->used += room;
	UNPOISON(p, size);
	return p;
}

void *pool_calloc(struct pool *pool, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		out_of_memory(SIZE_MAX);
	return memset(pool_alloc(pool, total), 0, total);
}

void pool_cleanup(struct pool *pool, void (*fn)(void *arg), void *arg)
{
	struct cleanup *cleanup = pool_alloc(pool, sizeof(*cleanup));

	assert(fn != NULL);
	*cleanup = (struct cleanup){ .earlier = pool->last, .fn = fn, .arg = arg };
	pool->last = cleanup;
}

enum { SCRATCH_LEAST = 32 * 1024 }; // bytes of text; less does not justify a pool of its own

static void free_scratch(void *arg)
{
	struct pool *scratch = arg;

	pool_free(&scratch);
}

struct pool *pool_scratch(struct pool *pool, size_t bytes)
{
	if (bytes < SCRATCH_LEAST)
		return pool;
	budget_defer(); // no longjmp here: nothing would free the new pool yet
	struct pool *scratch = pool_new();
	if (scratch == NULL)
		out_of_memory(POOL_FIRST);
	pool_cleanup(pool, free_scratch, scratch);
	budget_release();
	return scratch;
}

void pool_scratch_end(struct pool *pool, struct pool *scratch)
{
	assert(scratch != NULL);
	if (scratch != pool)
		pool_clear(scratch);
}

void pool_charge(struct pool *pool, size_t n)
{
	assert(pool->charged <= SIZE_MAX - n);
	budget_take(n); // leaves by longjmp if the budget is exceeded
	pool->charged += n;
}

void pool_adopt(struct pool *pool, size_t n)
{
	assert(pool->charged <= SIZE_MAX - n);
	pool->charged += n;
}

struct pool_mark pool_mark(const struct pool *pool)
{
	return (struct pool_mark){ .block = pool->newest, .used = pool->newest->used, .cleanup = pool->last,
		.charged = pool->charged };
}

enum { TRIM_BYTES = 2 << 20 };

// malloc never returns free memory that lies below something still in use, and takes more from the system for the next large
// allocation. So a large amount of freed memory is returned to the system at once.
static void give_to_system(size_t n)
{
#ifdef __GLIBC__
	if (n > TRIM_BYTES)
		(void)malloc_trim(0);
#else
	UNUSED(n);
#endif
}

void pool_rewind(struct pool *pool, struct pool_mark mark)
{
	size_t before = pool_held(pool);

	assert(mark.block != NULL);
	while (pool->last != mark.cleanup) {
		assert(pool->last != NULL); // the mark was taken from this pool, after its last pool_clear()
		struct cleanup *cleanup = pool->last;

		assert(cleanup != NULL);
		pool->last = cleanup->earlier;
		cleanup->fn(cleanup->arg);
	}
	while (pool->newest != mark.block) {
		struct block *block = pool->newest;

		assert(block->older != NULL);
		pool->newest = block->older;
		pool->size -= sizeof(*block) + block->size;
		budget_give(sizeof(*block) + block->size);
		block_free(block);
	}
	block_shrink(pool->newest, mark.used);
	assert(pool->charged >= mark.charged);
	budget_give(pool->charged - mark.charged);
	pool->charged = mark.charged;
	give_to_system(before - pool_held(pool));
}

void pool_clear(struct pool *pool)
{
	struct block *first = pool->newest;

	while (first->older != NULL)
		first = first->older;
	pool_rewind(pool, (struct pool_mark){ .block = first, .used = pool_reserved });
	pool->peak = pool->size;
}

void pool_free(struct pool **pool)
{
	if (*pool == NULL)
		return;
	pool_clear(*pool);
	block_free((*pool)->newest);
	*pool = NULL;
}

size_t pool_size(const struct pool *pool)
{
	return pool->size;
}

size_t pool_held(const struct pool *pool)
{
	return pool->size + pool->charged;
}

size_t pool_peak(const struct pool *pool)
{
	return pool->peak;
}
