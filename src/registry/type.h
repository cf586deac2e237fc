// SPDX-License-Identifier: Apache-2.0
// The catalogue of types: what a resource can be an instance of. Read once per worker.
#ifndef TENURE_REGISTRY_TYPE_H
#define TENURE_REGISTRY_TYPE_H

#include "registry/registry.h"

struct type_rules; // registry/rules.h

struct type {
	uint64_t id;
	struct str group; // "" for the core group
	struct str version, kind, plural, singular;
	bool namespaced; // its resources stand in a namespace
	const struct type_rules *rules; // NULL: none
};

// By plural name: "configmaps" in the core group, else the one type that has it in another; "nodes.baremetal.openstack.org"
// exactly. NULL when there is no such type. On a miss the catalogue is read again, at most once a second. The type lives as
// long as the registry.
const struct type *type_find(struct registry *registry, struct str plural);
// The type that has these rules.
const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules);
// By the row's id; NULL when unknown.
const struct type *type_by_id(struct registry *registry, uint64_t id);
// The type of namespaces themselves.
const struct type *type_namespaces(struct registry *registry);

// For registry.c.
struct types *types_new(void);
void types_free(struct types **types);
bool types_loaded(const struct types *types);
enum outcome types_load(struct registry *registry);

#endif
