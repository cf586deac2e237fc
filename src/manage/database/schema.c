// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "db/settings.h"
#include "manage/database/schema.h"
#include "sql/schema.h"

enum { MAX_FILES = 999, MAX_FILE_BYTES = 16 << 20 };

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
	return check_numbers(path, files);
}

bool schema_ask(struct manage *manage, enum schema_state *state, uint64_t *version)
{
	struct db_rows rows;
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
	*state = sql_schema_version_row(&rows, 0)->files == 0 ? SCHEMA_HALF : SCHEMA_PRESENT;
	*version = sql_schema_version_row(&rows, 0)->version;
	return true;
}

static int apply_one(struct manage *manage, const struct schema_file *file)
{
	printf("applying %.*s\n", STR_ARG(file->name));
	fflush(stdout);
	const struct sql_schema_record in = { .version = file->version, .file = file->name };
	enum db_result result = db_run_script(manage->db, file->text);
	if (result == DB_OK)
		result = sql_schema_record_run(manage->db, manage->pool, &in, NULL);
	if (result == DB_OK)
		return EX_OK;
	struct str what = str_printf(manage->pool, "%.*s did not go through, and what it did before the failure stays",
		STR_ARG(file->name));
	return manage_db_fail(manage, result, str_cstr(manage->pool, what));
}

int schema_apply(struct manage *manage, const struct schema_files *files, uint64_t version)
{
	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].version <= version)
			continue;
		int code = apply_one(manage, &files->files[i]);
		if (code != EX_OK)
			return code;
	}
	return EX_OK;
}
