// SPDX-License-Identifier: Apache-2.0
// The writer of the change log: one row for every change, committed with it. Nothing else inserts into the table changes.
#ifndef TENURE_REGISTRY_LOG_CHANGE_H
#define TENURE_REGISTRY_LOG_CHANGE_H

#include "db/db.h"
#include "registry/core/model.h"
#include "sql/deletions.h"
#include "sql/moves.h"

// Every statement that inserts into the log begins with these words: log/horizon.c recognises by them which connections are about to
// write it.
#define CHANGE_INSERT "INSERT INTO changes "
// How db_txn_run() finds a request's row. registry_new() hands it to the connection.
extern const struct db_log change_log;

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

// ---- changes of all resources of a set, a row each, in one statement. Before the statement that changes the resources: what
// is recorded is their state before it.

// They are deleted along with a namespace, or the top of a tree.
struct db_call changes_of_deletion(struct registry *registry, enum sql_content kind, const struct sql_content_of *content);
// They come back. After they have taken their names again, so that a deletion of what had the names is logged first.
struct db_call changes_of_recovery(struct registry *registry, const struct sql_deletion *deletion);
// They move to another tenant.
struct db_call changes_of_move(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id);
// The namespaces among them exist in the destination, and are merged into those: deleted.
struct db_call changes_of_merged(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id);
// Providers get new allocations, or lose some. provider_ids: of their rows, a JSON array.
struct db_call changes_of_allocations(struct registry *registry, struct str provider_ids);
// They are purged. resource_ids: of their rows, a JSON array.
struct db_call changes_of_purge(struct registry *registry, struct str resource_ids);

#endif
