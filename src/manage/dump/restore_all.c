// SPDX-License-Identifier: Apache-2.0
// tenure-manage restore of a whole installation. The file is read twice: for its form and sums, before anything is written; and
// to write its rows, with their ids, in one transaction. So a restore that fails or is killed leaves the registry empty, as it
// was.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "db/settings.h"
#include "manage/dump/dump_writer.h"
#include "manage/dump/dump_reader.h"
#include "manage/dump/record.h"
#include "manage/dump/restore.h"
#include "registry/registry.h"
#include "repr/json/doc.h"
#include "sql/dump_all.h"

enum { BATCH_RECORDS = 500 };

// ---- the statements of each table

#define RESTORE_TABLE(table) \
	static enum db_result write_##table(struct db *db, struct pool *pool, struct str rows, struct db_rows *written) \
	{ \
		return sql_restore_all_##table##_run(db, pool, &(struct sql_restore_all_##table){ .rows = rows }, written); \
	}
DUMP_TABLES(RESTORE_TABLE)

// These never get lower, so what they have stays (sql/statements/dump_all.sql).
#define sql_restore_all_clear_log_horizon_run NULL
#define sql_restore_all_clear_catalogues_run NULL

#define ROW_OF_TABLE(table) { #table, write_##table, sql_restore_all_clear_##table##_run },
static const struct table {
	const char *name;
	enum db_result (*write)(struct db *db, struct pool *pool, struct str rows, struct db_rows *written);
	enum db_result (*clear)(struct db *db, struct pool *pool, struct db_rows *rows); // NULL: its rows stay
} tables[DUMP_TABLES__N] = { DUMP_TABLES(ROW_OF_TABLE) };

// ---- the file

// The kinds of lines in their order: "dump", the tables, "next", "end".
enum { KIND_DUMP, KIND_TABLE, KIND_NEXT = KIND_TABLE + DUMP_TABLES__N, KIND_END, KIND__N };
#define KIND_OF_TABLE(table) { #table, false },
static const struct dump_kind kinds[KIND__N] = { { "dump", true }, DUMP_TABLES(KIND_OF_TABLE){ "next", true }, { "end", false } };

// A column, as the database describes it.
struct column {
	struct str name, kind; // kind: number, text, time or bytes
	bool nullable, is_signed;
	uint64_t most;         // the greatest number, or how many characters or bytes
};

// The file is read twice: to check all of it, and then to write its rows.
enum reading { TO_CHECK, TO_WRITE };

struct restore_all {
	struct manage *manage;
	const struct restore_options *options;
	struct dump_reader reader;
	struct pool *lines;          // the reader's
	struct columns {             // of each table
		struct column *list;
		size_t n;
	} columns[DUMP_TABLES__N];
	struct str next;             // the ids that come next in each table, JSON
	enum reading reading;
	uint64_t n_rows[DUMP_TABLES__N];
	int code;                    // EX_OK, or why it ends
};

static bool fail(struct restore_all *restore, enum db_result result)
{
	struct dump_reader *reader = &restore->reader;

	if (result == DB_DUPLICATE && reader->rows.n > 0)
		return dump_reader_refuse_batch(reader, "has a key twice: %s", db_error(restore->manage->db));
	if ((result == DB_REFUSED || result == DB_ERROR) && reader->rows.n > 0)
		return dump_reader_refuse_batch(reader, "has a value that can't be stored: %s", db_error(restore->manage->db));
	if (result != DB_RETRY && result != DB_LOST && result != DB_FULL) // after these a transaction may run again, and restore_file() tells
		restore->code = manage_db_fail(restore->manage, result, "can't restore the installation");
	return false;
}

static bool check_dump(struct restore_all *restore, const struct doc *doc)
{
	uint64_t format = record_number(doc, "format"), schema = record_number(doc, "schema");

	if (format != DUMP_FORMAT)
		return dump_reader_refuse(&restore->reader, "is of format %llu: this program reads format %d", (unsigned long long)format, DUMP_FORMAT);
	if (schema != REGISTRY_SCHEMA_VERSION)
		return dump_reader_refuse(&restore->reader, "is of schema version %llu, and this program restores version %d: restore by the release that made it, then "
			"`tenure-manage db upgrade`", (unsigned long long)schema, REGISTRY_SCHEMA_VERSION);
	return true;
}

static bool is_time(struct str text)
{
	static const char form[] = "0000-00-00 00:00:00.000000";

	for (size_t i = 0; i < text.n && i < sizeof(form) - 1; i++) {
		if (form[i] == '0' ? text.p[i] < '0' || text.p[i] > '9' : text.p[i] != form[i])
			return false;
	}
	return text.n == sizeof(form) - 1;
}

