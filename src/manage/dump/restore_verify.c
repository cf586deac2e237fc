// SPDX-License-Identifier: Apache-2.0
// Restoring a tenant: checks what the transaction wrote against the types, tiers and limits here, as the transaction sees them.
#include "base/base.h"

#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "registry/crd/limits.h"
#include "registry/registry.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

// Each request for a custom type of the tenant reads all its definitions, so there may not be more of them than such a request
// has memory for.
static bool verify_definitions(struct restore *restore)
{
	struct registry *registry = restore->registry;
	const struct sql_restore_definitions in = { .tenant_id = restore->tenant_id, .type_id = type_definitions(registry)->id };
	struct db_rows rows;
	enum db_result result = sql_restore_definitions_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return restore_fail(restore, result);
	const struct sql_restore_definitions_row *row = sql_restore_definitions_row(&rows, 0);
	struct str excess = definitions_excess(registry, row->n, row->bytes);
	if (excess.p != NULL)
		restore_tell_conflict(restore, excess);
	return true;
}

bool restore_verify_counts(struct restore *restore)
{
	struct registry *registry = restore->registry;
	const struct sql_restore_over_quota in = { .tenant_id = restore->tenant_id };
	struct db_rows rows;
	enum db_result result = sql_restore_counts_run(registry->db, registry->pool, &(struct sql_restore_counts){ .tenant_id = restore->tenant_id }, NULL);

	if (result != DB_OK)
		return restore_fail(restore, result);
	static_assert(sizeof(struct sql_restore_over_quota_row) == sizeof(struct str), "a row is one text");
	return restore_tell_conflicts(restore, sql_restore_over_quota_run(registry->db, registry->pool, &in, &rows), &rows) && verify_definitions(restore);
}

// Checks a resource that was written against its type here.
static bool verify_resource(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines, *own = registry->pool;
	enum outcome failed = OUTCOME_OK;
	struct resource resource;
	struct str reason = STR_NONE;
	bool fits = false;

	registry->pool = pool;
	if (record_resource(registry, doc, &resource)) {
		resource.tenant = restore->tenant;
		resource.tenant_id = restore->tenant_id;
		fits = record_fits(registry, doc, &resource, !restore->options->keep_invalid, &reason, &failed);
	}
	if (reason.p != NULL) {
		struct str plural = record_text(doc, "plural");
		restore_tell_conflict(restore, str_printf(pool, "line %llu, %.*s %.*s: %.*s",
			(unsigned long long)restore->reader.line, STR_ARG(plural),
			STR_ARG(resource.name), STR_ARG(reason)));
	}
	*registry->problem = (struct problem){ .n_members = 0 };
	registry->pool = own;
	return fits || reason.p != NULL || restore_fail_by(restore, failed);
}

bool restore_verify_record(struct restore *restore, struct doc *doc, struct str object)
{
	if (restore->reader.kind != KIND_RESOURCE)
		return true;
	if (!verify_resource(restore, doc))
		return false;
	restore_add_resource(restore, doc, object.n);
	return true;
}

bool restore_verify_batch(struct restore *restore, struct str rows)
{
	struct pool *pool = restore->lines;
	struct db_call calls[] = {
		sql_restore_wrong_references_call(pool, &(struct sql_restore_wrong_references){ .tenant_id = restore->tenant_id, .rows = rows }),
		sql_restore_wrong_parts_call(pool, &(struct sql_restore_wrong_parts){ .rows = rows }),
	};
	enum db_result result = db_run_batch(restore->registry->db, pool, calls, COUNT_OF(calls));

	static_assert(sizeof(struct sql_restore_wrong_references_row) == sizeof(struct str) &&
		sizeof(struct sql_restore_wrong_parts_row) == sizeof(struct str), "a row is one text");
	return restore_tell_conflicts(restore, result, &calls[0].rows) && restore_tell_conflicts(restore, result, &calls[1].rows);
}
