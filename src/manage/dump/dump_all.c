// SPDX-License-Identifier: Apache-2.0
// tenure-manage dump --all: each table's rows as they are, with their ids, and the ids that come next.
#include "base/base.h"

#include "manage/dump/dump_writer.h"
#include "registry/registry.h"
#include "repr/json/doc.h"
#include "sql/dump_all.h"

#define PART_OF_TABLE(name) { #name, sql_dump_all_##name##_call(pool) },

// The statements name all columns that the schema of this release has, no others.
static bool is_of_release(struct dump *dump)
{
	uint64_t version = 0;
	enum outcome outcome = registry_schema_version(dump->manage->db, dump->manage->pool, &version);

	dump->code = EX_OK;
	if (outcome != OUTCOME_OK)
		dump->code = manage_fail(manage_exit_code(outcome), "can't read the version of the schema");
	else if (version != REGISTRY_SCHEMA_VERSION)
		dump->code = manage_fail(EX_DATAERR, "the schema is of version %llu, and this program dumps version %d: see `tenure-manage db status`",
			(unsigned long long)version, REGISTRY_SCHEMA_VERSION);
	return dump->code == EX_OK;
}

enum db_verdict dump_all(void *arg)
{
	struct dump *dump = arg;
	struct pool *pool = dump->manage->pool;
	struct dump_part parts[DUMP_TABLES__N] = { DUMP_TABLES(PART_OF_TABLE) };
	const struct dump_part next = { "next", sql_dump_all_next_ids_call(pool) };
	const size_t tokens = DUMP_TABLE_tokens, behind = tokens + 1;

	if (!is_of_release(dump) || !dump_begin(dump))
		return DB_ROLLBACK;
	if (!dump_put_parts(dump, parts, dump->without_tokens ? tokens : behind) ||
		!dump_put_parts(dump, parts + behind, COUNT_OF(parts) - behind) || !dump_put_parts(dump, &next, 1))
		return DB_ROLLBACK;
	struct doc *end = doc_new_object(pool);
	doc_set_u64(pool, end, "lines", dump->lines.n + 1);
	dump_put_doc(dump, "end", end);
	return DB_COMMIT;
}
