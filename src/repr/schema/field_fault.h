// SPDX-License-Identifier: Apache-2.0
// Faults of an object: which field is wrong and why, in the words of the Kubernetes API, because clients show these words and
// programs evaluate the reasons.
#ifndef TENURE_REPR_SCHEMA_FIELD_FAULT_H
#define TENURE_REPR_SCHEMA_FIELD_FAULT_H

#include "repr/json/doc.h"

// ---- where

enum field_step { FIELD_NAME, FIELD_KEY, FIELD_INDEX };

// A path, linked from its end to its beginning, and made on the stack while code walks down a document. The root has an empty
// name.
struct field_path {
	const struct field_path *up; // NULL: the beginning
	enum field_step step;
	struct str name;             // of FIELD_NAME and FIELD_KEY
	size_t index;
};

// "up.name", "up[key]", "up[3]".
struct field_path field_name(const struct field_path *up, struct str name);
struct field_path field_key(const struct field_path *up, struct str key);
struct field_path field_index(const struct field_path *up, size_t index);
struct str field_path_text(struct pool *pool, const struct field_path *at);

// ---- what

enum field_reason {
	FIELD_NOT_FOUND, FIELD_REQUIRED, FIELD_DUPLICATE, FIELD_INVALID, FIELD_NOT_SUPPORTED, FIELD_FORBIDDEN,
	FIELD_TOO_LONG, FIELD_TOO_MANY, FIELD_INTERNAL, FIELD_TYPE_INVALID
};
// The name of the reason in a cause: "FieldValueRequired".
const char *field_reason_name(enum field_reason reason);

struct field_fault {
	struct str field;   // "spec.size"
	enum field_reason reason;
	struct str message; // "Invalid value: -1: must not be negative"
};

enum { FIELD_FAULTS_MAX = 100 };

// Faults in the order in which they were found: n of them, of which the first FIELD_FAULTS_MAX are listed.
struct field_faults {
	struct pool *pool;
	struct field_fault *list;
	size_t n;
};

struct field_faults field_faults_new(struct pool *pool);
// How many are listed.
size_t field_faults_listed(const struct field_faults *faults);
// All listed faults as one text: "spec.size: Required value", or "[…, …]" if there are several.
struct str field_faults_text(struct pool *pool, const struct field_faults *faults);

// Is the list full? Then this counts one more fault, and the caller need not make its text.
bool field_fault_skips(struct field_faults *faults);
// Adds a fault. shown: the value as the message shows it, STR_NONE: none; format "": no detail.
void field_fault_add(struct field_faults *faults, const struct field_path *at, enum field_reason reason,
	struct str shown, const char *format, ...) PRINTF_LIKE(5, 6);
// A value as messages show it: a string in quotes, all else as JSON, cut to a readable length.
struct str field_shown(struct pool *pool, const struct doc *value);
struct str field_shown_text(struct pool *pool, struct str text);

// Shorthands for the usual faults. detail: "must not be empty".
void field_required(struct field_faults *faults, const struct field_path *at, const char *detail);
void field_forbidden(struct field_faults *faults, const struct field_path *at, const char *detail);
void field_invalid(struct field_faults *faults, const struct field_path *at, const struct doc *value,
	const char *detail);
void field_invalid_text(struct field_faults *faults, const struct field_path *at, struct str value, const char *detail);
void field_duplicate(struct field_faults *faults, const struct field_path *at, const struct doc *value);
// supported: ends with NULL.
void field_not_supported(struct field_faults *faults, const struct field_path *at, struct str value,
	const char *const *supported);

#endif