static bool is_hex(struct str text, uint64_t most)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr("0123456789abcdef", text.p[i]) == NULL || text.p[i] == '\0')
			return false;
	}
	return text.n % 2 == 0 && text.n / 2 <= most;
}

// Does the column take the value? JSON_TABLE would make NULL of some that it does not take.
static bool takes(const struct column *column, const struct doc *value)
{
	uint64_t number;
	int64_t low;

	if (value == NULL)
		return column->nullable;
	if (str_eq(column->kind, STR("number")))
		return doc_u64(value, &number) ? number <= column->most : column->is_signed && doc_i64(value, &low);
	if (doc_kind(value) != DOC_STRING)
		return false;
	if (str_eq(column->kind, STR("time")))
		return is_time(doc_string(value));
	return str_eq(column->kind, STR("bytes")) ? is_hex(doc_string(value), column->most) : str_utf8_length(doc_string(value)) <= column->most;
}

// A record has a member for each column, and no other.
static bool check_columns(struct restore_all *restore, const struct doc *doc, const struct columns *columns)
{
	const char *table = kinds[restore->reader.kind].name;
	struct doc_iter beside = doc_iter(doc);
	const struct doc *value;

	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->list[i];
		if (!doc_get_beside(&beside, doc, column->name, &value))
			return dump_reader_refuse(&restore->reader, "has no \"%.*s\", which table %s has", STR_ARG(column->name), table);
		if (!takes(column, value))
			return dump_reader_refuse(&restore->reader, "has a \"%.*s\" that table %s does not take: it is a %.*s%s", STR_ARG(column->name), table,
				STR_ARG(column->kind), column->nullable ? ", or null" : "");
	}
	return doc_length(doc) == columns->n ||
		dump_reader_refuse(&restore->reader, "has %zu members, and table %s has %zu columns", doc_length(doc), table, columns->n);
}

static bool check_texts(struct restore_all *restore, const struct doc *doc)
{
	static const char *const members[] = { "meta", "body", "metadata", "object" };
	// What a provider's aggregates were is kept as a list, in the place of a body.
	bool may_be_list = restore->reader.kind == KIND_TABLE + DUMP_TABLE_former_resources;
	const struct doc *value;

	for (size_t i = 0; i < COUNT_OF(members); i++) {
		struct str text = record_text(doc, members[i]);
		if (!doc_get(doc, str_c(members[i]), &value) || (may_be_list && record_is_list(restore->lines, text)))
			continue;
		if (!record_is_object(restore->lines, text))
			return dump_reader_refuse(&restore->reader, "has %s that is no JSON object, as a text", members[i]);
	}
	return true;
}

static bool check_next(struct restore_all *restore, const struct doc *doc, struct str object)
{
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		uint64_t number = 0;
		if (!doc_u64(it.value, &number) || number == 0 || number > INT64_MAX)
			return dump_reader_refuse(&restore->reader, "has no id for \"%.*s\"", (int)(it.name.n < 64 ? it.name.n : 64), it.name.p);
	}
	restore->next = str_dup(restore->manage->pool, object);
	return true;
}

static bool check_record(struct restore_all *restore, const struct doc *doc, struct str object)
{
	size_t kind = restore->reader.kind;

	if (kind == KIND_DUMP)
		return check_dump(restore, doc);
	if (kind == KIND_NEXT)
		return check_next(restore, doc, object);
	return kind == KIND_END || (check_columns(restore, doc, &restore->columns[kind - KIND_TABLE]) && check_texts(restore, doc));
}

// ---- writing

static bool write_batch(void *user, struct str rows)
{
	struct restore_all *restore = user;
	size_t table = restore->reader.kind - KIND_TABLE;
	struct db_rows written;
	enum db_result result = tables[table].write(restore->manage->db, restore->lines, rows, &written);

	if (result != DB_OK)
		return fail(restore, result);
	restore->n_rows[table] += restore->reader.rows.n;
	return true;
}

static bool take_record(void *user, struct str object)
{
	struct restore_all *restore = user;
	size_t kind = restore->reader.kind;
	struct doc *doc;

	if (restore->reading == TO_CHECK)
		return dump_reader_parse(&restore->reader, object, &doc) && check_record(restore, doc, object);
	bool left_out = restore->options->without_tokens && kind == KIND_TABLE + DUMP_TABLE_tokens;
	if (kind >= KIND_TABLE && kind < KIND_NEXT && !left_out)
		dump_reader_add(&restore->reader, object);
	return true;
}

