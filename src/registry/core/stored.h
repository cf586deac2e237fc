// SPDX-License-Identifier: Apache-2.0
// Stored JSON texts and references between rows, and what happens if one cannot be read.
//
// A document is checked before it is stored, and a row of `types` is never deleted. So if a stored text cannot be read, or a
// resource's type does not exist, the database is damaged or was changed from outside. To go on with an empty document instead
// would do harm: the next PATCH would overwrite the row with it. So the functions below end the request: they log the row and
// leave the guard (base/budget.h). The request's transaction is rolled back, and the client gets a 500. A transaction of a tool
// or of the mover ends with DB_ERROR. `tenure-manage doctor` lists such rows.
#ifndef TENURE_REGISTRY_CORE_STORED_H
#define TENURE_REGISTRY_CORE_STORED_H

#include "registry/core/model.h"

// Where a stored text was read, for the log.
struct stored_place {
	const char *table, *column; // "resources", "body"
	uint64_t id;                // of the row; 0: not known
	struct uuid uid;            // of the resource or tenant; zero: none
};
// The place of a column of the resource's row. column must outlive the place.
struct stored_place resource_place(const struct resource *resource, const char *column);
struct stored_place tenant_place(const struct tenant *tenant, const char *column);
// The place of texts that this process has just made and reads again before they are stored.
#define STORED_NEW ((struct stored_place){ .table = "no table", .column = "what was to be written" })

// Returns the tree of a stored text, allocated from pool. If the text cannot be read, it leaves the request's budget guard and
// does not return. If there is no guard that it can leave (in a tool that reads outside a transaction, or between budget_defer()
// and budget_release()), it returns an empty object, and the caller must not write anything derived from that.
struct doc *stored_document(struct pool *pool, struct stored_place place, struct str text);
// The same for columns of a resource or a tenant. A tenant without a Tenant object yields an empty object.
struct doc *resource_body_doc(struct pool *pool, const struct resource *resource);
// The same to read only: resource->tree if that is set.
const struct doc *resource_body_tree(struct pool *pool, const struct resource *resource);
struct doc *resource_meta_doc(struct pool *pool, const struct resource *resource);
struct doc *resource_traits_doc(struct pool *pool, const struct resource *resource); // an array
struct doc *tenant_metadata_doc(struct pool *pool, const struct tenant *tenant);
struct doc *tenant_object_doc(struct pool *pool, const struct tenant *tenant);

// For code that looks for damage: sets *doc to the tree of the text. Returns false if the text cannot be read; *error says why.
bool stored_read(struct pool *pool, struct str text, struct doc **doc, struct str *error);

// Ends the request because the row at place cannot be right; why says the reason in a few words. Returns only where no guard
// can be left, as stored_document() does.
void stored_is_broken(struct pool *pool, struct stored_place place, struct str why);

#endif
