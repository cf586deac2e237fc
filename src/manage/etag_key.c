// SPDX-License-Identifier: Apache-2.0
// tenure-manage etag-key list, add, retire: the keys by which etags are made (registry/tags/keys.h).
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "db/maintenance.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/registry.h"
#include "registry/tags/keys.h"
#include "registry/upkeep/doctor.h"
#include "sql/schema.h"

enum { PATIENCE_TRIES = 900 }; // for transactions in flight; each try waits a second

static int fail(struct manage *manage, struct registry_store **store, enum outcome outcome)
{
	manage_tell_outcome(manage, outcome);
	registry_store_free(store);
	return manage_exit_code(outcome);
}

static struct str role_of(const struct etag_keys *keys, size_t i)
{
	if (i + 1 == keys->n)
		return i == 0 ? STR("new tags, owners' tags") : STR("new tags");
	return i == 0 ? STR("owners' tags") : STR("");
}

static struct str time_of(struct pool *pool, uint64_t added_s)
{
	struct buf text = buf_new(pool, 32);

	if (added_s == 0)
		return STR_NONE;
	clock_add_rfc3339(&text, (int64_t)(added_s * 1000000));
	return buf_str(&text);
}

int command_etag_key_list(struct manage *manage)
{
	static const struct table_column columns[] = { { "ID", true }, { "ADDED", false }, { "MAKES", false }, { "TAGS", true } };
	bool counts = manage_option(manage, "--count") != NULL;
	uint64_t tags[ETAG_KEYS_MAX + 1] = { 0 };
	struct registry_store *store = NULL;
	struct registry registry;
	struct table table;
	enum outcome outcome = manage_begin(manage, &store, &registry);
	if (outcome == OUTCOME_OK && counts)
		outcome = doctor_count_tags(&registry, tags);
	if (outcome != OUTCOME_OK)
		return fail(manage, &store, outcome);
	const struct etag_keys *keys = store->etag_keys;
	table_init(&table, manage->pool, columns, COUNT_OF(columns) - (counts ? 0 : 1));
	for (size_t i = 0; i < keys->n; i++) {
		const struct str cells[COUNT_OF(columns)] = {
			str_printf(manage->pool, "%llu", (unsigned long long)keys->keys[i].id),
			time_of(manage->pool, keys->keys[i].added_s),
			role_of(keys, i),
			str_printf(manage->pool, "%llu", (unsigned long long)tags[i]),
		};
		table_add(&table, cells);
	}
	table_print(&table, manage_option(manage, "--json") != NULL, stdout);
	if (tags[keys->n] > 0)
		fprintf(stderr, "tenure-manage: warning: %llu tags are of none of these keys: see `tenure-manage doctor`\n",
			(unsigned long long)tags[keys->n]);
	registry_store_free(&store);
	return EX_OK;
}

int command_etag_key_add(struct manage *manage)
{
	struct registry_store *store = NULL;
	struct registry registry;
	uint8_t key[ETAG_KEY_SIZE];
	struct db_rows rows;
	enum outcome outcome = manage_begin(manage, &store, &registry);
	if (outcome != OUTCOME_OK)
		return fail(manage, &store, outcome);
	size_t n = store->etag_keys->n;
	uint64_t id = store->etag_keys->keys[n - 1].id + 1;
	registry_store_free(&store);
	if (n == ETAG_KEYS_MAX)
		return manage_fail(EX_DATAERR, "there are %d keys already: retire one that has no tags any more", ETAG_KEYS_MAX);
	digest_random(key, sizeof(key));
	const struct sql_etag_key_add in = { .name = etag_key_row(manage->pool, id), .value = str_n((const char *)key, sizeof(key)) };
	enum db_result result = sql_etag_key_add_run(manage->db, manage->pool, &in, &rows);
	digest_wipe(key, sizeof(key));
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't add the key");
	if (rows.affected == 0)
		return manage_fail(EX_TEMPFAIL, "somebody else has just added key %llu", (unsigned long long)id);
	printf("%llu\n", (unsigned long long)id);
	// If this fails the processes learn of the key ten minutes later.
	result = sql_schema_tell_run(manage->db, manage->pool, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "the key was added, but the service will know it in some minutes only");
}

