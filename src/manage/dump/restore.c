// SPDX-License-Identifier: Apache-2.0
// tenure-manage restore: opens the file, sees what it holds, and has that restored.
#include "base/base.h"

#include <errno.h>

#include "manage/dump/dump.h"
#include "manage/dump/restore.h"

// The file is read several times, so what comes through a pipe is copied. NULL: errno says why there is none.
static FILE *open_file(const char *path)
{
	char bytes[65536];
	size_t n;
	FILE *copy;

	if (strcmp(path, "-") != 0)
		return fopen(path, "r");
	copy = tmpfile();
	while (copy != NULL && (n = fread(bytes, 1, sizeof(bytes), stdin)) > 0) {
		if (fwrite(bytes, 1, n, copy) != n) {
			(void)fclose(copy);
			return NULL;
		}
	}
	return copy;
}

// all: the file holds an installation, else a tenant. EX_OK: the options belong to that.
static int check_options(const struct restore_options *options, bool all)
{
	if (!all && options->without_tokens)
		return manage_fail(EX_USAGE, "--without-tokens belongs to the dump of an installation, and this one has no tokens");
	if (all && (options->name.p != NULL || options->tier.p != NULL || options->keep_invalid))
		return manage_fail(EX_USAGE, "--as, --tier and --keep-invalid belong to the dump of a tenant, and this is one of an installation");
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
	FILE *file = open_file(options.path);

	if (file == NULL)
		return manage_fail(EX_NOINPUT, "can't read %s: %s", options.path, strerror(errno));
	bool all = restore_all_is_in(file);
	int code = check_options(&options, all);
	if (code == EX_OK)
		code = all ? restore_all(manage, file, &options) : restore_tenant(manage, file, &options);
	(void)fclose(file);
	return code;
}
