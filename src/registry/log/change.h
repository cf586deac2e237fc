// SPDX-License-Identifier: Apache-2.0
// The writer of the change log: one row for every change, committed together with the change. No other file inserts into table
// `changes`, or into those that keep what an update replaced.
#ifndef TENURE_REGISTRY_LOG_CHANGE_H
#define TENURE_REGISTRY_LOG_CHANGE_H

#include "db/db.h"
#include "registry/core/model.h"
#include "sql/deletions.h"
#include "sql/moves.h"

// Every statement that inserts into the log begins with these words. log/horizon.c recognizes by them which connections are about
// to write the log.
#define CHANGE_INSERT "INSERT INTO changes "
// What db_txn_run() needs to know of the log, to find a request's row. registry_store_new() passes it to the connection.
extern const struct db_log change_log;

// All etags here are the stored ones (64 bytes, NULL for none). Readers of the log derive from them what clients saw.
//
// Each row also has the bytes of the resource's content before and after the change, as its tenant's usage counts them
// (sql/schema/020-usage.sql): 0 for what does not exist, is deleted, or is not counted.

// Each function returns one member of a batch: the INSERT of one change row. Its values live in registry->pool. verb is the
// name of the change in the log ("created", "deleted", …); an etag that is NULL says that there was, or is, no resource. A
// resource with id 0 is the one that an earlier member of the same batch inserts.
struct db_call change_of_resource(struct registry *registry, const char *verb, const struct resource *resource,
	const uint8_t *etag_before, const uint8_t *etag_after);
struct db_call change_of_tenant(struct registry *registry, const char *verb, const struct tenant *tenant,
	const uint8_t *etag_before, const uint8_t *etag_after);
// A change of content, verb "updated". The row also gets the fields that differ, a JSON array as changed_fields_of_resource()
// returns it, and labels and selectable fields from before.
struct db_call change_of_fields(struct registry *registry, const struct resource *before, const struct resource *after,
	struct str fields);
// The same if the change is in another table (inventories, aggregates, …): field is the JSON Pointer that stands for it.
struct db_call change_in_field(struct registry *registry, const struct resource *before, const struct resource *after,
	const char *field);
struct db_call change_of_tenant_update(struct registry *registry, const struct tenant *before, const struct tenant *after);
// A change of what the tenant has beside its document, such as a token or a webhook: an "updated" with the same etag before and
// after it, by which readers of the log recognize it. field: the JSON Pointer that stands for it.
struct db_call change_beside_tenant(struct registry *registry, const struct tenant *tenant, struct str field);

// Appends to the n calls of a batch the one that keeps the content which an update replaces, for the setting content_retention.
// Call it right after the change row was appended, before the call that changes the row of the resource or tenant. Returns the
// number of calls: n + 1, or n if content is not kept.
size_t change_keep_resource(struct registry *registry, uint64_t resource_id, struct db_call *calls, size_t n);
size_t change_keep_tenant(struct registry *registry, uint64_t tenant_id, struct db_call *calls, size_t n);
// The same for a change_in_field() of the resource. former: what the other table had of it, as JSON; p NULL: it is not kept.
size_t change_keep_beside(struct registry *registry, uint64_t resource_id, struct str former, struct db_call *calls, size_t n);
// The same for changes_of_allocations(), but to be called after the call that sets the providers' column changed. formers: a JSON
// array of the provider's resources.id and a text each; p NULL: nothing is kept.
size_t change_keep_allocations(struct registry *registry, struct str formers, struct db_call *calls, size_t n);
// The same for changes_of_waiting(), but to be called after the call that marks the resources, which sets their column changed.
size_t change_keep_waiting(struct registry *registry, struct str waiting, struct db_call *calls, size_t n);
// Does the setting content_retention ask to keep what updates replace?
bool change_keeps_content(const struct registry *registry);

// ---- Changes of all resources of a set, one row each, in one statement. Run it before the statement that changes the resources:
// it records their state from before.

// The resources are deleted together with their namespace or the root of their tree.
struct db_call changes_of_deletion(struct registry *registry, enum sql_content kind, const struct sql_content_of *content);
// The same for a part of them, of at most limit resources that are not deleted yet; they stay locked.
struct db_call changes_of_deleted_part(struct registry *registry, enum sql_content_part kind, const struct sql_content_of *content,
	uint64_t limit);
// The resources are deleted, as one piece of a large namespace. resource_ids: the ids of their rows, a JSON array.
struct db_call changes_of_deleted_piece(struct registry *registry, struct str resource_ids);
// The deletion of the resources was requested, and waits for their finalizers. waiting: their ids and new etags, in the form
// that sql/statements/namespace_ends.sql describes.
struct db_call changes_of_waiting(struct registry *registry, struct str waiting);
// The resources are recovered. Run it after they have taken their names back: if that deletes a resource of the same name, the
// deletion is then logged first.
struct db_call changes_of_recovery(struct registry *registry, const struct sql_deletion_range *part);
// The resources move to the tenant dest_id.
struct db_call changes_of_move(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id);
// Those namespaces of the set that exist in the destination too: their content goes there, and they themselves are deleted.
struct db_call changes_of_merged(struct registry *registry, enum sql_move_set kind, const struct sql_move_range *set,
	uint64_t dest_id);
// The transaction has inserted the resources. Unlike the others, run it after the rows are there, and set their column changed
// after it. resource_ids: JSON array of resources.id.
struct db_call changes_of_creation(struct registry *registry, struct str resource_ids);
// Providers get new allocations or lose some. provider_ids: JSON array of resources.id.
struct db_call changes_of_allocations(struct registry *registry, struct str provider_ids);
// Resources are purged. resource_ids: JSON array of resources.id.
struct db_call changes_of_purge(struct registry *registry, struct str resource_ids);

#endif
