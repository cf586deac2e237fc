// SPDX-License-Identifier: Apache-2.0
// The built-in kinds: their form, their rules and special cases; names and labels of all objects.
#ifndef TENURE_API_SPACES_KINDS_KINDS_H
#define TENURE_API_SPACES_KINDS_KINDS_H

#include "api/spaces/common/spaces.h"

// ---- form.c

// Have the members of a built-in object's body the types that its kind requires? before: the stored body, NULL for a new object;
// what stays as it is stored is not refused. OUTCOME_OK; _BAD_DOCUMENT, answered as 422 Invalid with the paths of the faults.
enum outcome builtin_check_form(const struct change_of_object *change, const struct doc *body, const struct doc *before);
// Sets null in the body's maps of texts and of bytes to "", in the body itself, as Kubernetes reads it: else a client that writes
// back what it has read would change the object. before: the stored body, NULL for a new object; a map that is as it is stored is
// left alone. No other tree may share parts of body, which must have passed builtin_check_form().
void builtin_fill_maps(struct pool *pool, const struct definition *definition, struct doc *body, const struct doc *before);
// Sets the defaults of the body's kind, in the body itself: a secret is Opaque, a port TCP. No other tree may share its parts.
void builtin_set_defaults(struct pool *pool, const struct definition *definition, struct doc *body);

// Does a built-in object follow the rules of its kind, like those of the Kubernetes API server: ports in range, keys of the right
// form, containers in a pod? before: the stored body, NULL for a new object. A body that does not change is not checked, so that
// labels and finalizers of an object stored under other rules can be changed. meta, body: as they will be stored. OUTCOME_OK;
// _BAD_DOCUMENT, answered as 422 Invalid with the fields.
enum outcome builtin_check_rules(const struct change_of_object *change, const struct doc *before, const struct doc *meta,
	const struct doc *body);

// ---- scale.c: the part "scale" of an object

// The object in the form of a Scale.
struct doc *kind_scale(struct pool *pool, const struct target *target, const struct doc *object);
// The same as what a patch is applied to. Without a number of replicas in the object it has one that kind_scaled_body() refuses.
struct doc *kind_scale_to_patch(struct pool *pool, const struct target *target, const struct doc *object);
// The stored body with the changes of a Scale. OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome kind_scaled_body(const struct change_of_object *change, const struct doc *scale, const struct doc *stored,
	struct doc **body);

// ---- namespaces.c: the status of namespaces

// Appends the status for an answer, with a comma before it. body: the stored body.
void kind_add_namespace_status(struct pool *pool, const struct resource *resource, struct str body, struct buf *out);
// Checks the form of spec. OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome kind_read_namespace_spec(const struct change_of_object *change, const struct doc *body);
// Changes the client's body to what is stored: only the conditions are kept; other members must be valid. OUTCOME_OK, or
// _BAD_DOCUMENT with call->problem set.
enum outcome kind_read_namespace_status(const struct change_of_object *change, const struct resource *current,
	struct doc *body);

// ---- names.c: names and labels

// Adds the faults of the name of a new object of that type.
void check_name(const struct definition *definition, struct str name, struct field_faults *faults);
// Each of the next four adds the faults of the member of metadata that it is named for. before: the member as it is stored, which
// is of any kind; NULL: it is new. Labels, annotations and finalizers that are in it already are not looked at.
void check_labels(const struct doc *labels, const struct doc *before, struct field_faults *faults);
void check_annotations(const struct doc *annotations, const struct doc *before, struct field_faults *faults);
void check_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults);
void check_owners(const struct doc *owners, const struct doc *before, struct field_faults *faults);
// Adds a fault for each finalizer that is not in before: the object's deletion waits for those.
void check_new_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults);
// A name in pool: the prefix, shortened if necessary, and 5 random characters. That no object has it is likely, not certain.
struct str kind_generated_name(struct pool *pool, struct str prefix);

#endif
