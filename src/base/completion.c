// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/completion.h"

bool completion_wanted(int argc, char **argv, bool *describes)
{
	*describes = argc > 1 && strcmp(argv[1], "__describe") == 0;
	return *describes || (argc > 1 && strcmp(argv[1], "__complete") == 0);
}

void completion_offer(const struct completion *completion, struct str candidate, const char *help)
{
	if (!str_starts(candidate, completion->typed))
		return;
	if (completion->describes && help != NULL && help[0] != '\0')
		printf("%.*s\t%s\n", STR_ARG(candidate), help);
	else
		printf("%.*s\n", STR_ARG(candidate));
}

void completion_offer_options(const struct completion *completion, const struct option_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		completion_offer(completion, str_c(rows[i].name), rows[i].help);
}

void completion_offer_values(struct completion *completion, struct str takes, const struct completion_values *known)
{
	struct str value;

	for (const struct completion_values *row = known; row->word != NULL; row++) {
		if (str_eq_c(takes, row->word))
			takes = str_c(row->values);
	}
	completion->files = completion->files || str_eq(takes, STR("FILE"));
	if (str_find(takes, '|', 0) == takes.n)
		return;
	while (str_split(&takes, '|', &value)) {
		if (value.n > 0 && ascii_is_lower(value.p[0]))
			completion_offer(completion, value, NULL);
	}
}

const struct option_row *completion_option(const struct option_row *rows, size_t n, const char *typed)
{
	for (size_t i = 0; i < n; i++) {
		const char letter[] = { '-', rows[i].letter, '\0' };
		if (strcmp(rows[i].name, typed) == 0 || (rows[i].letter != 0 && strcmp(letter, typed) == 0))
			return &rows[i];
	}
	return NULL;
}

int completion_exit_code(const struct completion *completion)
{
	return completion->files ? COMPLETION_FILES : COMPLETION_WORDS;
}
