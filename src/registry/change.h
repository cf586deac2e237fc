// SPDX-License-Identifier: Apache-2.0
// The change log: one row for every change, committed with it.
#ifndef TENURE_REGISTRY_CHANGE_H
#define TENURE_REGISTRY_CHANGE_H

#include "db/db.h"
#include "registry/resource.h"

// Etags are stored ones: the feed makes of them what clients saw.

// The statement and its values as one member of a batch; values live in registry->pool. A resource without id is the one
// that the same batch has inserted.
struct db_call change_of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after);
struct db_call change_of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after);
// The same for a change of content, verb 'updated': the fields that differ go with it.
struct db_call update_of_resource(struct registry *registry, const struct resource *before, const struct resource *after);
// The same where the fields are known: as fields_of_resource() tells them.
struct db_call update_of_fields(struct registry *registry, const struct resource *before, const struct resource *after,
	struct str fields);
// The same for a change of what belongs to the resource and stands elsewhere: the field, a JSON Pointer, is told by name.
struct db_call update_in_field(struct registry *registry, const struct resource *before, const struct resource *after,
	const char *field);
struct db_call update_of_tenant(struct registry *registry, const struct tenant *before, const struct tenant *after);

#endif
