// SPDX-License-Identifier: Apache-2.0
// Reads the history of one resource. Writers of its changes hold the lock of its row, so their ids rise in the order of their
// commits, and a reader that goes on behind an id misses none.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/history.h"
#include "sql/histories.h"

// Bytes 8 to 15 are the change's id, without the two bits of the variant; the others are the request's id, with version 8.
static struct uuid uuid_of(const struct uuid *request, uint64_t id)
{
	struct uuid uuid = *request;

	for (size_t i = 0; i < 8; i++)
		uuid.b[8 + i] = (uint8_t)(id >> (56 - 8 * i));
	uuid.b[6] = (uint8_t)((uuid.b[6] & 0x0f) | 0x80);
	uuid.b[8] = (uint8_t)((uuid.b[8] & 0x3f) | 0x80);
	return uuid;
}

static uint64_t change_id_of(const struct uuid *uuid)
{
	uint64_t id = uuid->b[8] & 0x3f;

	for (size_t i = 9; i < 16; i++)
		id = id << 8 | uuid->b[i];
	return id;
}

static void read_entry(uint64_t id, struct str request_id, struct history_entry *entry)
{
	struct uuid request = { 0 };

	uuid_from_bytes(request_id, &request);
	entry->uuid = uuid_of(&request, id);
}

enum outcome history_find(struct registry *registry, const struct resource *resource, bool all, const struct uuid *uuid,
	struct history_entry *entry)
{
	assert(resource->id != 0 && resource->tenant_id != 0);
	const struct sql_history_entry in = {
		.resource_id = resource->id,
		.tenant_id = resource->tenant_id,
		.tenant_id_is_null = all,
		.id = change_id_of(uuid),
	};
	struct db_rows rows;
	enum db_result result = sql_history_entry_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_NOT_FOUND;
	const struct sql_history_entry_row *row = sql_history_entry_row(&rows, 0);
	*entry = (struct history_entry){ .at_us = row->at, .actor = row->actor, .verb = row->verb, .fields = row->fields };
	read_entry(row->id, row->request_id, entry);
	return uuid_eq(entry->uuid, *uuid) ? OUTCOME_OK : OUTCOME_NOT_FOUND;
}

enum outcome history_read(struct registry *registry, const struct history_query *query, struct history_entry **entries, size_t *n,
	bool *more)
{
	struct sql_history_page in = {
		.resource_id = query->resource->id,
		.tenant_id = query->resource->tenant_id,
		.tenant_id_is_null = query->all,
		.limit = query->limit + 1,
	};
	struct history_entry marker;
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;

	assert(query->resource->id != 0 && query->resource->tenant_id != 0);
	assert(query->limit > 0);
	if (query->marker != NULL) {
		outcome = history_find(registry, query->resource, query->all, query->marker, &marker);
		in.after = change_id_of(query->marker);
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = sql_history_page_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > query->limit;
	*n = *more ? (size_t)query->limit : rows.n;
	*entries = POOL_ARRAY(registry->pool, struct history_entry, *n);
	for (size_t i = 0; i < *n; i++) {
		const struct sql_history_page_row *row = sql_history_page_row(&rows, i);
		(*entries)[i] =
			(struct history_entry){ .at_us = row->at, .actor = row->actor, .verb = row->verb, .fields = row->fields };
		read_entry(row->id, row->request_id, &(*entries)[i]);
	}
	return OUTCOME_OK;
}
