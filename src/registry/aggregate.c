// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/aggregate.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/provider_internal.h"

// Uuids as a table j with the 16 bytes of each, of one parameter: a JSON array of strings of 32 hex digits.
#define UUIDS "JSON_TABLE(?, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) j"

static const struct db_query q_list = {
	"SELECT aggregate FROM provider_aggregates WHERE resource_id = " OF_PROVIDER " ORDER BY aggregate", "bu", "b"
};
static const struct db_query q_held = {
	"SELECT aggregate FROM provider_aggregates WHERE resource_id = ? ORDER BY aggregate", "u", "b"
};
static const struct db_query q_join = {
	"INSERT INTO provider_aggregates (resource_id, aggregate) SELECT ?, UNHEX(j.hex) FROM " UUIDS, "us", ""
};
static const struct db_query q_leave = { "DELETE FROM provider_aggregates WHERE resource_id = ?", "u", "" };

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

static struct uuid *from_rows(struct pool *pool, const struct db_rows *rows)
{
	struct uuid *list = POOL_ARRAY(pool, struct uuid, rows->n);

	for (size_t i = 0; i < rows->n; i++)
		uuid_from_bytes(db_at(rows, i, 0)->s, &list[i]);
	return list;
}

enum outcome aggregate_list(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct uuid **list, size_t *n)
{
	struct db_rows rows;
	enum outcome outcome = provider_get_with(registry, uid, provider, &q_list, &rows);

	if (outcome != OUTCOME_OK)
		return outcome;
	*list = from_rows(registry->pool, &rows);
	*n = rows.n;
	return OUTCOME_OK;
}

// Sorted, each once.
static size_t settle(struct uuid *list, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), by_bytes);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || !uuid_eq(list[kept - 1], list[i]))
			list[kept++] = list[i];
	}
	return kept;
}

static struct str as_json(struct pool *pool, const struct uuid *list, size_t n)
{
	struct buf json = buf_new(pool, 35 * n + 2);

	buf_addc(&json, '[');
	for (size_t i = 0; i < n; i++) {
		buf_add(&json, i > 0 ? STR(",\"") : STR("\""));
		buf_add_hex(&json, list[i].b, sizeof(list[i].b));
		buf_addc(&json, '"');
	}
	buf_addc(&json, ']');
	return buf_str(&json);
}

enum outcome aggregate_set(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	bool raises, const struct uuid *list, size_t n, struct provider *provider)
{
	struct pool *pool = registry->pool;
	struct uuid *wanted = POOL_ARRAY(pool, struct uuid, n);
	struct db_call calls[PROVIDER_TOUCHES + 2];
	struct db_rows rows;
	enum outcome outcome = provider_hold(registry, uid, guard, PROVIDER_CHANGED, provider, &q_held, &rows);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (n > 0)
		memcpy(wanted, list, n * sizeof(*list));
	n = settle(wanted, n);
	bool same = n == rows.n && (n == 0 || memcmp(wanted, from_rows(pool, &rows), n * sizeof(*wanted)) == 0);
	if (same && !raises)
		return OUTCOME_OK;
	size_t n_calls = provider_touch(registry, provider, "/aggregates", raises, calls);
	const struct db_value id = db_u(provider->resource.id);
	if (!same && rows.n > 0)
		calls[n_calls++] = (struct db_call){ .query = &q_leave, .in = CALL_VALUES(pool, id) };
	if (!same && n > 0)
		calls[n_calls++] =
			(struct db_call){ .query = &q_join, .in = CALL_VALUES(pool, id, db_s(as_json(pool, wanted, n))) };
	return provider_run(registry, calls, n_calls);
}
