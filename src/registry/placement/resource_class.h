// SPDX-License-Identifier: Apache-2.0
// Classes of resources: what inventories count. Standard classes come with the schema and are never deleted; the names of
// custom ones begin with CUSTOM_.
#ifndef TENURE_REGISTRY_PLACEMENT_RESOURCE_CLASS_H
#define TENURE_REGISTRY_PLACEMENT_RESOURCE_CLASS_H

#include "registry/core/context.h"

enum { RESOURCE_CLASS_MAX_NAME = 255, RESOURCE_CLASS_MIN_CUSTOM = 10000 /* the first id of a custom one */ };

struct resource_class {
	uint64_t id;
	struct str name;
	int64_t updated_us; // of a standard one: when the schema was loaded
};

// Is it CUSTOM_ with at least one of A-Z, 0-9 and _ behind it, 255 characters at most?
bool resource_class_is_custom(struct str name);

// Takes one class of a list. Its name, and what the function allocates from pool, are freed when it returns. The function must
// not read or write the registry.
struct resource_class_taker {
	void (*take)(void *arg, const struct resource_class *class, struct pool *pool);
	void *arg;
};
// Gives all classes in order of their ids. OUTCOME_OK, or that of a failed statement.
enum outcome resource_class_list(struct registry *registry, const struct resource_class_taker *taker);
// Finds a class by its name. OUTCOME_OK, _NOT_FOUND.
enum outcome resource_class_get(struct registry *registry, struct str name, struct resource_class *class);
// Creates a custom class unless it exists. OUTCOME_CREATED; _OK: it exists; _BAD_PARAMETER: not a custom name.
enum outcome resource_class_put(struct registry *registry, struct str name, struct resource_class *class);
// Creates a custom class. OUTCOME_CREATED; _BAD_PARAMETER; _CONFLICT "Conflicting resource class already exists: …".
enum outcome resource_class_create(struct registry *registry, struct str name, struct resource_class *class);
// Renames a custom class; to must be a custom name, too. OUTCOME_OK, and *class is the class afterwards; _NOT_FOUND,
// _BAD_PARAMETER (one of the names is no custom one), _CONFLICT (to is taken).
enum outcome resource_class_rename(struct registry *registry, struct str name, struct str to,
	struct resource_class *class);
// Deletes a custom class. OUTCOME_NO_CONTENT; _NOT_FOUND, _BAD_PARAMETER (a standard one), _CONFLICT (a live provider of an
// active tenant has inventory of it, or allocations use it). If only deleted providers, or those of deleted tenants, have
// inventory of it, it is hidden and not removed (trait/catalogue.h).
enum outcome resource_class_delete(struct registry *registry, struct str name);

#endif
