// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "db/settings.h"
#include "manage/database/nodes.h"
#include "manage/database/schema.h"
#include "manage/database/steps.h"
#include "registry/registry.h"
#include "sql/schema.h"

enum { MAX_FILES = 999, MAX_FILE_BYTES = 16 << 20 };
// The step that makes the tables in which steps are recorded.
static const char books[] = "books";
// What programs of this version and earlier ones look at is the highest version in schema_version; later files stand in
// schema_files.
enum { LAST_PLAIN = 13 };

// "NNN-what.sql" with at least three digits.
static bool version_of(const char *name, uint64_t *version)
{
	size_t digits = strspn(name, "0123456789");
	return digits >= 3 && name[digits] == '-' && str_ends(str_c(name), STR(".sql"))
		&& str_to_u64(str_n(name, digits), version);
}

static bool read_whole(struct pool *pool, const char *path, struct str *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0 || st.st_size < 0 || st.st_size > MAX_FILE_BYTES) {
		close(fd);
		errno = EFBIG;
		return false;
	}
	size_t size = (size_t)st.st_size, n = 0;
	char *bytes = pool_alloc(pool, size + 1);
	while (n < size) {
		ssize_t got = read(fd, bytes + n, size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	*text = str_n(bytes, n);
	return n == size;
}

static int by_version(const void *a, const void *b)
{
	const struct schema_file *x = a, *y = b;
	return x->version < y->version ? -1 : x->version > y->version;
}

static int check_numbers(const char *dir, const struct schema_files *files)
{
	if (files->n == 0)
		return manage_fail(EX_CONFIG, "%s: no file named like 001-what.sql; set sql_dir in [tenure]", dir);
	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].version != i + 1)
			return manage_fail(EX_CONFIG, "%s: the file with number %03zu is missing or there twice", dir, i + 1);
	}
	return EX_OK;
}

// The form of an applied file for upgrades. Without online/NAME it is the file itself.
static int read_online(struct manage *manage, struct schema_file *file)
{
	const char *path = db_settings(manage->config)->sql_dir;
	struct str full = str_printf(manage->pool, "%s/online/%.*s", path, STR_ARG(file->name));
	if (read_whole(manage->pool, str_cstr(manage->pool, full), &file->online))
		return EX_OK;
	file->online = file->text;
	return errno == ENOENT ? EX_OK : manage_fail(EX_NOINPUT, "%.*s: %s", STR_ARG(full), strerror(errno));
}

static int read_entries(struct manage *manage, DIR *dir, struct schema_files *files)
{
	const char *path = db_settings(manage->config)->sql_dir;
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		uint64_t version;
		if (!version_of(entry->d_name, &version))
			continue;
		if (files->n == MAX_FILES)
			return manage_fail(EX_CONFIG, "%s: more than %d files", path, MAX_FILES);
		struct schema_file *file = &files->files[files->n++];
		file->version = version;
		file->name = str_dup(manage->pool, str_c(entry->d_name));
		struct str full = str_printf(manage->pool, "%s/%s", path, entry->d_name);
		if (!read_whole(manage->pool, str_cstr(manage->pool, full), &file->text))
			return manage_fail(EX_NOINPUT, "%.*s: %s", STR_ARG(full), strerror(errno));
		digest_sha256(file->text, file->sha256);
		int code = read_online(manage, file);
		if (code != EX_OK)
			return code;
	}
	return EX_OK;
}

// RELEASED has a line "CHECKSUM  NAME" for each released file, as sha256sum prints it. A file that it does not name was not
// released.
static int read_released(struct manage *manage, struct schema_files *files)
{
	struct str full = str_printf(manage->pool, "%s/RELEASED", db_settings(manage->config)->sql_dir), text, line;
	if (!read_whole(manage->pool, str_cstr(manage->pool, full), &text))
		return errno == ENOENT ? EX_OK : manage_fail(EX_NOINPUT, "%.*s: %s", STR_ARG(full), strerror(errno));
	while (str_split(&text, '\n', &line)) {
		uint8_t sum[DIGEST_SHA256];
		size_t digits = str_find(line, ' ', 0);
		struct str name = str_trim(str_part(line, digits, line.n));
		if (!digest_from_hex(str_part(line, 0, digits), sum, sizeof(sum)))
			continue;
		for (size_t i = 0; i < files->n; i++) {
			if (str_eq(files->files[i].name, name))
				files->files[i].edited = memcmp(files->files[i].sha256, sum, sizeof(sum)) != 0;
		}
	}
	return EX_OK;
}

