// SPDX-License-Identifier: Apache-2.0
// Memory that lives as long as a request. A caller allocates freely and frees nothing by itself; all is freed at once.
// Advantages: no path leaks, nobody asks who owns what, an allocation is one addition.
// Disadvantages: a pointer kept after the pool was cleared is invalid; a loop that allocates in each step grows until the request
// ends.
#ifndef TENURE_BASE_POOL_H
#define TENURE_BASE_POOL_H

#include "base/base.h"

struct pool;

// Returns a new, empty pool; NULL if there is no memory.
struct pool *pool_new(void);
// The same for what is small and stays, such as an entry of a cache: the pool takes so many bytes from the system at first, then
// twice as many with each block, up to the size of pool_new()'s blocks. bytes: at least POOL_LEAST.
struct pool *pool_new_sized(size_t bytes);
enum { POOL_LEAST = 512 };
// The same, but without memory the process ends (base/memory.h).
struct pool *pool_new_or_end(void);
// Runs the cleanups, last registered first, and frees all memory but one block, which is kept for the next request. After a
// large request the C library is told to return free memory to the system, so that a worker's size does not grow for good.
void pool_clear(struct pool *pool);
// pool_clear(), then frees the pool itself. Sets *pool to NULL; does nothing if *pool is NULL.
void pool_free(struct pool **pool);

// Never returns NULL. If the request exceeds its budget, the calling function is left by longjmp (base/budget.h). If the system
// has no memory, the process ends (base/memory.h). Aligned for any type. The bytes are not initialised. size 0 is allowed.
void *pool_alloc(struct pool *pool, size_t size);
// Zeroed memory. Ends the process likewise if count * size overflows.
void *pool_calloc(struct pool *pool, size_t count, size_t size);
#define POOL_NEW(pool, type) ((type *)pool_calloc((pool), 1, sizeof(type)))
#define POOL_ARRAY(pool, type, count) ((type *)pool_calloc((pool), (count), sizeof(type)))

// Calls fn(arg) when the pool is cleared, freed, or rewound to a mark taken before this call.
void pool_cleanup(struct pool *pool, void (*fn)(void *arg), void *arg);

// A pool for short-lived memory made from `bytes` bytes of text, such as a document's tree: a new pool or, if bytes is small, the
// given pool itself. pool_scratch_end() frees it early; otherwise it is freed together with the given pool.
struct pool *pool_scratch(struct pool *pool, size_t bytes);
void pool_scratch_end(struct pool *pool, struct pool *scratch);

// Counts n bytes that a library has allocated elsewhere against the request's budget, until the pool is cleared, freed or
// rewound; a cleanup of this pool frees the library's memory then. May leave the calling function, as pool_alloc() does.
void pool_charge(struct pool *pool, size_t n);
// Like pool_charge(), for n bytes that budget_take() has counted already.
void pool_adopt(struct pool *pool, size_t n);

// A position in the pool. pool_rewind() frees what was allocated, and runs the cleanups that were registered, after pool_mark().
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
// pool_size(), plus the bytes that the cleanups will release.
size_t pool_held(const struct pool *pool);
// The largest pool_size() since the pool was made or cleared.
size_t pool_peak(const struct pool *pool);

#endif
