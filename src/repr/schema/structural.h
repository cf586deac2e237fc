// SPDX-License-Identifier: Apache-2.0
// Structural schemas: the schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1), and those of built-in kinds, written
// in the same way. Checks of a schema, validation of objects, pruning, defaults, and the texts of faults are those of
// Kubernetes.
//
// A schema is OpenAPI v3. Each of its members belongs to one of three groups: it says which members an object has (type,
// properties, items, additionalProperties, nullable, x-kubernetes-*, default); or it restricts values (everything else); or it
// has no effect (title, description, example, …, and unknown ones). allOf, anyOf, oneOf and not may only restrict values.
//
// Clients write both schemas and objects. So patterns are matched in bounded time (base/regexp/regexp.h), and each check as a
// whole is bounded. It recurses as deep as schema and object, whose depth was limited when they were parsed.
#ifndef TENURE_REPR_SCHEMA_STRUCTURAL_H
#define TENURE_REPR_SCHEMA_STRUCTURAL_H

#include "repr/schema/field_fault.h"

struct structural; // a schema as read; never changes

// Reads a schema, the object below openAPIV3Schema; at is its path in its document. It lives in pool and keeps no pointer into
// the document. Faults are members of a wrong type, unknown types and bounds, patterns that are invalid or too large together,
// and what CustomResourceDefinitions must not use ($ref, definitions …). NULL: faults were added.
const struct structural *structural_read(struct pool *pool, const struct doc *schema, const struct field_path *at,
	struct field_faults *faults);
// Adds faults if the schema is not structural, or if a default does not fit the schema or would be pruned. Any schema that was
// read can validate objects, but only a structural one can prune and fill in defaults.
//
// STRUCTURAL_OLD_RULES: without the rules that Tenure has had only since 0.1.0, which a schema from before may break: the keys of a
// map are required or have a default, are not nullable and not listed twice; items of sets and maps are not nullable; a default
// has no apiVersion, kind or metadata that would be pruned.
enum structural_rules { STRUCTURAL_ALL_RULES, STRUCTURAL_OLD_RULES };
void structural_check(const struct structural *schema, const struct field_path *at, enum structural_rules rules,
	struct field_faults *faults);
// Does it have a default anywhere, or a member x-kubernetes-* that has an effect? Only a structural schema may.
bool structural_has_defaults(const struct structural *schema);
bool structural_has_extensions(const struct structural *schema);

// ---- objects; the root is the whole object with apiVersion, kind and metadata

// Adds a fault for each part of the object that the schema does not allow, with paths from the object's root ("spec.size"). The
// formats date-time, date, duration, byte, int32, int64, float, uuid, uuid3 to uuid5, ipv4, ipv6, cidr, mac, hostname, email,
// uri, hexcolor and bsonobjectid are checked; any other has no effect. An object whose check would take too long is refused
// with a fault that says so.
void structural_validate(const struct structural *schema, const struct doc *object, struct field_faults *faults);

// Removes members that the schema does not know from object, in place. apiVersion, kind and metadata of the root and of
// embedded resources stay. Returns how many members were removed.
size_t structural_prune(const struct structural *schema, struct doc *object);
// Adds a fault for each such member, and changes nothing.
void structural_unknown(const struct structural *schema, const struct doc *object, struct field_faults *faults);
// Fills in defaults, in place, for members that are missing, or null where null is not allowed. A null that is not allowed is
// removed if there is no default. Since defaults within defaults multiply, the object may have at most max_nodes values
// afterwards (0: no limit, for our own schemas). False: it would have more; then it is only partly filled in.
bool structural_default(const struct structural *schema, struct doc *object, size_t max_nodes);

#endif
