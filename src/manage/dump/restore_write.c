// SPDX-License-Identifier: Apache-2.0
// Restoring a tenant: writes it, record by record, or many of one kind at once.
#include "base/base.h"

#include "base/buf.h"
#include "db/list.h"
#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/placement/provider.h"
#include "registry/registry.h"
#include "registry/tags/etag.h"
#include "repr/json/doc.h"
#include "sql/dump.h"
#include "sql/tenants.h"
#include "sql/transfer.h"

static bool write_tenant(struct restore *restore, struct doc *doc)
{
	struct registry *registry = restore->registry;
	const struct doc *required;
	struct tenant tenant = {
		.name = restore_name(restore, doc),
		.tier = restore_tier(restore, doc),
		.metadata = record_text(doc, "metadata"),
		.object = record_text(doc, "object"),
		.etag_required = doc_get(doc, STR("etag_required"), &required) && record_number(doc, "etag_required") != 0,
		.revision = record_number(doc, "revision"),
	};
	struct buf record = buf_new(restore->lines, 1024);

	(void)record_uid(doc, &tenant.uid);
	etag_of_tenant(registry, &tenant);
	doc_set_str(restore->lines, doc, "tier", tenant.tier);
	doc_write_json(doc, &record);
	const struct uuid other = uuid_new();
	const struct sql_restore_free_uid former = { .uid = uuid_bytes(&tenant.uid), .other = uuid_bytes(&other) };
	const struct sql_restore_tenant in = { .name = tenant.name, .etag = str_n((const char *)tenant.etag, sizeof(tenant.etag)), .record = buf_str(&record) };
	struct db_call inserts[] = { sql_restore_free_uid_call(restore->lines, &former), sql_restore_tenant_call(restore->lines, &in) };
	enum db_result result = db_run_batch(registry->db, restore->lines, inserts, COUNT_OF(inserts));
	if (result != DB_OK)
		return restore_fail(restore, result);
	tenant.id = restore->tenant_id = inserts[1].rows.insert_id;
	restore->tenant = str_dup(registry->pool, tenant.name);
	struct db_call calls[] = {
		change_of_tenant(registry, "created", &tenant, NULL, tenant.etag),
		sql_tenant_number_call(registry->pool, &(struct sql_tenant_number){ .id = tenant.id }),
	};
	result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK || restore_fail(restore, result);
}

// Adds what the keys of this installation make of it: the etag and the lanes of state tags.
static void complete_resource(struct restore *restore, struct doc *doc)
{
	static const char *const names[] = { "h0", "h1", "h2", "h3" };
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines, *own = registry->pool;
	const struct type unknown = { .group = record_text(doc, "group"), .plural = record_text(doc, "plural"),
		.namespaced = record_number(doc, "namespaced") != 0 };
	struct buf etag = buf_new(pool, 2 * sizeof(((struct resource *)NULL)->stored_etag));
	struct resource resource;
	uint64_t lanes[4];

	registry->pool = pool;
	if (!record_resource(registry, doc, &resource))
		resource.type = &unknown;
	etag_of_resource(registry, &resource);
	etag_state_lanes(registry, resource.type, &resource.uid, lanes);
	registry->pool = own;
	buf_add_hex(&etag, resource.stored_etag, sizeof(resource.stored_etag));
	doc_set_str(pool, doc, "etag", buf_str(&etag));
	for (size_t i = 0; i < COUNT_OF(lanes); i++)
		doc_set_u64(pool, doc, names[i], lanes[i]);
}

static bool write_webhook(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct pool *own = registry->pool;
	const struct webhook_content content = { .url = record_text(doc, "url"), .description = record_text(doc, "description"), .filters = record_text(doc, "filters") };
	struct str name = record_text(doc, "name");

	registry->pool = restore->lines;
	enum outcome outcome = webhook_bring(registry, restore->tenant_id, name, &content);
	bool misfit = outcome == OUTCOME_BAD_DOCUMENT || outcome == OUTCOME_CONFLICT;
	if (misfit)
		restore_tell_conflict(restore, str_printf(restore->lines, "line %llu, webhook %.*s: %.*s", (unsigned long long)restore->reader.line, STR_ARG(name),
			STR_ARG(registry->problem->detail)));
	*registry->problem = (struct problem){ .n_members = 0 };
	registry->pool = own;
	return outcome == OUTCOME_CREATED || misfit || restore_fail_by(restore, outcome);
}

