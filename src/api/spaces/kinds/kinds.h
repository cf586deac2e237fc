// SPDX-License-Identifier: Apache-2.0
// The built-in kinds: form, rules, and what is special about some. Names and labels of all.
#ifndef TENURE_API_SPACES_KINDS_KINDS_H
#define TENURE_API_SPACES_KINDS_KINDS_H

#include "api/spaces/common/spaces.h"

// ---- kinds/form.c

// Are the members of a built-in object's body of the types that its kind gives them? OUTCOME_OK; _BAD_DOCUMENT, told as
// 422 Invalid, with their paths.
enum outcome check_builtin_form(const struct change_of_object *change, const struct doc *body);
// The body, or a copy, with what such an object is where its writer said nothing: a secret Opaque, a port TCP.
struct doc *fill_builtin(struct pool *pool, const struct definition *definition, struct doc *body);

// ---- kinds/rules.c

// Does a built-in object say what its kind has to, as the Kubernetes API server asks: ports in range, keys of the right
// form, containers in a pod? before: the stored body, NULL for a new object; a body that does not change is not looked at,
// so that labels and finalizers of what was stored by other rules can change. meta, body: as they are to be stored.
// OUTCOME_OK; _BAD_DOCUMENT, told as 422 Invalid, with the fields.
enum outcome check_builtin_rules(const struct change_of_object *change, const struct doc *before, const struct doc *meta,
	const struct doc *body);

// ---- scale.c: the part of that name

// An object as a Scale.
struct doc *scale_of(struct pool *pool, const struct target *target, const struct doc *object);
// The stored body with what a changed Scale wants. OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome scaled_body(const struct change_of_object *change, const struct doc *scale, const struct doc *stored,
	struct doc **body);

// ---- namespaces.c: their status

// From the stored body to what is told, with a comma before it.
void add_namespace_status(struct pool *pool, const struct resource *resource, struct str body, struct buf *out);
// Is its spec of the right form? OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome read_namespace_spec(const struct change_of_object *change, const struct doc *body);
// From what came to what is stored: the conditions; what else it says has to be right.
// OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome read_namespace_status(const struct change_of_object *change, const struct resource *current,
	struct doc *body);

// ---- names.c: names and labels as this API has them

// Adds what is wrong with the name of a new object.
void check_name(const struct definition *definition, struct str name, struct field_faults *faults);
// Each adds what is wrong with text, which stands at that path: [a-z0-9]([-a-z0-9]*[a-z0-9])? of up to 63 characters; the
// same beginning with a letter; such parts with dots between them, up to 253 characters.
void check_dns_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_1035_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_subdomain(struct str text, const struct field_path *at, struct field_faults *faults);
// An object of labels at any path; labels may be NULL. check_labels: metadata.labels.
void check_label_map(const struct doc *labels, const struct field_path *at, struct field_faults *faults);
void check_labels(const struct doc *labels, struct field_faults *faults);
void check_annotations(const struct doc *annotations, struct field_faults *faults);
// before: those of an object that only waits for them, which get no more; else NULL.
void check_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults);
void check_owners(const struct doc *owners, struct field_faults *faults);
// "name", "example.com/name": of labels, annotations, finalizers.
bool is_label_key(struct str key);
// A name that begins so and that nobody has.
struct str generated_name(struct pool *pool, struct str prefix);

#endif
