// SPDX-License-Identifier: Apache-2.0
// Checks resources whose rows were written without resource_write(), as `tenure-manage restore` does.
#ifndef TENURE_REGISTRY_RESOURCE_VERIFY_H
#define TENURE_REGISTRY_RESOURCE_VERIFY_H

#include "registry/type/rules.h"

// Could resource_write() have stored the resource as it is? It looks at the definition that serves the type in the tenant, at the
// namespace (but not whether that exists), the size and depth of the document, its metadata, and at the type's rules or schema.
// What depends on a change, or on the state of other resources, is not checked. Call it inside a transaction that writes, in
// which the tenant and its definitions are visible. The caller sets all members of resource that a row has; meta and body must be
// JSON objects.
// strict: also check the kinds of members of metadata, and the schema of a custom type. *relations: the lookup keys and the root
// that belong to the body, if OUTCOME_OK; none of a type without rules.
// OUTCOME_OK; OUTCOME_BAD_DOCUMENT, and registry->problem says what is wrong; or that of a failed statement.
enum outcome resource_verify(struct registry *registry, const struct resource *resource, bool strict, struct relations *relations);

#endif
