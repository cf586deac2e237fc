// SPDX-License-Identifier: Apache-2.0
// JSON texts and references as rows hold them.
//
// A document is checked when it comes, and a row of `types` is never deleted. So a stored text that can't be read, or a
// resource whose type isn't there, means that somebody else changed the database, or that it is damaged. Going on with a
// document without members would be harmful: the next PATCH would store what it made of that. So the functions below end
// the request: they log the row and leave the guard (base/budget.h). The request's transaction is rolled back, and the
// client is answered 500; a transaction of a tool or of the mover ends with DB_ERROR. `tenure-manage doctor` lists such
// rows.
#ifndef TENURE_REGISTRY_CORE_STORED_H
#define TENURE_REGISTRY_CORE_STORED_H

#include "registry/core/model.h"

// Where a text comes from, for the log.
struct stored_place {
	const char *table, *column; // "resources", "body"
	uint64_t id;                // the row's; 0: not known here
	struct uuid uid;            // of the resource or tenant; nil: none
};
struct stored_place resource_place(const struct resource *resource, const char *column);
struct stored_place tenant_place(const struct tenant *tenant, const char *column);
// For texts that this process has just written, which are read again.
#define STORED_NEW ((struct stored_place){ .table = "no table", .column = "what was to be written" })

// The tree of a stored text; it lives in pool. Does not return if the text can't be read. Where no guard could be left (a
// read of a tool, outside of transactions), and between budget_hold() and budget_release(), it returns an object
// without members: the caller writes nothing of it.
struct doc *stored_document(struct pool *pool, struct stored_place place, struct str text);
// The same of a resource's and a tenant's columns. A tenant without an object has one without members.
struct doc *resource_body_doc(struct pool *pool, const struct resource *resource);
struct doc *resource_meta_doc(struct pool *pool, const struct resource *resource);
struct doc *resource_traits_doc(struct pool *pool, const struct resource *resource); // an array
struct doc *tenant_metadata_doc(struct pool *pool, const struct tenant *tenant);
struct doc *tenant_object_doc(struct pool *pool, const struct tenant *tenant);

// For code that looks for damage: the tree of the text. False: it can't be read, and *error says why.
bool stored_read(struct pool *pool, struct str text, struct doc **doc, struct str *error);

// The row can't be as it is, because of why (a few words). Returns where stored_document() does.
void stored_is_broken(struct pool *pool, struct stored_place place, struct str why);

#endif