int schema_read(struct manage *manage, struct schema_files *files)
{
	const char *path = db_settings(manage->config)->sql_dir;
	*files = (struct schema_files){ .files = POOL_ARRAY(manage->pool, struct schema_file, MAX_FILES) };
	DIR *dir = opendir(path);
	if (dir == NULL)
		return manage_fail(EX_CONFIG, "sql_dir %s: %s", path, strerror(errno));
	int code = read_entries(manage, dir, files);
	closedir(dir);
	if (code != EX_OK)
		return code;
	qsort(files->files, files->n, sizeof(*files->files), by_version);
	files->latest = files->n;
	code = check_numbers(path, files);
	return code == EX_OK ? read_released(manage, files) : code;
}

struct str schema_next_word(struct str text, size_t from, size_t *end)
{
	while (from < text.n && (text.p[from] == ' ' || text.p[from] == '\n' || text.p[from] == '\t'))
		from++;
	size_t to = from;
	while (to < text.n && strchr(" \n\t(;", text.p[to]) == NULL)
		to++;
	*end = to;
	return str_part(text, from, to);
}

// ---- what the database has

// An upgrade that goes on has files here of which schema_version does not tell yet.
static bool ask_books(struct manage *manage, uint64_t *version)
{
	struct db_rows rows;
	enum db_result result = sql_schema_range_run(manage->db, manage->pool, &rows);
	if (result != DB_OK) {
		manage_db_fail(manage, result, "can't read schema_files");
		return false;
	}
	uint64_t booked = sql_schema_range_row(&rows, 0)->version;
	*version = booked > *version ? booked : *version;
	return true;
}

// Has anything been written, the server's keys among it? A table that does not exist yet, or no more, has no row.
static bool ask_written(struct manage *manage, bool *written)
{
	static const char *const tables[SQL_SCHEMA_WRITTEN__N] = {
		[SQL_SCHEMA_WRITTEN_SETTINGS] = "settings",
		[SQL_SCHEMA_WRITTEN_TENANTS] = "tenants",
		[SQL_SCHEMA_WRITTEN_RESOURCES] = "resources",
		[SQL_SCHEMA_WRITTEN_CHANGES] = "changes",
		[SQL_SCHEMA_WRITTEN_TOKENS] = "tokens",
	};
	*written = false;
	for (size_t i = 0; i < COUNT_OF(tables) && !*written; i++) {
		const struct sql_schema_has_table in = { .name = str_c(tables[i]) };
		struct db_rows rows;
		enum db_result result = sql_schema_has_table_run(manage->db, manage->pool, &in, &rows);
		bool exists = result == DB_OK && sql_schema_has_table_row(&rows, 0)->n > 0;
		if (exists)
			result = sql_schema_has_row_run(manage->db, manage->pool, (enum sql_schema_written)i, &rows);
		if (result != DB_OK) {
			manage_db_fail(manage, result, "can't ask whether the schema is in use");
			return false;
		}
		*written = exists && sql_schema_has_row_row(&rows, 0)->found != 0;
	}
	return true;
}

bool schema_ask(struct manage *manage, enum schema_state *state, uint64_t *version)
{
	struct db_rows rows;
	bool written;
	*version = 0;
	enum db_result result = sql_schema_count_tables_run(manage->db, manage->pool, &rows);
	if (result != DB_OK) {
		manage_db_fail(manage, result, "can't list the tables");
		return false;
	}
	const struct sql_schema_count_tables_row *counts = sql_schema_count_tables_row(&rows, 0);

	if (counts->versioned == 0) {
		*state = counts->tables == 0 ? SCHEMA_ABSENT : SCHEMA_FOREIGN;
		return true;
	}
	result = sql_schema_version_run(manage->db, manage->pool, &rows);
	if (result != DB_OK) {
		manage_db_fail(manage, result, "can't read schema_version");
		return false;
	}
	*state = sql_schema_version_row(&rows, 0)->files == 0 ? SCHEMA_DAMAGED : SCHEMA_PRESENT;
	*version = sql_schema_version_row(&rows, 0)->version;
	if (counts->booked > 0 && !ask_books(manage, version))
		return false;
	if (!ask_written(manage, &written))
		return false;
	if (!written)
		*state = SCHEMA_BEGUN;
	return true;
}

