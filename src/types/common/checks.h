// SPDX-License-Identifier: Apache-2.0
// Checks that several types share.
//
// The rules and the texts of their errors are those of the Kubernetes API server (pkg/apis/core/validation), so that clients
// which know its answers understand these. Values of a wrong type never get here: the form of an object
// (fields.h) is checked before.
#ifndef TENURE_TYPES_COMMON_CHECKS_H
#define TENURE_TYPES_COMMON_CHECKS_H

#include "base/pool.h"
#include "repr/json/doc.h"
#include "repr/schema/field_fault.h"

// ---- reading members. object may be NULL or a value of any type.

// The member; NULL if it is absent or null.
const struct doc *check_object_member(const struct doc *object, const char *name);
// The member's text; "" if it is absent or not a string.
struct str check_object_text(const struct doc *object, const char *name);
// The member's integer. False if it is absent or not an integer of 64 bits.
bool check_object_integer(const struct doc *object, const char *name, int64_t *value);

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
// Reads a quantity, such as "500m" or 2. False: it is not a quantity, and must have this form.
#define QUANTITY_FORM "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
bool check_read_quantity(struct pool *pool, const struct doc *value, long double *number);
// The same; if it is not a quantity, a fault is added.
bool check_quantity(struct field_faults *faults, const struct field_path *at, const struct doc *value, long double *number);

// ---- lists of names. Their cost grows as n log n, because clients choose the length of lists.

// The text of the member `name` of each element of list; "" if an element has none. The array has doc_length(list) texts.
struct str *check_object_texts(struct pool *pool, const struct doc *list, const char *name);
// Returns flags: flags[i] is true if texts[i] is not empty and equals an earlier text.
const bool *check_repeated_texts(struct pool *pool, const struct str *texts, size_t n);
// A sorted copy, for check_has_text().
const struct str *check_sorted_texts(struct pool *pool, const struct str *texts, size_t n);
bool check_has_text(const struct str *sorted, size_t n, struct str text);

// ---- names.c: names and labels

// Each adds a fault if text, which is at that path, is not valid. A label is [a-z0-9]([-a-z0-9]*[a-z0-9])? of at most 63
// characters. A 1035 label begins with a letter. A subdomain consists of labels with dots between them, at most 253 characters.
void check_dns_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_1035_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_subdomain(struct str text, const struct field_path *at, struct field_faults *faults);
// Checks an object of labels at that path; labels may be NULL.
void check_label_map(const struct doc *labels, const struct field_path *at, struct field_faults *faults);
// The text of the fault for a key of a wrong form.
#define LABEL_KEY_FORM \
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " \
	"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
// Is it "name" or "example.com/name", the form of keys of labels, annotations and finalizers?
bool kind_is_label_key(struct str key);
// The same for keys of annotations, whose prefix may also have capital letters.
bool check_is_label_key_of_any_case(struct str key);
// Adds a fault if the key is too long, or if !good, which means that its form is wrong.
void check_label_key(struct str key, bool good, const struct field_path *at, struct field_faults *faults);

// ---- data.c: keys and values of config maps and secrets

// Checks a key of data; up is the path of data.
void check_data_key(struct field_faults *faults, const struct field_path *up, struct str key);
// Adds a fault if bytes is more than an object may have.
void check_data_size(struct field_faults *faults, const struct field_path *at, size_t bytes);
// For an object with "immutable": true before: it must still have that, and the members of these names (ends with NULL) must be
// equal.
void check_data_kept(struct field_faults *faults, const struct doc *before, const struct doc *after, const char *const *members);

#endif
