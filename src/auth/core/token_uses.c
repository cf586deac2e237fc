// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/token_uses.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/shared.h"
#include "db/db.h"
#include "sql/tokens.h"

enum {
	WORDS = TOKEN_USE_ID / sizeof(uint64_t),
	NOTE_US = 1000000, // a use is noted if the one before is older than this
	AT_ONCE = 500,     // rows of a transaction
	AHEAD_US = 1000000, // tokens are used while the entries are read, so a use may be later than the reader's time by so
	                    // much; if it is later still, the entry is ignored
};

// One cache line.
struct entry {
	_Atomic uint64_t key;       // shared_hash() of the id; 0: free, or being changed
	_Atomic uint64_t id[WORDS]; // filled up with NUL
	_Atomic int64_t used_us, stored_us; // the last use that was noted; the one that the database has; 0: none
	_Atomic int64_t wrote_us;           // when that was written
};
static_assert(sizeof(struct entry) == 64, "an entry is a cache line");

struct uses {
	struct entry of[TOKEN_USES];
};

static struct uses *uses_of(const struct shared *shared)
{
	return shared_area(shared, SHARED_TOKEN_USES, sizeof(struct uses));
}

static int64_t load(const _Atomic int64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

// The entry that a new token takes: a free one, or that of the token that was used longest ago.
static struct entry *find_place(struct uses *uses, uint64_t key)
{
	struct entry *oldest = NULL;

	for (size_t i = 0; i < TOKEN_USES_WAYS; i++) {
		struct entry *entry = &uses->of[(key + i) % TOKEN_USES];
		if (atomic_load_explicit(&entry->key, memory_order_relaxed) == 0)
			return entry;
		if (oldest == NULL || load(&entry->used_us) < load(&oldest->used_us))
			oldest = entry;
	}
	return oldest;
}

static void take_place(struct entry *entry, uint64_t key, struct str id, int64_t now_us)
{
	uint64_t words[WORDS] = { 0 };

	memcpy(words, id.p, id.n);
	atomic_store(&entry->key, 0); // no reader takes it while it is half of one token and half of another
	for (size_t i = 0; i < WORDS; i++)
		atomic_store_explicit(&entry->id[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&entry->stored_us, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->wrote_us, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->used_us, now_us, memory_order_relaxed);
	atomic_store(&entry->key, key);
}

void token_use_note(const struct shared *shared, struct str id, int64_t now_us)
{
	if (shared == NULL || id.n == 0 || id.n > TOKEN_USE_ID)
		return;
	struct uses *uses = uses_of(shared);
	uint64_t key = shared_hash(shared, id);

	for (size_t i = 0; i < TOKEN_USES_WAYS; i++) {
		struct entry *entry = &uses->of[(key + i) % TOKEN_USES];
		if (atomic_load_explicit(&entry->key, memory_order_relaxed) != key)
			continue;
		int64_t used_us = load(&entry->used_us);
		if (used_us > now_us || now_us - used_us >= NOTE_US) // the cache line stays shared where nothing is written
			atomic_store_explicit(&entry->used_us, now_us, memory_order_relaxed);
		return;
	}
	take_place(find_place(uses, key), key, id, now_us);
}

// Reads an entry. False: it is free, or does not have its id: two processes took it at the same time, or the file is damaged.
// Then it is freed, and the next use of the token takes a place again.
static bool read_entry(const struct shared *shared, struct entry *entry, struct token_use *use)
{
	uint64_t words[WORDS], key = atomic_load(&entry->key);

	if (key == 0)
		return false;
	use->used_us = load(&entry->used_us);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = atomic_load_explicit(&entry->id[i], memory_order_relaxed);
	memcpy(use->id, words, TOKEN_USE_ID);
	use->id_n = strnlen(use->id, TOKEN_USE_ID);
	if (use->id_n > 0 && shared_hash(shared, str_n(use->id, use->id_n)) == key)
		return true;
	(void)atomic_compare_exchange_strong(&entry->key, &key, 0);
	return false;
}

size_t token_uses_due(const struct shared *shared, int64_t now_us, int64_t interval_us, struct token_use *list, size_t room)
{
	struct uses *uses = uses_of(shared);
	size_t n = 0;

	for (size_t i = 0; i < TOKEN_USES && n < room; i++) {
		struct entry *entry = &uses->of[i];
		int64_t wrote_us = load(&entry->wrote_us);
		// A time in the future was written by a clock that was wrong, or the file is damaged.
		bool is_time = wrote_us > now_us || now_us - wrote_us >= interval_us;

		if (!is_time || load(&entry->used_us) <= load(&entry->stored_us) || !read_entry(shared, entry, &list[n]))
			continue;
		if (list[n].used_us > 0 && list[n].used_us <= now_us + AHEAD_US)
			list[n++].place = i;
	}
	return n;
}

void token_uses_wrote(const struct shared *shared, int64_t now_us, const struct token_use *list, size_t n)
{
	struct uses *uses = uses_of(shared);

	for (size_t i = 0; i < n; i++) {
		struct entry *entry = &uses->of[list[i].place];
		if (atomic_load(&entry->key) != shared_hash(shared, str_n(list[i].id, list[i].id_n)))
			continue; // another token has taken the place
		atomic_store_explicit(&entry->wrote_us, now_us, memory_order_relaxed);
		atomic_store_explicit(&entry->stored_us, list[i].used_us, memory_order_relaxed);
	}
}

// ---- the database

struct storing {
	struct db *db;
	struct pool *pool;
	const struct sql_token_used *in;
	size_t n;
};

static enum db_verdict store(void *arg)
{
	const struct storing *storing = arg;

	return sql_token_used_bulk(storing->db, storing->pool, storing->in, storing->n, NULL) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

// All hosts lock the rows in the same order.
static int by_id(const void *a, const void *b)
{
	return memcmp(((const struct token_use *)a)->id, ((const struct token_use *)b)->id, TOKEN_USE_ID);
}

enum outcome token_uses_store(struct db *db, struct pool *pool, const struct shared *shared, int64_t interval_us)
{
	int64_t now_us = clock_now_us();
	struct token_use *list = POOL_ARRAY(pool, struct token_use, AT_ONCE);
	struct sql_token_used *in = POOL_ARRAY(pool, struct sql_token_used, AT_ONCE);
	size_t n;

	while (shared != NULL && (n = token_uses_due(shared, now_us, interval_us, list, AT_ONCE)) > 0) {
		struct storing storing = { .db = db, .pool = pool, .in = in, .n = n };
		qsort(list, n, sizeof(*list), by_id);
		for (size_t i = 0; i < n; i++)
			in[i] = (struct sql_token_used){ .id = str_n(list[i].id, list[i].id_n), .at = list[i].used_us };
		if (db_txn_run(db, DB_WRITE, NULL, store, &storing) != DB_OK)
			return OUTCOME_UNAVAILABLE;
		token_uses_wrote(shared, now_us, list, n);
	}
	return OUTCOME_OK;
}
