// SPDX-License-Identifier: Apache-2.0
// For files in manage/dump/ only: members of the records of a dump (doc/dump.md).
#ifndef TENURE_MANAGE_DUMP_RECORD_H
#define TENURE_MANAGE_DUMP_RECORD_H

#include "base/outcome.h"
#include "base/str.h"
#include "base/uuid.h"

struct doc;
struct pool;
struct registry;
struct resource;

// A member of the record: STR_NONE if it is no text, 0 if it is no number that a uint64_t holds.
struct str record_text(const struct doc *record, const char *name);
uint64_t record_number(const struct doc *record, const char *name);
// The member "uid", 32 hex digits. False: it is something else.
bool record_uid(const struct doc *record, struct uuid *uid);
// Is text JSON, and an object; or an array?
bool record_is_object(struct pool *pool, struct str text);
bool record_is_list(struct pool *pool, struct str text);

// Makes the resource of a record of kind "resource", of which id, tenant_id, tenant, etags and times are not set. Its texts are
// those of the record. False: there is no such type here; then type is NULL.
bool record_resource(struct registry *registry, const struct doc *record, struct resource *resource);
// Could the registry have stored that resource, which a transaction that writes has just inserted? It checks the resource by
// resource_verify(), and that the record has the lookup keys and the root that belong to its body. schema: as there. True: it
// could. False: *reason, in registry->pool, says why not; or p is NULL if a statement failed, and *failed is its outcome.
bool record_fits(struct registry *registry, const struct doc *record, const struct resource *resource, bool schema, struct str *reason,
	enum outcome *failed);

#endif