// ---- retire

// Why the key can't go whatever its tags are. NULL: nothing speaks against it.
static const char *refusal(struct manage *manage, const struct etag_keys *keys, size_t i, uint64_t now_s)
{
	if (i == 0)
		return "it is the first one, which derives the tags of documents that show their owner";
	if (i + 1 == keys->n)
		return "it makes new tags: add another one first";
	uint64_t since_s = keys->keys[i + 1].added_s;
	if (now_s >= since_s + ETAG_KEYS_KNOWN_S)
		return NULL;
	struct str until = time_of(manage->pool, since_s + ETAG_KEYS_KNOWN_S);
	return str_cstr(manage->pool, str_printf(manage->pool, "a process may still use it until %.*s", STR_ARG(until)));
}

// Waits for the transactions that began while some process may have used the key.
static int await_others(struct manage *manage, uint64_t id)
{
	const struct sql_etag_key_await in = { .name = etag_key_row(manage->pool, id) };
	enum db_result result = DB_RETRY;
	struct db_rows rows;

	for (int i = 0; i < PATIENCE_TRIES && result == DB_RETRY; i++) {
		result = db_maintenance_await(manage->db);
		if (result == DB_OK)
			result = sql_etag_key_await_run(manage->db, manage->pool, &in, &rows);
	}
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "a change that began before still goes on: run this again");
}

static int remove_key(struct manage *manage, struct registry *registry, size_t i)
{
	uint64_t id = registry->store->etag_keys->keys[i].id, tags[ETAG_KEYS_MAX + 1] = { 0 };
	enum outcome outcome = doctor_count_tags(registry, tags);

	if (outcome != OUTCOME_OK) {
		manage_tell_outcome(manage, outcome);
		return manage_exit_code(outcome);
	}
	if (tags[i] > 0)
		return manage_fail(EX_DATAERR, "key %llu stays: resources and tenants with a tag of it: %llu; they get another one when they change",
			(unsigned long long)id, (unsigned long long)tags[i]);
	enum db_result result = sql_etag_key_remove_run(manage->db, manage->pool, &(struct sql_etag_key_remove){ .name =
		etag_key_row(manage->pool, id) }, NULL);
	if (result == DB_OK)
		result = sql_schema_tell_run(manage->db, manage->pool, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't remove the key");
}

int command_etag_key_retire(struct manage *manage)
{
	struct registry_store *store = NULL;
	struct registry registry;
	int64_t now_us = 0;
	uint64_t id;
	size_t i = 0;
	if (!str_to_u64(str_c(manage->arguments[0]), &id))
		return manage_fail(EX_USAGE, "\"%s\" is no id of a key: `tenure-manage etag-key list` prints them", manage->arguments[0]);
	enum outcome outcome = manage_begin(manage, &store, &registry);
	if (outcome != OUTCOME_OK)
		return fail(manage, &store, outcome);
	const struct etag_keys *keys = store->etag_keys;
	while (i < keys->n && keys->keys[i].id != id)
		i++;
	outcome = registry_database_now(&registry, &now_us);
	if (outcome != OUTCOME_OK)
		return fail(manage, &store, outcome);
	int code = EX_OK;
	if (i == keys->n)
		code = manage_fail(EX_NOINPUT, "there is no key %llu", (unsigned long long)id);
	const char *why = code == EX_OK ? refusal(manage, keys, i, (uint64_t)now_us / 1000000) : NULL;
	if (why != NULL)
		code = manage_fail(EX_DATAERR, "key %llu stays: %s", (unsigned long long)id, why);
	if (code == EX_OK)
		code = await_others(manage, id);
	if (code == EX_OK)
		code = remove_key(manage, &registry, i);
	registry_store_free(&store);
	return code;
}
