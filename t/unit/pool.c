// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "tap.h"

static char trace[64];

static void note(void *arg)
{
	size_t n = strlen(trace);

	assert(n + 1 < sizeof(trace));
	trace[n] = *(const char *)arg;
	trace[n + 1] = '\0';
}

static void alignment(struct pool *pool)
{
	bool aligned = true, distinct = true;
	char *before = NULL;

	for (size_t size = 0; size < 300; size++) {
		char *p = pool_alloc(pool, size);

		aligned = aligned && (uintptr_t)p % _Alignof(max_align_t) == 0;
		distinct = distinct && p != before;
		memset(p, 0xee, size);
		before = p;
	}
	ok(aligned, "every allocation is aligned for any type");
	ok(distinct, "even empty ones have addresses of their own");
}

static void contents(struct pool *pool)
{
	enum { MANY = 2000 };
	unsigned char *kept[MANY];
	bool intact = true;

	for (size_t i = 0; i < MANY; i++) {
		kept[i] = pool_alloc(pool, i % 257 + 1);
		memset(kept[i], (int)(i & 0xff), i % 257 + 1);
	}
	for (size_t i = 0; i < MANY; i++) {
		for (size_t b = 0; b < i % 257 + 1; b++)
			intact = intact && kept[i][b] == (i & 0xff);
	}
	ok(intact, "allocations don't overlap, over many blocks");

	size_t large = 3 * 1024 * 1024;
	unsigned char *p = pool_calloc(pool, large, 1);
	bool zero = true;
	for (size_t i = 0; i < large; i++)
		zero = zero && p[i] == 0;
	ok(zero, "calloc gives zeroes in a large block");
}

static void zeroes_again(struct pool *pool)
{
	pool_clear(pool);
	memset(pool_alloc(pool, 1000), 0xff, 1000);
	pool_clear(pool);
	const unsigned char *p = pool_calloc(pool, 10, 100);
	bool zero = true;
	for (size_t i = 0; i < 1000; i++)
		zero = zero && p[i] == 0;
	ok(zero, "calloc gives zeroes in memory that was used before");
}

static void size_stays(struct pool *pool)
{
	pool_clear(pool);
	size_t small = pool_size(pool);

	ok(small >= 8 * 1024 && small <= 16 * 1024, "an empty pool keeps a block of 8 to 16 KiB");
	(void)pool_alloc(pool, 10 * 1024 * 1024);
	for (int i = 0; i < 1000; i++)
		(void)pool_alloc(pool, 1000);
	ok(pool_size(pool) > 11 * 1000 * 1000, "what is taken from the system is counted");
	pool_clear(pool);
	is_int((long long)pool_size(pool), (long long)small, "and given back by clear");
	for (int i = 0; i < 1000; i++) {
		(void)pool_alloc(pool, 5000);
		pool_clear(pool);
	}
	is_int((long long)pool_size(pool), (long long)small, "a thousand requests later as well");
}

static void cleanups(struct pool *pool)
{
	trace[0] = '\0';
	pool_cleanup(pool, note, (void *)(uintptr_t)"a");
	pool_cleanup(pool, note, (void *)(uintptr_t)"b");
	struct pool_mark mark = pool_mark(pool);
	pool_cleanup(pool, note, (void *)(uintptr_t)"c");
	pool_cleanup(pool, note, (void *)(uintptr_t)"d");
	pool_rewind(pool, mark);
	ok(strcmp(trace, "dc") == 0, "rewind runs what came after the mark, last first");
	pool_rewind(pool, mark);
	ok(strcmp(trace, "dc") == 0, "once");
	pool_clear(pool);
	ok(strcmp(trace, "dcba") == 0, "clear runs the rest");
	pool_clear(pool);
	ok(strcmp(trace, "dcba") == 0, "once, too");
}

static void rewinding(struct pool *pool)
{
	char *kept = pool_alloc(pool, 100);
	memset(kept, 'k', 100);
	struct pool_mark mark = pool_mark(pool);
	size_t size = pool_size(pool);
	char *first = pool_alloc(pool, 100);
	uintptr_t address = (uintptr_t)first;

	(void)pool_alloc(pool, 1024 * 1024);
	(void)pool_alloc(pool, 100);
	pool_rewind(pool, mark);
	is_int((long long)pool_size(pool), (long long)size, "rewind gives blocks back");
	ok(pool_peak(pool) > size + 1024 * 1024, "what it had for a while is remembered");
	ok((uintptr_t)pool_alloc(pool, 100) == address, "and allocates from the mark on");
	bool intact = true;
	for (int i = 0; i < 100; i++)
		intact = intact && kept[i] == 'k';
	ok(intact, "what was before the mark stays");
}

static void sized(void)
{
	enum { FIRST = 1024 };
	struct pool *pool = pool_new_sized(FIRST), *least = pool_new_sized(POOL_LEAST);
	bool fits = true;

	ok(pool_size(pool) <= FIRST && pool_size(pool) > FIRST / 2, "a small pool begins with what it was told");
	(void)pool_alloc(pool, FIRST);
	ok(pool_size(pool) <= 3 * FIRST, "and goes on with twice as much");
	while (pool_size(pool) < 256 * 1024) {
		size_t before = pool_size(pool);
		(void)pool_alloc(pool, 500);
		fits = fits && pool_size(pool) - before <= 32 * 1024;
	}
	ok(fits, "up to the blocks of other pools");
	memset(pool_alloc(least, 100), 0xff, 100);
	ok(pool_size(least) <= POOL_LEAST, "the smallest has room for something");
	pool_clear(pool);
	ok(pool_size(pool) <= FIRST, "what is left of it is its first block");
	pool_free(&pool);
	pool_free(&least);
}

int main(void)
{
	struct pool *pool = pool_new(), *none = NULL;

	alignment(pool);
	contents(pool);
	zeroes_again(pool);
	size_stays(pool);
	cleanups(pool);
	rewinding(pool);
	sized();
	trace[0] = '\0';
	pool_cleanup(pool, note, (void *)(uintptr_t)"z");
	pool_free(&pool);
	ok(pool == NULL, "free forgets the pool");
	ok(strcmp(trace, "z") == 0, "free runs cleanups");
	pool_free(&none);
	ok(none == NULL, "freeing none does nothing");
	return done_testing();
}
