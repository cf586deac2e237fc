// SPDX-License-Identifier: Apache-2.0
// Memory that lives as long as a request. Allocate freely, never free one thing, drop all at once.
// Good: no leaks on any path, no ownership questions, allocation is an addition.
// Bad: what is kept by mistake dies with the pool; a loop that allocates per step grows until the end of the request.
#ifndef TENURE_BASE_POOL_H
#define TENURE_BASE_POOL_H

#include "base/base.h"

struct pool;

// A new, empty pool; NULL when there is no memory.
struct pool *pool_new(void);
// Runs the cleanups, last registered first, returns all memory but one block, kept for the next request.
// Where that is much, the memory is given back to the system, so a worker's size does not ratchet up.
void pool_clear(struct pool *pool);
// pool_clear, and the pool itself. Sets *pool to NULL; does nothing on NULL.
void pool_free(struct pool **pool);

// Never NULL. If the request has used up what it was granted, the function that called is left (base/budget.h). A process
// that gets no memory from the system logs that and aborts; its master starts another and the database rolls back what
// was begun.
// Aligned for any type. The bytes are not initialised. size 0 is allowed.
void *pool_alloc(struct pool *pool, size_t size);
// Zeroed. Aborts, too, when count * size overflows.
void *pool_calloc(struct pool *pool, size_t count, size_t size);
#define POOL_NEW(pool, type) ((type *)pool_calloc((pool), 1, sizeof(type)))
#define POOL_ARRAY(pool, type, count) ((type *)pool_calloc((pool), (count), sizeof(type)))

// Calls fn(arg) when the pool is cleared, freed, or rewound to a mark taken before this call.
void pool_cleanup(struct pool *pool, void (*fn)(void *arg), void *arg);

// For what is made of bytes of text and soon dropped, such as a document's tree: another pool, or, where there is little, the
// pool itself. pool_scratch_end() releases it early, else it goes with the pool.
struct pool *pool_scratch(struct pool *pool, size_t bytes);
void pool_scratch_end(struct pool *pool, struct pool *scratch);

// Counts n bytes against the request's budget, which a cleanup of this pool will release when the pool is cleared, freed or
// rewound: of libraries that get memory elsewhere. May leave the caller, as pool_alloc().
void pool_charge(struct pool *pool, size_t n);
// The same for n bytes that budget_take() has counted already.
void pool_adopt(struct pool *pool, size_t n);

// A point to return to: what was allocated or registered after it goes, what was before it stays.
struct pool_mark {
	void *block;
	size_t used;
	void *cleanup;
	size_t charged;
};
struct pool_mark pool_mark(const struct pool *pool);
void pool_rewind(struct pool *pool, struct pool_mark mark);

// Bytes taken from the system, for logs and tests.
size_t pool_size(const struct pool *pool);
// These, and what cleanups release.
size_t pool_held(const struct pool *pool);
// The most it had since it was made or cleared.
size_t pool_peak(const struct pool *pool);

#endif
