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

// A reason why a move is refused.
struct blocker {
	struct str resource; // "namespaces/default/configmaps/c1"; "" if it concerns the whole move
	const char *reason;  // "name-taken"
	struct str detail;
};

// One fault of a document, as Kubernetes describes faults.
struct problem_cause {
	const char *reason; // FieldValueRequired, FieldValueInvalid, …
	struct str field;   // "spec.size"; "" for the whole
	struct str message;
};

// Each request has one, in its struct call. The function that finds a fault fills it and replaces earlier content. Code decides
// by the outcome and by the other members, never by the text of detail.
struct problem {
	bool by_dialect;   // true: a dialect wrote it in its clients' words; false: the registry wrote it, and some dialects
	                   // reword it
	struct str detail; // what was wrong and what would be right: one sentence, without SQL and without another tenant's name
	struct problem_member members[PROBLEM_MAX_MEMBERS];
	size_t n_members;
	const struct blocker *blockers; // all of them, in the request's pool
	size_t n_blockers;
	const struct str *fields; // of a stale write: JSON Pointers to the members that differ, in the request's pool; NULL: not
	                          // known
	size_t n_fields;
	const struct problem_cause *causes; // of a bad document: each thing that is wrong with it, in the request's pool
	size_t n_causes;
	struct str faults; // if causes are given: detail without the words that name the document; p is NULL if there are no
	                   // causes
};

#endif
