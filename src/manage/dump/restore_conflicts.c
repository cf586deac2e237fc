// SPDX-License-Identifier: Apache-2.0
// Restoring a tenant: what in the database is in its way, such as names and uids that are taken.
#include "base/base.h"

#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "registry/registry.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

static bool find_conflicts_of_tenant(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct db_rows rows;
	struct uuid uid;

	if (!record_uid(doc, &uid))
		return dump_reader_refuse(&restore->reader, "was changed while the file was read");
	const struct sql_restore_taken_tenant in = { .name = restore_name(restore, doc), .uid = uuid_bytes(&uid), .tier = restore_tier(restore, doc) };
	return restore_tell_conflicts(restore, sql_restore_taken_tenant_run(registry->db, restore->lines, &in, &rows), &rows);
}

bool restore_find_conflicts_of_batch(struct restore *restore, struct str batch)
{
	struct db *db = restore->registry->db;
	struct pool *pool = restore->lines;
	struct db_rows rows = { .n = 0 };
	enum db_result result = DB_OK;

	switch (restore->reader.kind) {
	case KIND_TYPE:
		result = sql_restore_taken_types_run(db, pool, &(struct sql_restore_taken_types){ .rows = batch }, &rows);
		break;
	case KIND_TRAIT:
		result = sql_restore_taken_traits_run(db, pool, &(struct sql_restore_taken_traits){ .rows = batch }, &rows);
		break;
	case KIND_CLASS:
		result = sql_restore_taken_classes_run(db, pool, &(struct sql_restore_taken_classes){ .rows = batch }, &rows);
		break;
	case KIND_RESOURCE:
		result = sql_restore_taken_resources_run(db, pool, &(struct sql_restore_taken_resources){ .rows = batch }, &rows);
		break;
	case KIND_CONSUMER:
		result = sql_restore_taken_consumers_run(db, pool, &(struct sql_restore_taken_consumers){ .rows = batch }, &rows);
		break;
	default:
		break;
	}
	return restore_tell_conflicts(restore, result, &rows);
}

bool restore_find_conflicts_of_record(struct restore *restore, const struct doc *doc, struct str object)
{
	if (restore->reader.kind == KIND_TENANT)
		return find_conflicts_of_tenant(restore, doc);
	dump_reader_add(&restore->reader, object);
	return true;
}
