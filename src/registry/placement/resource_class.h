// SPDX-License-Identifier: Apache-2.0
// Classes of resources: what inventories count. The standard ones are there from the beginning and stay; custom ones
// are named CUSTOM_….
#ifndef TENURE_REGISTRY_PLACEMENT_RESOURCE_CLASS_H
#define TENURE_REGISTRY_PLACEMENT_RESOURCE_CLASS_H

#include "registry/core/context.h"

enum { RESOURCE_CLASS_MAX_NAME = 255, RESOURCE_CLASS_MIN_CUSTOM = 10000 /* the first id of a custom one */ };

struct resource_class {
	uint64_t id;
	struct str name;
	int64_t updated_us; // a standard one's: when the schema was loaded
};

// CUSTOM_ and at least one of A-Z 0-9 _; 255 at most.
bool resource_class_is_custom(struct str name);

// In order of id. OUTCOME_OK.
enum outcome resource_class_list(struct registry *registry, struct resource_class **list, size_t *n);
// OUTCOME_OK, _NOT_FOUND.
enum outcome resource_class_get(struct registry *registry, struct str name, struct resource_class *class);
// name has to be a custom one's. OUTCOME_CREATED; _OK: it was there.
enum outcome resource_class_put(struct registry *registry, struct str name, struct resource_class *class);
// OUTCOME_CREATED; _CONFLICT "Conflicting resource class already exists: …".
enum outcome resource_class_create(struct registry *registry, struct str name, struct resource_class *class);
// to has to be a custom one's. OUTCOME_OK, *class as it is now; _NOT_FOUND, _BAD_PARAMETER (name is a standard one's),
// _CONFLICT (to is taken).
enum outcome resource_class_rename(struct registry *registry, struct str name, struct str to,
	struct resource_class *class);
// OUTCOME_NO_CONTENT; _NOT_FOUND, _BAD_PARAMETER (a standard one), _CONFLICT (a provider has inventory of it). Deleted
// ones, and those of deleted tenants, do not count, unless somebody uses it: for them it is hidden (catalogue.h).
enum outcome resource_class_delete(struct registry *registry, struct str name);

#endif
