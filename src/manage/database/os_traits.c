// SPDX-License-Identifier: Apache-2.0
// tenure-manage os-traits sync: adds standard traits to the catalogue from a list.
#include "base/base.h"

#include <errno.h>

#include "base/buf.h"
#include "base/clock.h"
#include "db/settings.h"
#include "manage/database/database.h"
#include "manage/database/os_traits.h"
#include "manage/database/schema.h"
#include "registry/cache/coherence.h"
#include "registry/trait/catalogue.h"
#include "sql/catalogues.h"
#include "sql/os_traits.h"

// TRAITS_VERSION: the first schema version with a catalogue of traits. SHOWN_BYTES: how many bytes of a line a message shows.
enum { TRAITS_VERSION = 3, SHOWN_BYTES = 80, MAX_LIST_BYTES = 4 << 20 };

// ---- reading a list

// The buffer grows while it reads, since the file may be a pipe.
static int read_file(struct manage *manage, const char *path, struct str *text)
{
	struct buf all = buf_new(manage->pool, 64 << 10);
	char chunk[8192];
	size_t got;
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return manage_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	while (all.n <= MAX_LIST_BYTES && (got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(&all, str_n(chunk, got));
	int error = ferror(file) ? errno : 0;
	fclose(file);
	if (error != 0)
		return manage_fail(EX_NOINPUT, "%s: %s", path, strerror(error));
	if (all.n > MAX_LIST_BYTES)
		return manage_fail(EX_DATAERR, "%s: more than %d bytes are no list of traits", path, MAX_LIST_BYTES);
	*text = buf_str(&all);
	return EX_OK;
}

// A line, safe and short enough for a message.
static struct str shown(struct pool *pool, struct str line)
{
	struct buf out = buf_new(pool, 128);

	for (size_t i = 0; i < line.n && i < SHOWN_BYTES; i++) {
		unsigned char c = (unsigned char)line.p[i];
		if (c >= ' ' && c < 0x7f)
			buf_addc(&out, (char)c);
		else
			buf_addf(&out, "\\x%02x", c);
	}
	if (line.n > SHOWN_BYTES)
		BUF_LIT(&out, "...");
	return buf_str(&out);
}

struct listed {
	struct str name;
	size_t line;
};

static int by_name(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order != 0 ? order : x->line < y->line ? -1 : 1;
}

static int check_name(struct manage *manage, const char *path, size_t line, struct str name)
{
	struct str text = shown(manage->pool, name);

	if (!trait_is_name(name))
		return manage_fail(EX_DATAERR, "%s:%zu: \"%.*s\" is no name of a trait: 1 to %d of A-Z, 0-9 and _, one name a line",
			path, line, STR_ARG(text), TRAIT_MAX_NAME);
	if (str_starts(name, STR("CUSTOM_")))
		return manage_fail(EX_DATAERR, "%s:%zu: %.*s is a custom name, which comes by the API and not by a list", path,
			line, STR_ARG(text));
	return EX_OK;
}

static int parse_lines(struct manage *manage, const char *path, struct str text, struct listed *listed, size_t *n)
{
	struct str rest = text, line;

	for (size_t number = 1; str_split(&rest, '\n', &line); number++) {
		if (str_ends(line, STR("\r")))
			line.n--;
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		int code = check_name(manage, path, number, line);
		if (code != EX_OK)
			return code;
		listed[(*n)++] = (struct listed){ line, number };
	}
	return *n > 0 ? EX_OK : manage_fail(EX_DATAERR, "%s: there is no name in it", path);
}

static size_t count_lines(struct str text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

static const char *shipped_path(struct manage *manage)
{
	return str_cstr(manage->pool, str_printf(manage->pool, "%s/os-traits.txt", db_settings(manage->config)->sql_dir));
}

int trait_list_read(struct manage *manage, const char *path, struct trait_list *list)
{
	struct str text = STR_NONE;
	size_t n = 0;

	*list = (struct trait_list){ .path = path != NULL ? path : shipped_path(manage) };
	int code = read_file(manage, list->path, &text);
	if (code != EX_OK)
		return code;
	struct listed *listed = POOL_ARRAY(manage->pool, struct listed, count_lines(text));
	code = parse_lines(manage, list->path, text, listed, &n);
	if (code != EX_OK)
		return code;
	qsort(listed, n, sizeof(*listed), by_name);
	list->names = POOL_ARRAY(manage->pool, struct str, n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && str_eq(listed[i].name, listed[i - 1].name))
			return manage_fail(EX_DATAERR, "%s:%zu: %.*s stands in line %zu already", list->path, listed[i].line,
				STR_ARG(listed[i].name), listed[i - 1].line);
		list->names[list->n++] = listed[i].name;
	}
	return EX_OK;
}

// ---- the catalogue

// Names of traits contain nothing that JSON escapes.
static struct str json_names(struct pool *pool, const struct str *names, size_t n)
{
	struct buf json = buf_new(pool, 64 * (n + 1));

	buf_addc(&json, '[');
	for (size_t i = 0; i < n; i++)
		buf_addf(&json, "%s\"%.*s\"", i > 0 ? "," : "", STR_ARG(names[i]));
	buf_addc(&json, ']');
	return buf_str(&json);
}

struct sync {
	struct manage *manage;
	struct str list;    // as a JSON array
	struct str *names;  // those added, or removed
	size_t n_names;
	enum db_result result;
};

static enum db_verdict end(struct sync *sync, enum db_result result)
{
	sync->result = result;
	return result == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum db_result find(struct sync *sync, enum sql_os_traits_unlike what)
{
	struct manage *manage = sync->manage;
	const struct sql_os_traits_find in = { .names = sync->list };
	struct db_rows rows;
	enum db_result result = sql_os_traits_find_run(manage->db, manage->pool, what, &in, &rows);

	sync->n_names = result == DB_OK ? rows.n : 0;
	sync->names = POOL_ARRAY(manage->pool, struct str, sync->n_names);
	for (size_t i = 0; i < sync->n_names; i++)
		sync->names[i] = sql_os_traits_find_row(&rows, i)->name;
	return result;
}

static enum db_verdict add_missing(void *arg)
{
	struct sync *sync = arg;
	struct manage *manage = sync->manage;
	struct db_rows locked;
	enum db_result result = sql_catalogue_lock_traits_run(manage->db, manage->pool, &locked);

	if (result == DB_OK)
		result = find(sync, SQL_OS_TRAITS_UNLIKE_MISSING);
	if (result != DB_OK || sync->n_names == 0)
		return end(sync, result);
	const struct sql_os_traits_insert in = {
		.names = json_names(manage->pool, sync->names, sync->n_names),
		.now = clock_now_us(),
	};
	struct db_call calls[] = { sql_os_traits_insert_call(manage->pool, &in), coherence_raise_call(COHERENCE_TRAITS) };
	return end(sync, db_run_batch(manage->db, manage->pool, calls, COUNT_OF(calls)));
}

static enum db_verdict remove_unused(void *arg)
{
	struct sync *sync = arg;
	struct manage *manage = sync->manage;
	const struct sql_os_traits_lock_surplus surplus = { .names = sync->list };
	const struct sql_os_traits_delete_unused unused = { .names = sync->list };
	struct db_rows locked;
	enum db_result result = sql_catalogue_lock_traits_run(manage->db, manage->pool, &locked);

	if (result == DB_OK)
		result = sql_os_traits_lock_surplus_run(manage->db, manage->pool, &surplus, &locked);
	if (result == DB_OK)
		result = find(sync, SQL_OS_TRAITS_UNLIKE_UNUSED);
	if (result != DB_OK || sync->n_names == 0)
		return end(sync, result);
	struct db_call calls[] = {
		sql_os_traits_delete_unused_call(manage->pool, &unused),
		coherence_raise_call(COHERENCE_TRAITS),
	};
	return end(sync, db_run_batch(manage->db, manage->pool, calls, COUNT_OF(calls)));
}

static enum db_result transact(struct sync *sync, enum db_verdict (*fn)(void *arg))
{
	struct uuid id = uuid_new();
	enum db_result result = db_txn_run(sync->manage->db, DB_WRITE, &id, fn, sync);

	return result != DB_OK ? result : sync->result;
}

static void tell_names(const char *what, const struct sync *sync)
{
	for (size_t i = 0; i < sync->n_names; i++)
		printf("%s %.*s\n", what, STR_ARG(sync->names[i]));
}

static struct sync sync_of(struct manage *manage, const struct trait_list *list)
{
	return (struct sync){ .manage = manage, .list = json_names(manage->pool, list->names, list->n) };
}

int trait_list_sync(struct manage *manage, const struct trait_list *list, bool tell_each)
{
	struct sync sync = sync_of(manage, list);
	enum db_result result = transact(&sync, add_missing);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "the catalogue of traits is as it was");
	if (tell_each)
		tell_names("added", &sync);
	printf("standard traits: %zu added, %zu were there already\n", sync.n_names, list->n - sync.n_names);
	return EX_OK;
}

static int show_missing(struct manage *manage, const struct trait_list *list)
{
	struct sync sync = sync_of(manage, list);
	enum db_result result = find(&sync, SQL_OS_TRAITS_UNLIKE_MISSING);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the catalogue of traits");
	tell_names("would add", &sync);
	printf("standard traits: %zu to be added, %zu are there already\n", sync.n_names, list->n - sync.n_names);
	return EX_OK;
}

// Traits that the list lacks and no resource has; they are removed only if remove is set.
static int prune(struct manage *manage, const struct trait_list *list, bool remove)
{
	struct sync sync = sync_of(manage, list);
	enum db_result result = remove ? transact(&sync, remove_unused) : find(&sync, SQL_OS_TRAITS_UNLIKE_UNUSED);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "nothing was removed from the catalogue of traits");
	tell_names(remove ? "removed" : "unused and not in the list:", &sync);
	if (!remove && sync.n_names > 0)
		printf("they are still there: --prune --yes removes them\n");
	return EX_OK;
}

static int check_schema(struct manage *manage)
{
	enum schema_state state;
	uint64_t version;

	if (!schema_ask(manage, &state, &version))
		return EX_TEMPFAIL;
	if (state != SCHEMA_PRESENT || version < TRAITS_VERSION)
		return manage_fail(EX_DATAERR, "the schema has no catalogue of traits yet: see `tenure-manage db status`");
	return EX_OK;
}

int command_os_traits_sync(struct manage *manage)
{
	bool dry_run = manage_option(manage, "--dry-run") != NULL, pruning = manage_option(manage, "--prune") != NULL;
	bool yes = manage_option(manage, "--yes") != NULL;
	struct trait_list list;

	if (yes && !pruning)
		return manage_fail(EX_USAGE, "--yes goes with --prune: adding needs no second word");
	int code = trait_list_read(manage, manage_option(manage, "--from"), &list);
	if (code == EX_OK)
		code = check_schema(manage);
	if (code == EX_OK)
		code = dry_run ? show_missing(manage, &list) : trait_list_sync(manage, &list, true);
	if (code == EX_OK && pruning)
		code = prune(manage, &list, yes && !dry_run);
	return code;
}
