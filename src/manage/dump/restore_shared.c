// SPDX-License-Identifier: Apache-2.0
// Restoring a tenant: what the passes share.
#include "base/base.h"

#include "base/buf.h"
#include "manage/core/table.h"
#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

enum { CONFLICTS_PRINTED = 10000 };

bool restore_fail(struct restore *restore, enum db_result result)
{
	if (result == DB_RETRY || result == DB_LOST || result == DB_FULL) // the transaction may run again
		return false;
	if (result == DB_DUPLICATE)
		restore->code = manage_fail(EX_DATAERR, "somebody made something of the same name or uid meanwhile: run it again to see what");
	else if (result == DB_REFUSED)
		dump_reader_refuse_batch(&restore->reader, "has a value that can't be stored: %s", db_error(restore->manage->db));
	else
		restore->code = manage_db_fail(restore->manage, result, "can't restore the tenant");
	return false;
}

bool restore_fail_by(struct restore *restore, enum outcome outcome)
{
	return restore_fail(restore, outcome == OUTCOME_UNAVAILABLE ? DB_LOST : DB_ERROR);
}

struct str restore_name(const struct restore *restore, const struct doc *tenant)
{
	return restore->options->name.p != NULL ? restore->options->name : record_text(tenant, "name");
}

struct str restore_tier(const struct restore *restore, const struct doc *tenant)
{
	return restore->options->tier.p != NULL ? restore->options->tier : record_text(tenant, "tier");
}

void restore_tell_conflict(struct restore *restore, struct str what)
{
	if (restore->n_conflicts < CONFLICTS_PRINTED) {
		struct str shown = table_printable(restore->lines, what);
		buf_add(&restore->conflicts, shown);
		buf_addc(&restore->conflicts, '\n');
	}
	restore->n_conflicts++;
}

bool restore_tell_conflicts(struct restore *restore, enum db_result result, const struct db_rows *rows)
{
	if (result != DB_OK)
		return restore_fail(restore, result);
	static_assert(sizeof(struct sql_restore_taken_types_row) == sizeof(struct str), "a row is one text");
	for (size_t i = 0; i < rows->n; i++)
		restore_tell_conflict(restore, ((const struct str *)rows->rows)[i]);
	return true;
}

int restore_print_conflicts(const struct restore *restore)
{
	assert(restore->n_conflicts > 0);
	(void)fwrite(restore->conflicts.p, 1, restore->conflicts.n, stderr);
	if (restore->n_conflicts > CONFLICTS_PRINTED)
		fprintf(stderr, "and %llu more\n", (unsigned long long)(restore->n_conflicts - CONFLICTS_PRINTED));
	return manage_fail(EX_DATAERR, "nothing was restored: %llu conflict%s", COUNT_ARG(restore->n_conflicts));
}

void restore_add_resource(struct restore *restore, struct doc *doc, size_t n)
{
	struct buf text = buf_new(restore->lines, n + 256);

	doc_set_u64(restore->lines, doc, "line", restore->reader.line);
	doc_write_json(doc, &text);
	dump_reader_add(&restore->reader, buf_str(&text));
}
