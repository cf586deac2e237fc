// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tags/keys.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "sql/schema.h"

static const int64_t AGE_US = 600000000; // less than ETAG_KEYS_KNOWN_S: a request that began with older keys ends before that is over

void etag_keys_free(struct etag_keys **keys)
{
	for (size_t i = 0; *keys != NULL && i < (*keys)->n; i++)
		digest_key_free(&(*keys)->keys[i].key);
	free(*keys);
	*keys = NULL;
}

// Reads the id of `etag_key.ID`, and the key and the time of its value.
static bool read_key(const struct sql_etag_key_rows_row *row, struct etag_key *key)
{
	const struct str prefix = STR("etag_key.");
	struct str value = row->value;

	*key = (struct etag_key){ .id = ETAG_KEYS_FIRST };
	if (value.n < ETAG_KEY_SIZE)
		return false;
	if (str_starts(row->name, prefix) &&
		(!str_to_u64(str_part(row->name, prefix.n, row->name.n), &key->id) || key->id <= ETAG_KEYS_FIRST ||
			!str_to_u64(str_part(value, ETAG_KEY_SIZE, value.n), &key->added_s)))
		return false;
	key->key = digest_key_new(str_part(value, 0, ETAG_KEY_SIZE));
	return key->key != NULL;
}

static void insert_sorted(struct etag_keys *keys, const struct etag_key *key)
{
	size_t i = keys->n++;

	for (; i > 0 && keys->keys[i - 1].id > key->id; i--)
		keys->keys[i] = keys->keys[i - 1];
	keys->keys[i] = *key;
}

static enum outcome read_keys(struct registry *registry, struct etag_keys *keys)
{
	struct db_rows rows;
	enum db_result result = sql_etag_key_rows_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_etag_key_rows_row *row = sql_etag_key_rows_row(&rows, i);
		struct etag_key key;
		if (keys->n == ETAG_KEYS_MAX || !read_key(row, &key)) {
			log_error("table settings: row \"%.*s\" is no key of etags, or there are more than %d", STR_ARG(row->name), ETAG_KEYS_MAX);
			return OUTCOME_INTERNAL;
		}
		insert_sorted(keys, &key);
	}
	if (keys->n == 0 || keys->keys[0].id != ETAG_KEYS_FIRST) {
		log_error("the database has no etag_key in table settings: run `tenure-manage db init`");
		return OUTCOME_INTERNAL;
	}
	return OUTCOME_OK;
}

enum outcome etag_keys_refresh(struct registry *registry)
{
	struct etag_keys *known = registry->store->etag_keys;
	uint64_t revision = coherence_newest(registry, COHERENCE_SCHEMA);
	int64_t now_us = clock_tick_us();

	if (known != NULL && known->revision == revision && now_us - known->read_us < AGE_US)
		return OUTCOME_OK;
	struct etag_keys *keys = calloc(1, sizeof(*keys));
	if (keys == NULL)
		return OUTCOME_INTERNAL;
	keys->revision = revision;
	keys->read_us = now_us;
	enum outcome outcome = read_keys(registry, keys);
	if (outcome != OUTCOME_OK) {
		etag_keys_free(&keys);
		return outcome;
	}
	etag_keys_free(&registry->store->etag_keys);
	registry->store->etag_keys = keys;
	return OUTCOME_OK;
}

struct str etag_key_row(struct pool *pool, uint64_t id)
{
	return id == ETAG_KEYS_FIRST ? STR("etag_key") : str_printf(pool, "etag_key.%llu", (unsigned long long)id);
}

enum outcome etag_key_pin(struct registry *registry)
{
	const struct etag_keys *keys = registry->store->etag_keys;
	struct db_rows rows;

	assert(keys != NULL && keys->n > 0 && db_txn_writes(registry->db));
	uint64_t id = keys->keys[keys->n - 1].id;
	if (id == ETAG_KEYS_FIRST) // which is never retired; its row is also the lock of maintenance
		return OUTCOME_OK;
	enum db_result result = sql_etag_key_pin_run(registry->db, registry->pool,
		&(struct sql_etag_key_pin){ .name = etag_key_row(registry->pool, id) }, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n == 1 ? OUTCOME_OK : registry_fail(registry, OUTCOME_CONFLICT, "the key that made new etags was retired meanwhile");
}

struct digest_key *etag_key_newest(const struct registry *registry)
{
	const struct etag_keys *keys = registry->store->etag_keys;

	assert(keys != NULL && keys->n > 0);
	return keys->keys[keys->n - 1].key;
}

struct digest_key *etag_key_first(const struct registry *registry)
{
	const struct etag_keys *keys = registry->store->etag_keys;

	assert(keys != NULL && keys->n > 0);
	return keys->keys[0].key;
}
