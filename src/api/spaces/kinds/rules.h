// SPDX-License-Identifier: Apache-2.0
// For rules*.c only: functions for the rules of built-in kinds.
//
// The rules and the texts of their errors are those of the Kubernetes API server (pkg/apis/core/validation), so that clients
// which know its answers understand these. Values of a wrong type never get here: form.c refuses them before.
#ifndef TENURE_API_SPACES_KINDS_RULES_H
#define TENURE_API_SPACES_KINDS_RULES_H

#include "base/pool.h"
#include "registry/core/failure.h"
#include "repr/schema/field_fault.h"

// ---- reading members. object may be NULL or a value of any type.

// The member; NULL if it is absent or null.
const struct doc *rule_member(const struct doc *object, const char *name);
// The member's text; "" if it is absent or not a string.
struct str rule_text(const struct doc *object, const char *name);
// The member's integer. False if it is absent or not an integer of 64 bits.
bool rule_integer(const struct doc *object, const char *name, int64_t *value);

// ---- checks of one value. Each adds the faults that it finds to faults; at: the value's path.

// A port's number, 1 to 65535.
void check_port_number(struct field_faults *faults, const struct field_path *at, int64_t port);
// A port's name (IANA_SVC_NAME): at most 15 characters a-z, 0-9 and single hyphens between them, at least one letter.
void check_port_name(struct field_faults *faults, const struct field_path *at, struct str name);
// A port by number or name. value NULL or 0: not set, which is no fault.
void check_port_or_name(struct field_faults *faults, const struct field_path *at, const struct doc *value);
// The member of object by that name must be absent or one of supported, which ends with NULL.
void check_one_of(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name,
	const char *const *supported);
// The protocol must be absent, TCP, UDP or SCTP.
void check_protocol(struct field_faults *faults, const struct field_path *up, const struct doc *object);
// The member must be there and not be empty.
void check_required(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name);
// An IPv4 or IPv6 address.
void check_ip(struct field_faults *faults, const struct field_path *at, struct str address);
// A quantity such as "500m" or 2; *number: its value. False: it is not a quantity; the fault was added.
bool check_quantity(struct field_faults *faults, const struct field_path *at, const struct doc *value, long double *number);

// ---- lists of names. Their cost grows as n log n, because clients choose the length of lists.

// The text of the member `name` of each element of list; "" if an element has none. The array has doc_length(list) texts.
struct str *rule_texts(struct pool *pool, const struct doc *list, const char *name);
// Returns flags: flags[i] is true if texts[i] is not empty and equals an earlier text.
const bool *repeated_texts(struct pool *pool, const struct str *texts, size_t n);
// A sorted copy, for has_text().
const struct str *sorted_texts(struct pool *pool, const struct str *texts, size_t n);
bool has_text(const struct str *sorted, size_t n, struct str text);

// ---- rules_pods.c, rules_services.c

void check_pod_spec(struct field_faults *faults, const struct field_path *at, const struct doc *spec);
// body: the object without its metadata. before: the stored body; NULL: the object is new.
void check_service(struct field_faults *faults, const struct doc *before, const struct doc *body);

#endif
