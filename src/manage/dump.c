// SPDX-License-Identifier: Apache-2.0
// tenure-manage dump: writes a tenant into a file, from one snapshot of the database.
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "manage/commands.h"
#include "manage/dump_line.h"
#include "registry/registry.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

struct dump {
	struct manage *manage;
	struct str tenant;
	FILE *file;
	struct dump_lines lines;
	const char *kind; // of the records that come
	int code;         // EX_OK, or why the dump is not whole
	int error;        // errno of a write that failed; 0: none did
};

static void put(struct dump *dump, const char *kind, struct str object)
{
	errno = 0;
	if (dump->error == 0 && !dump_lines_put(&dump->lines, kind, object))
		dump->error = errno != 0 ? errno : EIO;
}

static void put_doc(struct dump *dump, const char *kind, struct doc *doc)
{
	struct buf text = buf_new(dump->manage->pool, 256);

	doc_write_json(doc, &text);
	put(dump, kind, buf_str(&text));
}

// A row of one of the statements below, all of which answer one text.
static void take_record(void *arg, const struct db_rows *row, struct pool *pool)
{
	struct dump *dump = arg;

	static_assert(sizeof(struct sql_dump_types_row) == sizeof(struct str) && sizeof(struct sql_dump_resources_row) == sizeof(struct str) &&
		sizeof(struct sql_dump_allocations_row) == sizeof(struct str), "a row is one text");
	UNUSED(pool);
	put(dump, dump->kind, *(const struct str *)row->rows);
}

static void put_begin(struct dump *dump)
{
	struct pool *pool = dump->manage->pool;
	struct doc *doc = doc_new_object(pool);
	struct buf at = buf_new(pool, 32);

	clock_add_rfc3339(&at, clock_now_us());
	doc_set_u64(pool, doc, "format", DUMP_FORMAT);
	doc_set_u64(pool, doc, "schema", REGISTRY_SCHEMA_VERSION);
	doc_set_str(pool, doc, "holds", STR("tenant"));
	doc_set_str(pool, doc, "tenant", dump->tenant);
	doc_set_str(pool, doc, "at", buf_str(&at));
	doc_set_str(pool, doc, "program", STR(TENURE_VERSION));
	put_doc(dump, "dump", doc);
}

static void put_end(struct dump *dump)
{
	struct doc *doc = doc_new_object(dump->manage->pool);

	doc_set_u64(dump->manage->pool, doc, "lines", dump->lines.n + 1);
	put_doc(dump, "end", doc);
}

static bool put_records(struct dump *dump, uint64_t id)
{
	struct manage *manage = dump->manage;
	struct pool *pool = manage->pool;
	const struct { const char *kind; struct db_call call; } parts[] = {
		{ "type", sql_dump_types_call(pool, &(struct sql_dump_types){ .id = id }) },
		{ "trait", sql_dump_traits_call(pool, &(struct sql_dump_traits){ .id = id }) },
		{ "class", sql_dump_classes_call(pool, &(struct sql_dump_classes){ .id = id }) },
		{ "resource", sql_dump_resources_call(pool, &(struct sql_dump_resources){ .id = id }) },
		{ "consumer", sql_dump_consumers_call(pool, &(struct sql_dump_consumers){ .id = id }) },
		{ "allocation", sql_dump_allocations_call(pool, &(struct sql_dump_allocations){ .id = id }) },
	};

	for (size_t i = 0; i < COUNT_OF(parts) && dump->error == 0; i++) {
		struct db_call call = parts[i].call;

		dump->kind = parts[i].kind;
		call.take = take_record;
		call.arg = dump;
		enum db_result result = db_run_call(manage->db, pool, &call);
		if (result != DB_OK) {
			dump->code = manage_db_fail(manage, result, "can't read the tenant");
			return false;
		}
	}
	return dump->error == 0;
}

// In the snapshot. It may run again after a lost connection, so it begins the file anew.
static enum db_verdict write_tenant(void *arg)
{
	struct dump *dump = arg;
	struct manage *manage = dump->manage;
	struct db_rows rows;
	enum db_result result = sql_dump_tenant_run(manage->db, manage->pool, &(struct sql_dump_tenant){ .name = dump->tenant }, &rows);

	if (result != DB_OK) {
		dump->code = manage_db_fail(manage, result, "can't read the tenant");
		return DB_ROLLBACK;
	}
	const struct sql_dump_tenant_row *row = rows.n > 0 ? sql_dump_tenant_row(&rows, 0) : NULL;
	dump->code = EX_OK;
	if (row == NULL)
		dump->code = manage_fail(EX_NOINPUT, "there is no tenant \"%.*s\", or it is deleted", STR_ARG(dump->tenant));
	else if (row->emptied > 0)
		dump->code = manage_fail(EX_TEMPFAIL, "a namespace of \"%.*s\" is being deleted in the background: dump it afterwards", STR_ARG(dump->tenant));
	if (dump->code != EX_OK)
		return DB_ROLLBACK;
	if (dump->lines.n > 0 && (fseeko(dump->file, 0, SEEK_SET) != 0 || ftruncate(fileno(dump->file), 0) != 0)) {
		dump->code = manage_fail(EX_TEMPFAIL, "the connection to the database was lost, and the output can't be begun anew");
		return DB_ROLLBACK;
	}
	dump->lines = dump_lines_begin(dump->file);
	put_begin(dump);
	put(dump, "tenant", row->record);
	if (put_records(dump, row->id))
		put_end(dump);
	return DB_COMMIT;
}

static int write_file(struct dump *dump, const char *path)
{
	enum db_result result = db_txn_run(dump->manage->db, DB_SNAPSHOT, NULL, write_tenant, dump);

	if (dump->code == EX_OK && result != DB_OK)
		dump->code = manage_db_fail(dump->manage, result, "can't read the tenant");
	if (dump->code == EX_OK && dump->error == 0 && (fflush(dump->file) != 0 || (dump->file != stdout && fsync(fileno(dump->file)) != 0)))
		dump->error = errno;
	if (dump->code == EX_OK && dump->error != 0)
		dump->code = manage_fail(EX_IOERR, "can't write %s: %s", path, strerror(dump->error));
	return dump->code;
}

int command_dump(struct manage *manage)
{
	const char *path = manage->arguments[0], *tenant = manage_option(manage, "--tenant");
	struct dump dump = { .manage = manage, .tenant = str_c(tenant), .file = stdout };
	char *draft = NULL;

	if (tenant == NULL)
		return manage_fail(EX_USAGE, "dump needs --tenant NAME; mariadb-dump saves the whole registry");
	if (strcmp(path, "-") == 0)
		return write_file(&dump, "standard output");
	// A file of that name is always a whole dump.
	if (asprintf(&draft, "%s.new", path) < 0)
		return manage_fail(EX_OSERR, "no memory");
	mode_t mask = umask(077);
	dump.file = fopen(draft, "w");
	(void)umask(mask);
	if (dump.file == NULL) {
		int code = manage_fail(EX_IOERR, "can't write %s: %s", draft, strerror(errno));
		free(draft);
		return code;
	}
	int code = write_file(&dump, draft);
	if (fclose(dump.file) != 0 && code == EX_OK)
		code = manage_fail(EX_IOERR, "can't write %s: %s", draft, strerror(errno));
	if (code == EX_OK && rename(draft, path) != 0)
		code = manage_fail(EX_IOERR, "can't rename %s to %s: %s", draft, path, strerror(errno));
	if (code != EX_OK)
		(void)unlink(draft);
	free(draft);
	return code;
}
