// SPDX-License-Identifier: Apache-2.0
// Types: a resource is an instance of a type. A type is an identity: a group, a plural name, and whether its resources are in
// namespaces. Everything else about it, which may differ between tenants, is in definitions (registry/type/definition.h). Rows of
// table `types` are inserted by the schema and by tenure-manage (built-in types, registry/type/builtin_types.h), or by the first
// CustomResourceDefinition of that identity, and are never deleted while workers run, not even by `tenure-manage db reset`.
// Workers cache some thousands of them.
#ifndef TENURE_REGISTRY_TYPE_TYPE_H
#define TENURE_REGISTRY_TYPE_TYPE_H

#include "registry/core/model.h"

// Returns the type of that identity; NULL: there is none, or the statement failed. It is valid until the end of the request, a
// built-in one as long as the registry. May read the database.
const struct type *type_find(struct registry *registry, struct str group, struct str plural, bool namespaced);
// Makes sure that there is a custom type of this identity, with like's other names if it is new. Call it in a transaction that
// writes. OUTCOME_OK, or that of a failed statement.
enum outcome type_ensure(struct registry *registry, const struct type *like);
// Returns the custom type of that name if the tenant has or had resources of it, even if no definition serves the type any more.
// anywhere: the other value of namespaced will do, too. NULL: there is none, whatever other tenants have; or a statement failed.
const struct type *type_kept(struct registry *registry, struct str tenant, struct str group, struct str plural,
	bool namespaced, bool anywhere);
// The name of the type in addresses: the plural for a built-in type ("configmaps"), else plural and group
// ("widgets.example.com"). It is "nodes.core" for the nodes of the cluster.
struct str type_name(struct pool *pool, const struct type *type);
// The parts of a built-in type beyond its names (types/common/parts.h). Never NULL: for a custom type, no part is set.
const struct type_parts *type_parts(const struct type *type);
// Returns the type with these rules. NULL: the database has no such type.
const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules);
// Returns the type with that id; NULL: there is none, or the statement failed. Code that needs the type of a resource calls
// type_of_resource() (registry/type/stored_type.h).
const struct type *type_by_id(struct registry *registry, uint64_t id);
// For the change log, where a change is shown without its type if there is none: *type is the one with that id, or NULL.
// OUTCOME_OK, or that of a failed statement.
enum outcome type_look_up(struct registry *registry, uint64_t id, const struct type **type);
// The types "namespaces" and "customresourcedefinitions".
const struct type *type_namespaces(struct registry *registry);
const struct type *type_definitions(struct registry *registry);

// The cache of types, for registry.c. rules: all rules there are; ends with NULL, and must outlive the cache. NULL: no memory.
struct types *types_new(const struct type_rules *const *rules);
void types_free(struct types **types);
// Between requests: drops the custom types from the cache if there are too many. Returns true if it did.
bool types_forget(struct types *types);
// Have the built-in types been read?
bool types_loaded(const struct types *types);
// Reads them. OUTCOME_OK; _INTERNAL: the schema lacks one that the registry needs; or that of a failed statement.
enum outcome types_load(struct registry *registry);

#endif