// The name of the table that the statement makes; "": it makes none.
static struct str created_table(struct str statement)
{
	size_t at;
	struct str verb = schema_next_word(statement, 0, &at), what = schema_next_word(statement, at, &at);
	struct str name = schema_next_word(statement, at, &at);
	if (!str_eq(verb, STR("CREATE")) || !str_eq(what, STR("TABLE")))
		return STR("");
	if (str_eq(name, STR("IF"))) {
		(void)schema_next_word(statement, at, &at); // NOT
		(void)schema_next_word(statement, at, &at); // EXISTS
		name = schema_next_word(statement, at, &at);
	}
	return name;
}

// Returns how many tables the files make. names: takes their names in the order in which they are made, unless NULL.
static size_t list_tables(const struct schema_files *files, struct str *names)
{
	size_t n = 0;
	for (size_t i = 0; i < files->n; i++) {
		struct str rest = files->files[i].text, statement;
		while (db_script_next(&rest, &statement)) {
			struct str name = created_table(statement);
			if (name.n > 0 && names != NULL)
				names[n] = name;
			n += name.n > 0 ? 1 : 0;
		}
	}
	return n;
}

// A table that is not Tenure's may stand beside a schema_version that is not either.
static int refuse_others(struct manage *manage, const struct str *made, size_t n)
{
	struct db_rows rows;
	enum db_result result = sql_schema_tables_run(manage->db, manage->pool, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't list the tables");
	for (size_t i = 0; i < rows.n; i++) {
		struct str name = sql_schema_tables_row(&rows, i)->name;
		size_t k = 0;
		while (k < n && !str_eq(made[k], name))
			k++;
		if (k == n)
			return manage_fail(EX_DATAERR, "database \"%s\" holds tables of something else: %.*s", db_settings(manage->config)->name, STR_ARG(name));
	}
	return EX_OK;
}

int schema_drop(struct manage *manage, const struct schema_files *files)
{
	size_t n = list_tables(files, NULL);
	struct str *made = POOL_ARRAY(manage->pool, struct str, n), *dropped = POOL_ARRAY(manage->pool, struct str, n);
	(void)list_tables(files, made);
	int code = refuse_others(manage, made, n);
	if (code != EX_OK)
		return code;
	for (size_t i = 0; i < n; i++)
		dropped[i] = made[n - 1 - i];
	const struct sql_schema_drop in = { .tables = { dropped, n } };
	enum db_result result = db_run_script(manage->db, sql_schema_drop_text(manage->pool, &in));
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "what an earlier `db init` has begun can't be dropped");
}

// ---- what was edited

static bool has_books(struct manage *manage)
{
	struct db_rows rows;
	return sql_schema_is_booked_run(manage->db, manage->pool, &rows) == DB_OK && sql_schema_is_booked_row(&rows, 0)->booked > 0;
}

// Compares an applied file with the file here that has its number, and prints how they differ. Returns whether they do. A file of
// a later release is not looked for.
static bool differs(const struct schema_files *files, const struct sql_schema_applied_row *applied)
{
	if (applied->version > files->n && applied->version > REGISTRY_SCHEMA_VERSION)
		return false;
	if (applied->version > files->n) {
		printf("missing            %.*s, which was applied\n", STR_ARG(applied->file));
		return true;
	}
	const struct schema_file *file = &files->files[applied->version - 1];
	if (!str_eq(file->name, applied->file)) {
		printf("missing            %.*s, which was applied; its number has %.*s\n", STR_ARG(applied->file), STR_ARG(file->name));
		return true;
	}
	if (applied->sha256.p == NULL || str_eq(applied->sha256, str_n((const char *)file->sha256, sizeof(file->sha256))))
		return false;
	printf("edited             %.*s: it is not what was applied\n", STR_ARG(file->name));
	return true;
}

int schema_compare(struct manage *manage, const struct schema_files *files)
{
	struct db_rows rows = { .n = 0 };
	size_t found = 0;
	if (has_books(manage)) {
		enum db_result result = sql_schema_applied_run(manage->db, manage->pool, &rows);
		if (result != DB_OK)
			return manage_db_fail(manage, result, "can't read schema_files");
	}
	for (size_t i = 0; i < rows.n; i++)
		found += differs(files, sql_schema_applied_row(&rows, i));
	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].edited)
			printf("edited             %.*s: it is not what was released\n", STR_ARG(files->files[i].name));
		found += files->files[i].edited;
	}
	return found == 0 ? EX_OK : EX_DATAERR;
}

// ---- applying

