// SPDX-License-Identifier: Apache-2.0
// For the files definition*.c, and registry.c, only.
#ifndef TENURE_REGISTRY_DEFINITION_INTERNAL_H
#define TENURE_REGISTRY_DEFINITION_INTERNAL_H

#include "registry/definition.h"
#include "registry/internal.h"
#include "repr/field_fault.h"

struct builtin {
	const char *group, *plural;
	struct definition definition; // type, names and tenant_verbs may be left out
};
extern const struct builtin builtins[];
extern const size_t n_builtins;

// What a stored CustomResourceDefinition says; lives in pool. False: nothing that answers for anybody (its names were not
// accepted, or it is none).
bool definition_read(struct registry *registry, struct pool *pool, const struct resource *resource,
	struct definition *definition);
// Has a definition's metadata the label of forced sharing?
bool definition_is_forced(struct pool *pool, struct str meta);
// Is a tenant with these annotations in the range?
bool definition_in_range(const struct doc *range, const struct doc *annotations);

// OUTCOME_BAD_DOCUMENT with the faults as causes. what: "Widget \"w1\"".
enum outcome fail_faults(struct registry *registry, struct str what, const struct field_faults *faults);

#endif