bool restore_write_record(struct restore *restore, struct doc *doc, struct str object)
{
	if (restore->reader.kind == KIND_TENANT)
		return write_tenant(restore, doc);
	if (restore->reader.kind == KIND_WEBHOOK)
		return write_webhook(restore, doc);
	if (restore->reader.kind == KIND_RESOURCE) {
		complete_resource(restore, doc);
		restore_add_resource(restore, doc, object.n);
	} else {
		dump_reader_add(&restore->reader, object);
	}
	return true;
}

// Types, traits and classes, which all tenants share: those that are here already stay as they are.
static bool write_shared(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct db *db = registry->db;
	enum db_result result;

	if (restore->reader.kind == KIND_TYPE)
		result = sql_restore_types_run(db, restore->lines, &(struct sql_restore_types){ .rows = rows }, NULL);
	else if (restore->reader.kind == KIND_TRAIT)
		result = sql_restore_traits_run(db, restore->lines, &(struct sql_restore_traits){ .rows = rows, .now = registry->stamp_us }, NULL);
	else
		result = sql_restore_classes_run(db, restore->lines, &(struct sql_restore_classes){ .rows = rows, .now = registry->stamp_us }, NULL);
	return result == DB_OK || restore_fail(restore, result);
}

// The ids of the batch's resources as a JSON array.
static bool find_ids(struct restore *restore, struct str batch, struct str *ids, size_t *n)
{
	struct db_list list = db_list_new(restore->lines, 16 * RESTORE_BATCH);
	struct db_rows rows;
	enum db_result result = sql_restore_ids_run(restore->registry->db, restore->lines, &(struct sql_restore_ids){ .rows = batch }, &rows);

	if (result != DB_OK)
		return restore_fail(restore, result);
	for (size_t i = 0; i < rows.n; i++)
		db_list_add_u64(&list, sql_restore_ids_row(&rows, i)->id);
	*ids = db_list_end(&list);
	*n = rows.n;
	return true;
}

static bool write_resources(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines;
	const struct sql_restore_resources in = { .tenant_id = restore->tenant_id, .rows = rows };
	struct db_rows inserted;
	struct str ids;
	size_t n = 0;
	enum db_result result = sql_restore_resources_run(registry->db, pool, &in, &inserted);

	if (result != DB_OK)
		return restore_fail(restore, result);
	if (!find_ids(restore, rows, &ids, &n))
		return false;
	if (n != restore->reader.rows.n)
		return dump_reader_refuse_batch(&restore->reader, "is of a type that is not here");
	struct pool *own = registry->pool;
	registry->pool = pool;
	struct db_call calls[] = {
		changes_of_creation(registry, ids),
		sql_load_number_call(pool, &(struct sql_load_number){ .ids = ids }),
		sql_restore_keys_call(pool, &(struct sql_restore_keys){ .rows = rows }),
		sql_restore_resource_traits_call(pool, &(struct sql_restore_resource_traits){ .ids = ids }),
		sql_restore_providers_call(pool, &(struct sql_restore_providers){ .rows = rows }),
		sql_restore_inventories_call(pool, &(struct sql_restore_inventories){ .rows = rows }),
		sql_restore_aggregates_call(pool, &(struct sql_restore_aggregates){ .rows = rows }),
	};
	result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	registry->pool = own;
	for (size_t i = 0; i < COUNT_OF(calls) && result == DB_OK; i++)
		result = calls[i].result; // a duplicate is none of the transaction's failures
	restore->n_resources += n;
	return result == DB_OK || restore_fail(restore, result);
}

// Consumers or allocations.
static bool write_allocated(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines;
	struct db_rows written;
	enum db_result result;

	if (restore->reader.kind == KIND_ALLOCATION) {
		result = sql_restore_allocations_run(registry->db, pool,
			&(struct sql_restore_allocations){ .rows = rows, .type_id = provider_type(registry)->id }, &written);
	} else {
		result = sql_restore_consumer_types_run(registry->db, pool, &(struct sql_restore_consumer_types){ .rows = rows }, NULL);
		if (result == DB_OK)
			result = sql_restore_consumers_run(registry->db, pool, &(struct sql_restore_consumers){ .rows = rows }, &written);
	}
	if (result != DB_OK)
		return restore_fail(restore, result);
	return written.affected == restore->reader.rows.n || dump_reader_refuse_batch(&restore->reader, "is about something that the file does not have");
}

bool restore_write_batch(struct restore *restore, struct str rows)
{
	switch (restore->reader.kind) {
	case KIND_RESOURCE:
		return write_resources(restore, rows);
	case KIND_CONSUMER:
	case KIND_ALLOCATION:
		return write_allocated(restore, rows);
	default:
		return write_shared(restore, rows);
	}
}
