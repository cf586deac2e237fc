// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/outcome.h"

static const struct {
	const char *name;
	int status;
	const char *title;
} outcomes[] = {
#define OUTCOME(name, status, title) [OUTCOME_##name] = { #name, status, title },
#include "base/outcome.def"
#undef OUTCOME
};

int outcome_status(enum outcome outcome)
{
	assert(outcome < OUTCOME__COUNT);
	return outcomes[outcome].status;
}

const char *outcome_title(enum outcome outcome)
{
	assert(outcome < OUTCOME__COUNT);
	return outcomes[outcome].title;
}

const char *outcome_name(enum outcome outcome)
{
	// Derived from the enum's names on first use, because the preprocessor can't convert to lower case.
	static char names[OUTCOME__COUNT][32];

	assert(outcome < OUTCOME__COUNT);
	char *name = names[outcome];
	if (name[0] == '\0') {
		const char *from = outcomes[outcome].name;

		assert(strlen(from) < sizeof(names[0]));
		for (size_t i = 0; from[i] != '\0'; i++)
			name[i] = (char)(from[i] == '_' ? '-' : from[i] + ('a' - 'A'));
	}
	return name;
}

bool outcome_commits(enum outcome outcome)
{
	return outcome_status(outcome) < 400;
}