// Reads the whole file, from its beginning.
static bool read_file(struct restore_all *restore, enum reading reading)
{
	restore->reading = reading;
	memset(restore->n_rows, 0, sizeof(restore->n_rows));
	if (dump_reader_run(&restore->reader))
		return true;
	if (restore->reader.refusal[0] != '\0')
		restore->code = manage_fail(EX_DATAERR, "%s: %s", restore->options->path, restore->reader.refusal);
	return false;
}

// ---- the registry here

static void take_columns(struct manage *manage, const struct doc *list, struct columns *columns)
{
	*columns = (struct columns){ POOL_ARRAY(manage->pool, struct column, doc_elements(list)), doc_elements(list) };
	for (size_t i = 0; i < columns->n; i++) {
		const struct doc *column = doc_at(list, i);
		columns->list[i] = (struct column){
			.name = record_text(column, "name"),
			.kind = record_text(column, "kind"),
			.nullable = record_number(column, "nullable") != 0,
			.is_signed = record_number(column, "signed") != 0,
			.most = record_number(column, "most"),
		};
	}
}

static int read_columns(struct restore_all *restore)
{
	struct manage *manage = restore->manage;
	struct db_rows rows;
	enum db_result result = sql_restore_all_columns_run(manage->db, manage->pool, &rows);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't list the columns");
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_restore_all_columns_row *row = sql_restore_all_columns_row(&rows, i);
		struct doc *list;
		struct str error;
		if (!doc_parse_json(manage->pool, row->columns, (struct doc_limits){ .depth = 3 }, &list, &error))
			return manage_fail(EX_SOFTWARE, "can't read the columns of table %.*s: %.*s", STR_ARG(row->table_name), STR_ARG(error));
		for (size_t k = 0; k < DUMP_TABLES__N; k++) {
			if (str_eq_c(row->table_name, tables[k].name))
				take_columns(manage, list, &restore->columns[k]);
		}
	}
	return EX_OK;
}

static int check_schema(struct restore_all *restore)
{
	struct manage *manage = restore->manage;
	uint64_t version = 0;
	enum outcome outcome = registry_schema_version(manage->db, manage->pool, &version);

	if (outcome != OUTCOME_OK)
		return manage_fail(manage_exit_code(outcome), "can't read the version of the schema: is there one? `tenure-manage db init` makes it");
	if (version != REGISTRY_SCHEMA_VERSION)
		return manage_fail(EX_DATAERR, "the schema here is of version %llu, and this program restores version %d: see `tenure-manage db status`",
			(unsigned long long)version, REGISTRY_SCHEMA_VERSION);
	return EX_OK;
}

enum others { OTHERS_MAY_BE_CONNECTED, NOBODY_ELSE_CONNECTED };

// Says what forbids the restore: what the database has already and, if that is asked for, who else is connected to it.
static bool may_restore(struct restore_all *restore, enum others others)
{
	struct manage *manage = restore->manage;
	struct db_rows rows;
	const struct sql_restore_all_in_way in = { .tokens = !restore->options->without_tokens, .connections = others == NOBODY_ELSE_CONNECTED };
	enum db_result result = sql_restore_all_in_way_run(manage->db, manage->pool, &in, &rows);

	if (result != DB_OK)
		return fail(restore, result);
	for (size_t i = 0; i < rows.n; i++) {
		struct str what = sql_restore_all_in_way_row(&rows, i)->what;
		fprintf(stderr, "%.*s\n", STR_ARG(what));
	}
	if (rows.n > 0)
		restore->code = manage_fail(EX_DATAERR, "nothing was restored");
	return rows.n == 0;
}

// The ids that come next: a row that was purged before the dump may have left its id in the change log, so no other row may get
// it. This is a change of the tables, which no transaction takes back; in an empty registry it does no harm.
static int raise_next_ids(struct restore_all *restore)
{
	struct manage *manage = restore->manage;
	struct doc *next;
	struct str error, names[DUMP_TABLES__N];
	size_t n = 0;

	if (!doc_parse_json(manage->pool, restore->next, (struct doc_limits){ .depth = 2 }, &next, &error))
		return EX_SOFTWARE;
	for (size_t i = 0; i < DUMP_TABLES__N; i++) {
		if (record_number(next, tables[i].name) > 0)
			names[n++] = str_c(tables[i].name);
	}
	const struct sql_restore_all_next_ids in = { .tables = { names, n }, .next = { &restore->next, 1 } };
	struct db *admin = manage_db_open(manage, &manage->patient, DB_OPERATOR);
	enum db_result result = db_connect(admin);
	int code = result == DB_OK ? manage_lock_schema(manage, admin) : EX_OK;
	if (result == DB_OK && code == EX_OK)
		result = db_run_script(admin, sql_restore_all_next_ids_text(manage->pool, &in));
	if (result != DB_OK)
		code = manage_fail(EX_NOPERM, "can't set the ids that come next, as admin_user: %s", db_error(admin));
	db_close(&admin);
	return code;
}

