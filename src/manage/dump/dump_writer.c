// SPDX-License-Identifier: Apache-2.0
// Writing a dump's first line, and its records as the database answers them.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "manage/dump/dump_writer.h"
#include "registry/registry.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

void dump_put(struct dump *dump, const char *kind, struct str record)
{
	if (record.p == NULL && dump->code == EX_OK)
		dump->code = manage_fail(EX_DATAERR, "a row is longer than the database may send: raise its max_allowed_packet");
	errno = 0;
	if (dump->error == 0 && dump->code == EX_OK && !dump_lines_put(&dump->lines, kind, record))
		dump->error = errno != 0 ? errno : EIO;
}

void dump_put_doc(struct dump *dump, const char *kind, struct doc *doc)
{
	struct buf text = buf_new(dump->manage->pool, 256);

	doc_write_json(doc, &text);
	dump_put(dump, kind, buf_str(&text));
}

// A row of a statement that answers one text.
static void take_record(void *arg, const struct db_rows *row, struct pool *pool)
{
	struct dump *dump = arg;

	static_assert(sizeof(struct sql_dump_types_row) == sizeof(struct str), "a row is one text");
	assert(row->row_size == sizeof(struct str));
	UNUSED(pool);
	dump_put(dump, dump->kind, *(const struct str *)row->rows);
}

// Returns the position at which the next byte will be written, which is the end of a regular file. -1: it is anywhere else, so
// what is written there can't be taken back.
static off_t find_beginning(FILE *file)
{
	int flags = fcntl(fileno(file), F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return (flags & O_APPEND) != 0 || ftello(file) == st.st_size ? st.st_size : -1;
}

// Takes back what was written to the file since dump->beginning.
static bool take_back(struct dump *dump)
{
	return dump->beginning >= 0 && fseeko(dump->file, dump->beginning, SEEK_SET) == 0 &&
		ftruncate(fileno(dump->file), dump->beginning) == 0;
}

bool dump_begin(struct dump *dump)
{
	struct pool *pool = dump->manage->pool;
	struct doc *doc = doc_new_object(pool);
	struct buf at = buf_new(pool, 32);

	dump->code = EX_OK;
	if (dump->lines.n == 0) {
		dump->beginning = find_beginning(dump->file);
	} else if (!take_back(dump)) {
		dump->code = manage_fail(EX_TEMPFAIL, "the connection to the database was lost, and the output can't be begun anew");
		return false;
	}
	dump->lines = dump_lines_begin(dump->file);
	clock_add_rfc3339(&at, clock_now_us());
	doc_set_u64(pool, doc, "format", DUMP_FORMAT);
	doc_set_u64(pool, doc, "schema", REGISTRY_SCHEMA_VERSION);
	doc_set_str(pool, doc, "holds", dump->tenant.p != NULL ? STR("tenant") : STR("installation"));
	if (dump->tenant.p != NULL)
		doc_set_str(pool, doc, "tenant", dump->tenant);
	doc_set_str(pool, doc, "at", buf_str(&at));
	doc_set_str(pool, doc, "program", STR(TENURE_VERSION));
	dump_put_doc(dump, "dump", doc);
	return true;
}

bool dump_put_parts(struct dump *dump, const struct dump_part *parts, size_t n)
{
	struct manage *manage = dump->manage;

	for (size_t i = 0; i < n && dump->error == 0 && dump->code == EX_OK; i++) {
		struct db_call call = parts[i].call;

		dump->kind = parts[i].kind;
		call.take = take_record;
		call.arg = dump;
		if (db_run_call(manage->db, manage->pool, &call) != DB_OK)
			return false;
	}
	return dump->error == 0 && dump->code == EX_OK;
}
