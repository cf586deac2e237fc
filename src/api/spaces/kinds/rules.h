// SPDX-License-Identifier: Apache-2.0
// For builtin_rules*.c only: what the rules of built-in kinds have in common.
//
// The rules and their words are those of the Kubernetes API server (pkg/apis/core/validation), so that a client that knows
// what to do about its answers knows what to do about these. A value whose type is wrong never comes here: kinds/form.c
// refuses it first.
#ifndef TENURE_API_SPACES_KINDS_RULES_H
#define TENURE_API_SPACES_KINDS_RULES_H

#include "base/pool.h"
#include "registry/core/failure.h"
#include "repr/schema/field_fault.h"

// ---- reading. object may be NULL or of any kind.

// The member; NULL where there is none, or null.
const struct doc *rule_member(const struct doc *object, const char *name);
// The member's text; "" where it is not there or no string.
struct str rule_text(const struct doc *object, const char *name);
// The member's integer. False: it is not there, or is no integer of 64 bits.
bool rule_integer(const struct doc *object, const char *name, int64_t *value);

// ---- checks of one value. Each adds what is wrong to faults; at: the value's path.

// A port's number, 1 to 65535.
void check_port_number(struct field_faults *faults, const struct field_path *at, int64_t port);
// A port's name (IANA_SVC_NAME): up to 15 of a-z, 0-9 and single hyphens between them, a letter among them.
void check_port_name(struct field_faults *faults, const struct field_path *at, struct str name);
// A port by number or name; value NULL or 0: nothing is said.
void check_port_or_name(struct field_faults *faults, const struct field_path *at, const struct doc *value);
// The member of object by that name is one of supported (ends with NULL), or is not there.
void check_one_of(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name,
	const char *const *supported);
// TCP, UDP or SCTP, or nothing.
void check_protocol(struct field_faults *faults, const struct field_path *up, const struct doc *object);
// The member is there, and is not empty.
void check_required(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name);
// An IPv4 or IPv6 address.
void check_ip(struct field_faults *faults, const struct field_path *at, struct str address);
// A quantity such as "500m" or 2; *number: its value. False: it is none, and that has been added to faults.
bool check_quantity(struct field_faults *faults, const struct field_path *at, const struct doc *value, long double *number);

// ---- lists of names. Their cost grows as n log n: a client decides how long a list is.

// The member by that name of each element of list that is an object, "" where it has none; doc_length(list) of them.
struct str *rule_texts(struct pool *pool, const struct doc *list, const char *name);
// flags[i]: texts[i] is not empty and equals one before it.
const bool *repeated_texts(struct pool *pool, const struct str *texts, size_t n);
// For has_text: a sorted copy.
const struct str *sorted_texts(struct pool *pool, const struct str *texts, size_t n);
bool has_text(const struct str *sorted, size_t n, struct str text);

// ---- kinds/rules_pods.c, kinds/rules_services.c

void check_pod_spec(struct field_faults *faults, const struct field_path *at, const struct doc *spec);
// body: the object without its metadata. before: the body it had; NULL: it is new.
void check_service(struct field_faults *faults, const struct doc *before, const struct doc *body);

#endif
