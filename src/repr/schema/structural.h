// SPDX-License-Identifier: Apache-2.0
// Structural schemas: the schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1), and ours of built-in kinds,
// written in the same way. What is asked of a schema, what it asks of an object, what is pruned and what defaults are
// filled in is as Kubernetes has it, and so are the words for what is wrong.
//
// A schema is OpenAPI v3 of which any member says one of three things: which members an object has (type, properties,
// items, additionalProperties, nullable, x-kubernetes-*, default), what their values are like (everything else), or
// nothing (title, description, example, …, and what is not known). allOf, anyOf, oneOf and not hold the second only.
//
// Everything here may be written by strangers: patterns are matched in bounded time (base/regexp/regexp.h), and so is every
// check as a whole; it recurses as deep as the schema and the object, whose depth was limited when they were read.
#ifndef TENURE_REPR_SCHEMA_STRUCTURAL_H
#define TENURE_REPR_SCHEMA_STRUCTURAL_H

#include "repr/schema/field_fault.h"

struct structural; // a schema as read; nothing changes it

// Reads a schema, the object below openAPIV3Schema; at is its path in what it stands in. Lives in pool and keeps
// nothing of the document. What is malformed is told: members of another type, types and bounds that don't exist,
// patterns that are none or all in all too large, and what CustomResourceDefinitions must not use ($ref, definitions …).
// NULL: faults were added.
const struct structural *structural_read(struct pool *pool, const struct doc *schema, const struct field_path *at,
	struct field_faults *faults);
// Is it structural? Is each default one that the schema allows and doesn't prune? Adds what isn't.
// A schema that was read can be validated against either way; only a structural one can prune and fill in defaults.
void structural_check(const struct structural *schema, const struct field_path *at, struct field_faults *faults);
// Has it a default anywhere? (Not allowed in v1beta1 unless what is unknown is pruned.)
bool structural_has_defaults(const struct structural *schema);

// ---- objects; the root is the whole object with apiVersion, kind and metadata

// Adds what of the object the schema doesn't allow, with paths from the object on ("spec.size"). Formats that are
// checked: date-time, date, duration, byte, int32, int64, float, uuid and uuid3 to 5, ipv4, ipv6, cidr, mac, hostname,
// email, uri, hexcolor, bsonobjectid; any other is a remark. Formats of strings bind strings, those of numbers numbers.
// An object that would take too long is refused, with a fault that says so.
void structural_validate(const struct structural *schema, const struct doc *object, struct field_faults *faults);

// Removes from object, in place, the members that the schema neither names nor lets through; apiVersion, kind and
// metadata of the root and of embedded resources stay as they are. Returns how many went.
size_t structural_prune(const struct structural *schema, struct doc *object);
// Adds those members as faults, and changes nothing.
void structural_unknown(const struct structural *schema, const struct doc *object, struct field_faults *faults);
// Fills in, in place, the defaults of members that are missing, or null where that is not allowed; a null that is not
// allowed goes where there is no default. The object then has at most max_nodes values: defaults within defaults
// multiply (0: no limit, for our own schemas).
// False: it would have more; then it is half filled in.
bool structural_default(const struct structural *schema, struct doc *object, size_t max_nodes);

#endif
