// SPDX-License-Identifier: Apache-2.0
// tenure-manage restore: opens the file, sees what it holds, and has that restored.
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

#include "auth/core/realm.h"
#include "base/spill.h"
#include "manage/dump/dump.h"
#include "manage/dump/restore.h"
#include "registry/registry.h"

static int fail_to_read(const char *path)
{
	return manage_fail(EX_NOINPUT, "can't read %s: %s", path, strerror(errno));
}

// Copies what comes through a pipe into *copy, a file without a name; NULL if that fails. EX_OK, or the exit code; told.
static int make_copy(FILE *from, const char *path, FILE **copy)
{
	char bytes[65536];
	const char *folder;
	size_t n;

	*copy = spill_file(&folder);
	while (*copy != NULL && (n = fread(bytes, 1, sizeof(bytes), from)) > 0 && fwrite(bytes, 1, n, *copy) == n)
		continue;
	if (*copy != NULL && !ferror(from) && !ferror(*copy) && fflush(*copy) == 0) // what is still buffered may find no room
		return EX_OK;
	int code = *copy != NULL && ferror(from) ? fail_to_read(path) :
		manage_fail(EX_IOERR, "can't copy %s to %s: %s; TMPDIR names another folder", path, folder, strerror(errno));
	if (*copy != NULL)
		(void)fclose(*copy);
	*copy = NULL;
	return code;
}

// The dump is read several times, and only a regular file can be: a pipe may have a name, too, as that of `<(zcat FILE)` in a
// shell.
// *file: NULL if that fails. EX_OK, or the exit code; told.
static int open_file(const char *path, FILE **file)
{
	struct stat status;
	FILE *named = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");

	*file = named;
	if (named == NULL)
		return fail_to_read(path);
	if (fstat(fileno(named), &status) != 0 || S_ISREG(status.st_mode))
		return EX_OK;
	errno = EISDIR;
	int code = S_ISDIR(status.st_mode) ? fail_to_read(path) : make_copy(named, path, file);
	(void)fclose(named);
	return code;
}

// The program that prints such a file as it was before it was compressed. NULL: the file is not compressed.
static const char *unpacker_of(FILE *file)
{
	static const struct { const char *begin; size_t n; const char *program; } forms[] = {
		{ "\x1f\x8b", 2, "zcat" }, { "\xfd" "7zXZ", 5, "xzcat" }, { "BZh", 3, "bzcat" }, { "\x28\xb5\x2f\xfd", 4, "zstdcat" },
	};
	char bytes[8];

	rewind(file);
	size_t n = fread(bytes, 1, sizeof(bytes), file);
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		if (n >= forms[i].n && memcmp(bytes, forms[i].begin, forms[i].n) == 0)
			return forms[i].program;
	}
	return NULL;
}

static int check_form(FILE *file, const char *path)
{
	const char *program = unpacker_of(file);

	if (program == NULL)
		return EX_OK;
	return manage_fail(EX_DATAERR, "%s is compressed: %s %s | tenure-manage restore -", path, program, strcmp(path, "-") == 0 ? "FILE" : path);
}

// all: the file holds an installation, else a tenant. EX_OK: the options belong to that.
static int check_options(const struct restore_options *options, bool all)
{
	if (!all && options->without_tokens)
		return manage_fail(EX_USAGE, "--without-tokens belongs to the dump of an installation, and this one has no tokens");
	if (all && (options->name.p != NULL || options->tier.p != NULL || options->keep_invalid))
		return manage_fail(EX_USAGE, "--as, --tier and --keep-invalid belong to the dump of a tenant, and this is one of an installation");
	if (options->name.p != NULL && (!registry_id_is_valid(options->name) || realm_reserved(options->name) != NULL))
		return manage_fail(EX_USAGE, "--as: no tenant can be called \"%.*s\"", STR_ARG(options->name));
	return EX_OK;
}

static struct str option_text(const struct manage *manage, const char *name)
{
	const char *value = manage_option(manage, name);

	return value != NULL ? str_c(value) : STR_NONE;
}

int command_restore(struct manage *manage)
{
	const struct restore_options options = {
		.path = manage->arguments[0],
		.dry_run = manage_option(manage, "--dry-run") != NULL,
		.name = option_text(manage, "--as"),
		.tier = option_text(manage, "--tier"),
		.keep_invalid = manage_option(manage, "--keep-invalid") != NULL,
		.without_tokens = manage_option(manage, "--without-tokens") != NULL,
	};
	FILE *file;
	int code = open_file(options.path, &file);

	if (code != EX_OK)
		return code;
	code = check_form(file, options.path);
	bool all = code == EX_OK && restore_all_is_in(file);
	if (code == EX_OK)
		code = check_options(&options, all);
	if (code == EX_OK)
		code = all ? restore_all(manage, file, &options) : restore_tenant(manage, file, &options);
	(void)fclose(file);
	return code;
}