static int record(struct manage *manage, const struct schema_file *file, uint64_t oldest)
{
	const struct sql_schema_record in = { .version = file->version, .file = file->name,
		.sha256 = str_n((const char *)file->sha256, sizeof(file->sha256)), .oldest = oldest };
	enum db_result result = sql_schema_record_run(manage->db, manage->pool, &in, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't record that the file was applied");
}

static void say(const struct schema_file *file)
{
	printf("applying %.*s\n", STR_ARG(file->name));
	fflush(stdout);
}

// As the file is written, to a database that nobody uses yet.
static int apply_plainly(struct manage *manage, const struct schema_file *file)
{
	const struct sql_schema_version_insert in = { .version = file->version, .file = file->name };
	say(file);
	enum db_result result = db_run_script(manage->db, file->text);
	if (result == DB_OK)
		result = sql_schema_version_insert_run(manage->db, manage->pool, &in, NULL);
	if (result == DB_OK)
		return EX_OK;
	struct str what = str_printf(manage->pool, "%.*s did not go through; `tenure-manage db init` begins anew when it is run again",
		STR_ARG(file->name));
	return manage_db_fail(manage, result, str_cstr(manage->pool, what));
}

// Makes the tables in which steps are recorded, and records there what was applied before. n_known: of so many files the
// checksums are known, since this run has applied them.
static int open_books(struct upgrade *upgrade, const struct schema_files *files, size_t n_known)
{
	struct manage *manage = upgrade->manage;
	for (size_t i = 0; i < files->n; i++) {
		struct steps steps;
		int code = steps_read(manage, &files->files[i], &steps);
		const struct step *step = code == EX_OK ? steps_find(&steps, books) : NULL;
		if (step != NULL)
			code = step_run(upgrade, &files->files[i], step);
		if (code != EX_OK)
			return code;
	}
	if (!has_books(manage)) // files of before version 15
		return EX_OK;
	for (size_t i = 0; i < n_known; i++) {
		int code = record(manage, &files->files[i], files->files[i].version);
		if (code != EX_OK)
			return code;
	}
	enum db_result result = sql_schema_take_over_run(manage->db, manage->pool, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't record what was applied before");
}

// *oldest: the oldest program that may go on, before and after.
static int apply_steps(struct upgrade *upgrade, const struct schema_file *file, uint64_t *oldest)
{
	struct steps steps;
	int code = steps_read(upgrade->manage, file, &steps);
	if (code == EX_OK)
		say(file);
	for (size_t i = 0; code == EX_OK && i < steps.n; i++)
		code = step_run(upgrade, file, &steps.steps[i]);
	if (code != EX_OK)
		return code;
	*oldest = steps.oldest > *oldest ? steps.oldest : *oldest;
	return record(upgrade->manage, file, *oldest);
}

// Programs learn of it last, when all is done.
static int tell_programs(struct manage *manage)
{
	enum db_result result = sql_schema_end_early_run(manage->db, manage->pool, NULL);
	if (result == DB_OK)
		result = sql_schema_tell_run(manage->db, manage->pool, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't tell the programs of the new version");
}

static int apply_all(struct upgrade *upgrade, const struct schema_files *files, uint64_t version, bool fresh)
{
	struct manage *manage = upgrade->manage;
	size_t next = version, n_plain = 0;
	struct db_rows rows;
	int code = EX_OK;
	for (; fresh && code == EX_OK && next < files->n && next < LAST_PLAIN; next++, n_plain++)
		code = apply_plainly(manage, &files->files[next]);
	if (code == EX_OK)
		code = open_books(upgrade, files, n_plain);
	if (code != EX_OK || !has_books(manage))
		return code;
	enum db_result result = sql_schema_range_run(manage->db, manage->pool, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read schema_files");
	uint64_t oldest = sql_schema_range_row(&rows, 0)->oldest;
	for (; code == EX_OK && next < files->n; next++)
		code = apply_steps(upgrade, &files->files[next], &oldest);
	return code == EX_OK ? tell_programs(manage) : code;
}

int schema_apply(struct manage *manage, const struct schema_files *files, uint64_t version, bool fresh)
{
	assert(version <= files->n);
	struct upgrade upgrade = { .manage = manage, .fresh = fresh, .guard = manage_db_open(manage, db_settings(manage->config), DB_OPERATOR) };
	int code = apply_all(&upgrade, files, version, fresh);
	nodes_close(&upgrade.nodes);
	db_close(&upgrade.guard);
	return code;
}

// ---- the plan

// Rows that a second is enough for, on a small machine with others at work.
enum { INDEX_ROWS_S = 100000, BATCH_ROWS_S = 20000 };

static void add_duration(struct buf *to, uint64_t seconds)
{
	if (seconds < 120)
		buf_addf(to, "about %llu s", (unsigned long long)(seconds > 0 ? seconds : 1));
	else
		buf_addf(to, "about %llu min", (unsigned long long)((seconds + 59) / 60));
}

static int plan_step(struct manage *manage, const struct schema_file *file, const struct step *step, uint64_t *seconds)
{
	struct buf line = buf_new(manage->pool, 128);
	uint64_t position, n = 0, took = 0;
	bool done;
	if (!step_progress(manage, file, step, &position, &done))
		return EX_TEMPFAIL;
	int code = step->table.n > 0 ? step_rows(manage, step, &n) : EX_OK;
	if (code != EX_OK)
		return code;
	buf_addf(&line, "  %-16.*s ", STR_ARG(step->name));
	if (done) {
		BUF_LIT(&line, "is done already");
	} else if (step->kind == STEP_INDEX) {
		took = n / INDEX_ROWS_S;
		buf_addf(&line, "builds indexes of %.*s (%llu rows), ", STR_ARG(step->table), (unsigned long long)n);
		add_duration(&line, took);
	} else if (step->kind == STEP_BATCHES) {
		took = n / BATCH_ROWS_S;
		buf_addf(&line, "fills in %.*s (%llu rows) in short transactions, ", STR_ARG(step->table), (unsigned long long)n);
		add_duration(&line, took);
	} else {
		buf_addf(&line, "%s, at once", step->kind == STEP_ONCE ? "changes a few rows" : "changes tables without touching their rows");
	}
	*seconds += took;
	printf("%.*s\n", (int)line.n, line.p);
	return EX_OK;
}

// version: of the schema now. oldest: the oldest schema version whose programs may serve afterwards (@oldest).
static int print_ways_back(struct manage *manage, uint64_t version, uint64_t oldest)
{
	struct db_rows rows;
	enum db_result result = sql_schema_version_run(manage->db, manage->pool, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read schema_version");
	uint64_t early = sql_schema_version_row(&rows, 0)->version, before = early < LAST_PLAIN ? early : version;

	printf("Programs of schema version %llu and later may serve afterwards.\n", (unsigned long long)oldest);
	if (before < oldest && oldest <= LAST_PLAIN)
		printf("Those of version %llu go on, and may be started again, but do not write what came later. Replace them soon; then\n"
			"`tenure-manage doctor --fix` completes what they wrote, and lets none of them begin any more.\n", (unsigned long long)before);
	else if (before < oldest)
		printf("Earlier ones must be replaced first.\n");
	if (before < oldest)
		printf("To go back, a dump is needed: take one before, with `mariadb-dump --single-transaction`.\n");
	else
		printf("To go back: start the programs of the release before; they work with the new schema, and nothing has to be undone.\n");
	return EX_OK;
}

int schema_plan(struct manage *manage, const struct schema_files *files, uint64_t version)
{
	uint64_t seconds = 0, oldest = version < files->n ? version : files->n;
	struct db_rows rows;
	if (has_books(manage) && sql_schema_range_run(manage->db, manage->pool, &rows) == DB_OK)
		oldest = sql_schema_range_row(&rows, 0)->oldest;
	if (version == files->n) {
		printf("nothing to do: the schema is of version %llu\n", (unsigned long long)version);
		return EX_OK;
	}
	for (size_t i = version; i < files->n; i++) {
		struct steps steps;
		int code = steps_read(manage, &files->files[i], &steps);
		if (code == EX_OK)
			printf("%.*s\n", STR_ARG(files->files[i].name));
		for (size_t k = 0; code == EX_OK && k < steps.n; k++)
			code = plan_step(manage, &files->files[i], &steps.steps[k], &seconds);
		if (code != EX_OK)
			return code;
		oldest = steps.oldest > oldest ? steps.oldest : oldest;
	}
	struct buf all = buf_new(manage->pool, 32);
	add_duration(&all, seconds + (files->n - version));
	printf("In all %.*s. Reading and writing goes on meanwhile, and nobody waits for longer than a second. If it is interrupted, run it\n"
		"again: it goes on where it stopped.\n", (int)all.n, all.p);
	return print_ways_back(manage, version, oldest);
}
