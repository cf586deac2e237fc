// SPDX-License-Identifier: Apache-2.0
// The ways in which a call can end: the rows of outcome.def as an enum, and the HTTP status, title and name of each.
#ifndef TENURE_BASE_OUTCOME_H
#define TENURE_BASE_OUTCOME_H

#include "base/base.h"

enum outcome {
#define OUTCOME(name, status, title) OUTCOME_##name,
#include "base/outcome.def"
#undef OUTCOME
	OUTCOME__COUNT
};

// HTTP status, 200 to 599.
int outcome_status(enum outcome outcome);
// A short text for people: the title of a problem document.
const char *outcome_title(enum outcome outcome);
// A word for machines and logs: lower case, words joined by '-', such as "name-taken".
const char *outcome_name(enum outcome outcome);
// Does a transaction that ends with this outcome commit (status below 400) or roll back?
bool outcome_commits(enum outcome outcome);

#endif
