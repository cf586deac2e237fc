// SPDX-License-Identifier: Apache-2.0
// What all commands of tenure-manage share: messages, exit codes, options.
#include "base/base.h"

#include <stdarg.h>

#include "manage/core/manage.h"

int manage_fail(int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("tenure-manage: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return code;
}

int manage_db_fail(const struct manage *manage, enum db_result result, const char *what)
{
	const char *why = db_error(manage->db);
	// db/ has logged the error already.
	if (result == DB_ERROR)
		return manage_fail(EX_SOFTWARE, "%s", what);
	return manage_fail(EX_TEMPFAIL, "%s: %s", what, why != NULL && *why != '\0' ? why : "the database is away or busy");
}

int manage_exit_code(enum outcome outcome)
{
	if (outcome_commits(outcome))
		return EX_OK;
	switch (outcome) {
	case OUTCOME_NOT_FOUND:
	case OUTCOME_GONE:
		return EX_NOINPUT;
	case OUTCOME_UNAVAILABLE:
		return EX_TEMPFAIL;
	case OUTCOME_INTERNAL:
		return EX_SOFTWARE;
	default:
		return EX_DATAERR;
	}
}

const char *manage_option(const struct manage *manage, const char *name)
{
	for (size_t i = 0; i < MANAGE_MAX_OPTIONS && manage->command->options[i].name != NULL; i++) {
		if (strcmp(manage->command->options[i].name, name) == 0)
			return manage->options[i];
	}
	assert(!"an option that the command does not list");
	return NULL;
}
