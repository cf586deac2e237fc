// SPDX-License-Identifier: Apache-2.0
// The description of a failed call; each dialect renders it in its clients' form.
#ifndef TENURE_BASE_PROBLEM_H
#define TENURE_BASE_PROBLEM_H

#include "base/outcome.h"
#include "base/str.h"

enum { PROBLEM_MAX_MEMBERS = 8 };

struct problem_member {
	const char *name; // "purge_at"
	struct str value;
};

// One reason why a call failed. subject depends on the outcome: for OUTCOME_BLOCKED the resource that blocks the move, else a
// field of the document.
struct problem_cause {
	const char *reason;  // a word for programs: "name-taken", "FieldValueRequired"
	struct str subject;  // "namespaces/default/configmaps/c1", "spec.size"; "" for the whole
	struct str message;
};

// Each request has one, in its struct call. The function that finds a fault fills it and replaces earlier content. Code decides
// by the outcome and by the other members, never by the text of detail.
struct problem {
	bool by_dialect;   // true: a dialect wrote it in its clients' words; false: the registry wrote it, and some dialects
	                   // reword it
	bool nothing_done; // of a change that failed with OUTCOME_UNAVAILABLE: it is certain that nothing of it was done, so a client may
	                   // repeat it. false: not certain, or the outcome says so anyway
	struct str detail; // what was wrong and what would be right: one sentence, without SQL and without another tenant's name
	struct problem_member members[PROBLEM_MAX_MEMBERS];
	size_t n_members;
	const struct str *fields; // of a stale write: JSON Pointers to the members that differ, in the request's pool; NULL: not
	                          // known
	size_t n_fields;
	const struct problem_cause *causes; // each thing that is wrong, in the request's pool
	size_t n_causes;
	struct str faults; // if causes are given: detail without the words that name the document; p is NULL if there are no
	                   // causes
};

#endif