static bool clear(struct restore_all *restore)
{
	for (size_t i = 0; i < DUMP_TABLES__N; i++) {
		if (tables[i].clear == NULL || (restore->options->without_tokens && i == DUMP_TABLE_tokens))
			continue;
		enum db_result result = tables[i].clear(restore->manage->db, restore->manage->pool, NULL);
		if (result != DB_OK)
			return fail(restore, result);
	}
	return true;
}

// Nothing else was written meanwhile.
static bool count(struct restore_all *restore)
{
	struct manage *manage = restore->manage;
	struct db_rows rows;
	enum db_result result = sql_restore_all_counts_run(manage->db, manage->pool, &rows);

	if (result != DB_OK)
		return fail(restore, result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_restore_all_counts_row *row = sql_restore_all_counts_row(&rows, i);
		for (size_t k = 0; k < DUMP_TABLES__N; k++) {
			bool kept = tables[k].clear == NULL || (restore->options->without_tokens && k == DUMP_TABLE_tokens);
			if (!kept && str_eq_c(row->table_name, tables[k].name) && row->n != restore->n_rows[k]) {
				restore->code = manage_fail(EX_DATAERR, "nothing was restored: somebody else wrote into table %s meanwhile", tables[k].name);
				return false;
			}
		}
	}
	return true;
}

static enum db_verdict run(void *arg)
{
	struct restore_all *restore = arg;
	struct db *db = restore->manage->db;
	struct db_rows rows;
	enum db_result result = sql_restore_all_lock_run(db, restore->manage->pool, &rows);

	restore->code = EX_OK;
	if (result != DB_OK) {
		(void)fail(restore, result);
		return DB_ROLLBACK;
	}
	if (!may_restore(restore, OTHERS_MAY_BE_CONNECTED) || db_txn_large(db) != DB_OK || !clear(restore) ||
		!read_file(restore, TO_WRITE) || !count(restore))
		return DB_ROLLBACK;
	return restore->options->dry_run ? DB_ROLLBACK : DB_COMMIT;
}

bool restore_all_is_in(FILE *file)
{
	struct dump_lines lines = dump_lines_begin(file);
	struct pool *pool = pool_new();
	struct str kind, object, error;
	struct doc *doc;
	bool is = false;

	if (pool == NULL)
		return false;
	rewind(file);
	is = dump_lines_next(&lines, pool, &kind, &object, &error) && str_eq(kind, STR("dump")) &&
		doc_parse_json(pool, object, (struct doc_limits){ .depth = 10 }, &doc, &error) &&
		str_eq(record_text(doc, "holds"), STR("installation"));
	pool_free(&pool);
	return is;
}

static int restore_file(struct restore_all *restore)
{
	struct manage *manage = restore->manage;
	int code = check_schema(restore);

	if (code == EX_OK)
		code = read_columns(restore);
	if (code != EX_OK)
		return code;
	if (!read_file(restore, TO_CHECK) || !may_restore(restore, NOBODY_ELSE_CONNECTED))
		return restore->code != EX_OK ? restore->code : manage_db_fail(manage, DB_LOST, "can't restore the installation");
	if (!restore->options->dry_run)
		code = raise_next_ids(restore);
	if (code != EX_OK)
		return code;
	enum db_result result = db_txn_run(manage->db, DB_WRITE, NULL, run, restore);
	if (restore->code != EX_OK)
		return restore->code;
	if (result != DB_OK && db_txn_uncertain(manage->db))
		return manage_fail(EX_TEMPFAIL, "the connection was lost at the end: `tenure-manage db status` shows whether it was restored");
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't restore the installation");
	printf("%s %llu resource%s\n", restore->options->dry_run ? "would restore" : "restored", COUNT_ARG(restore->n_rows[DUMP_TABLE_resources]));
	return restore->options->dry_run ? EX_OK : manage_fill_registry(manage);
}

int restore_all(struct manage *manage, FILE *file, const struct restore_options *options)
{
	struct restore_all restore = { .manage = manage, .options = options, .lines = pool_new(), .code = EX_OK };

	if (restore.lines == NULL)
		return manage_fail(EX_OSERR, "no memory");
	restore.reader = (struct dump_reader){ .file = file, .kinds = kinds, .n_kinds = KIND__N, .most = BATCH_RECORDS, .record = take_record,
		.batch = write_batch, .user = &restore, .pool = restore.lines };
	int code = restore_file(&restore);
	pool_free(&restore.lines);
	return code;
}
