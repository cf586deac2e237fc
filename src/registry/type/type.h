// SPDX-License-Identifier: Apache-2.0
// Types: what a resource can be an instance of. A type is an identity: a group, a plural name, and whether its resources
// stand in namespaces; what it is besides, for each tenant, say definitions (registry/type/definition.h). Rows come with the
// schema (built-in types) or with the first CustomResourceDefinition of a name, and stay. Workers hold some thousands of those that they have read.
#ifndef TENURE_REGISTRY_TYPE_TYPE_H
#define TENURE_REGISTRY_TYPE_TYPE_H

#include "registry/core/model.h"

// The type of that name; NULL: there is none, or the database doesn't answer. It lives until the request's end; a built-in
// one as long as the registry.
const struct type *type_find(struct registry *registry, struct str group, struct str plural, bool namespaced);
// The same, made when there is none: for custom types only, in a transaction that writes. OUTCOME_OK.
enum outcome type_ensure(struct registry *registry, const struct type *like, const struct type **type);
// The custom type of that name of which the tenant has or had resources, though no definition of it may answer any more;
// that of resources in namespaces, or without, or (anywhere) whichever it is. NULL: none, whatever other tenants have.
const struct type *type_kept(struct registry *registry, struct str tenant, struct str group, struct str plural,
	bool namespaced, bool anywhere);
// What it is called in addresses: "configmaps", where a built-in one is found by that alone; "widgets.example.com", also
// where another type of the tenant has that plural, or none is defined any more; "nodes.core".
struct str type_name(struct pool *pool, const struct type *type);
// What a built-in type is beyond its names (types/common/parts.h). Never NULL: of a custom one, nothing.
const struct type_parts *type_parts(const struct type *type);
// The type that has these rules.
const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules);
// By its row's id. NULL: there is none, or the database doesn't answer. For the change log, where a change whose type can't
// be found is told without it; what needs the type of a resource takes type_of_resource() (registry/core/stored.h).
const struct type *type_by_id(struct registry *registry, uint64_t id);
// The type of namespaces themselves, and that of CustomResourceDefinitions.
const struct type *type_namespaces(struct registry *registry);
const struct type *type_definitions(struct registry *registry);

// For registry.c. rules: of all types that have some; ends with NULL.
struct types *types_new(const struct type_rules *const *rules);
void types_free(struct types **types);
// Between requests: forgets custom types when there are too many. True: it did.
bool types_forget(struct types *types);
bool types_loaded(const struct types *types);
enum outcome types_load(struct registry *registry);

#endif
