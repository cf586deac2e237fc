// SPDX-License-Identifier: Apache-2.0
// For files of registry/ only: rows turned into structs, and the locks every writer takes.
#ifndef TENURE_REGISTRY_CORE_INTERNAL_H
#define TENURE_REGISTRY_CORE_INTERNAL_H

#include "base/buf.h"
#include "base/config/config.h"
#include "db/db.h"
#include "registry/resource/stored.h"
#include "registry/type/definition.h"
#include "registry/type/rules.h"
#include "sql/common.h"
#include "sql/deletions.h"

// What a failed statement means for the request.
enum outcome registry_db_failed(enum db_result result);
enum outcome guard_check(struct guard guard, const uint8_t *etag);
// OUTCOME_OK; _PRECONDITION_REQUIRED where the tenant, or the configuration, insists on one.
enum outcome guard_sure(struct registry *registry, struct guard guard, bool tenant_requires);
int64_t retention_us(const struct registry *registry);
// registry_fail with OUTCOME_GONE and, unless 0, the member purge_at.
enum outcome fail_gone(struct registry *registry, int64_t purge_us, const char *format, ...) PRINTF_LIKE(3, 4);

// A tenant from its columns.
struct tenant tenant_of_columns(const struct sql_tenant *columns);

// The policy of that name; NULL: there is none.
const char *type_policy(struct str name);
// Is it deleted, and past its purge time? Then it is no more, whether or not it was reaped.
bool tenant_expired(const struct registry *registry, const struct tenant *tenant);

// Frees the name of a tenant whose time is up, whose row is locked: a tombstone stays for the change log.
enum outcome tenant_bury(struct registry *registry, const struct tenant *tenant);

// Columns of a resource (r) and their types; types are looked up by id, the tenant's name is not among them.
enum { RESOURCE_N_COLUMNS = 23 };
#define RESOURCE_COLUMNS                                                                                             \
	"r.id, r.uid, r.tenant_id, r.type_id, r.namespace, r.name, r.live, r.locked, r.revision, r.edits, r.etag, " \
	"r.meta, r.body, r.created_at, r.updated_at, r.deleted_at, r.purge_at, r.root, r.traits, " \
	"r.changed, r.generation, r.doomed_at, r.moves"
#define RESOURCE_OUT "ubuussuuuubssttttbsuutu"
// A resource from its columns. The tenant's name is not among them.
struct resource resource_of_columns(struct registry *registry, const struct sql_resource *columns);
// The resource of an id, whatever became of it.
extern const struct db_query resource_of_id;
// first: the column where those of the resource begin.
void resource_from_row(struct registry *registry, struct resource *resource, const struct db_rows *rows, size_t row,
	size_t first);

// Raises registry->stamp_us to us (microseconds since 1970) if it is less. Never lowers it.
void registry_stamp_after(struct registry *registry, int64_t us);
// How the first locks of a writing transaction are taken (core/context.h, enum lock_manner): the form of a locking statement.
enum sql_wait lock_wait(const struct registry *registry);
// Runs the batch that takes them, and then takes the time that the transaction writes (registry->stamp_us).
// tenants: whose rows it locks. OUTCOME_OK; _UNAVAILABLE: one of them is being moved, or
// the transaction is to be run again.
enum outcome take_locks(struct registry *registry, const struct str *tenants, size_t n_tenants, struct db_call *calls,
	size_t n);

// A writer's view of the tenant: row locked shared against moves and deletion.
struct held_tenant {
	uint64_t id;
	bool has_limit;
	uint64_t max_resources;
	bool etag_required;
	bool ends; // its deletion was requested and waits for its finalizers: nothing new may come into it
};
// The call for a batch, and what its rows mean: OUTCOME_OK, _NOT_FOUND, _GONE.
struct db_call hold_tenant_call(struct registry *registry, struct str name);
enum outcome held_tenant(struct registry *registry, struct str name, const struct db_call *call, struct held_tenant *held);

// Counts n more resources in the tenant, unless its tier's quota forbids (then the call affects no row).
struct db_call count_up_call(struct registry *registry, const struct held_tenant *held, uint64_t n);
struct db_call count_down_call(struct registry *registry, uint64_t tenant_id, uint64_t n);
enum outcome fail_quota(struct registry *registry, const struct held_tenant *held);

// Values of a batch, copied into the request's pool.
struct db_value *call_values(struct pool *pool, const struct db_value *values, size_t n);
#define CALL_VALUES(pool, ...) \
	call_values((pool), DB_IN(__VA_ARGS__), COUNT_OF(((const struct db_value[]){ __VA_ARGS__ })))

// Is s usable as an id of anything: 1 to 255 characters of UTF-8, no '/', no NUL, not "." or ".."?
bool id_ok(struct str s);
// No tenant comes into being, and nothing moves to one, by a reserved name. OUTCOME_OK, _BAD_PARAMETER.
enum outcome check_reserved(struct registry *registry, struct str name);
enum outcome fail_no_tenant(struct registry *registry, struct str name);
// The tenant is deleted: gone, or no more.
enum outcome fail_tenant_gone(struct registry *registry, struct str name, int64_t purge_us);
enum outcome fail_no_space(struct registry *registry, struct str space);
// Does the namespace that hold_space_call held only wait for its finalizers? Nothing new may come into it.
bool space_ends(const struct db_call *call);
enum outcome fail_space_ends(struct registry *registry, struct str space);
enum outcome fail_tenant_ends(struct registry *registry, struct str tenant);
enum outcome fail_no_resource(struct registry *registry, const struct address *address);
enum outcome fail_not_there(struct registry *registry, const struct ident *ident);
// The live resource's row at an address, locked; its namespace's row, locked against deletion.
struct db_call lock_resource_call(struct registry *registry, const struct address *address);
struct db_call hold_space_call(struct registry *registry, struct str tenant, struct str space);
// What stands at an address without live resource, as resource_get answers it; OUTCOME_OK when one has come meanwhile.
enum outcome resource_elsewhere(struct registry *registry, const struct address *address, struct resource *resource);
// For writers: locks the tenant and namespace shared, the resource's row exclusive. OUTCOME_OK; OUTCOME_NO_CONTENT when
// nothing lives there; OUTCOME_NOT_FOUND, _GONE for the tenant.
struct held_address {
	struct held_tenant tenant;
	bool space_missing, space_ends;
};
enum outcome lock_address(struct registry *registry, const struct address *address, struct held_address *held,
	struct resource *resource);
// The same for a resource by what it is. Tenant shared, its row exclusive. OUTCOME_OK with held and *resource; _NOT_FOUND.
enum outcome lock_ident(struct registry *registry, const struct ident *ident, struct held_tenant *held,
	struct resource *resource);
// Nothing lives there, and the writer does not create: where did it go?
enum outcome refuse_missing(struct registry *registry, const struct address *address, struct resource *resource);
// For a new resource: fills revision, edits, etag and times, and makes its INSERT.
struct db_call insert_resource_call(struct registry *registry, struct resource *resource);
// Right behind its change row in that batch: the resource's last change.
struct db_call number_inserted_call(struct registry *registry, const struct resource *resource);

// A change of content under the locks: guard, edit, the type's rules, the writes. heir: the name of the tenant it is given
// to in the same transaction, which is a change in itself; p NULL: it stays. Outcomes as resource_change.
enum outcome change_content(struct registry *registry, const struct edit *edit, struct guard guard,
	const struct held_tenant *held, struct str heir, struct resource *resource);
// Has it finalizers that a deletion waits for? Types whose resources are named by their uids have none.
bool has_finalizers(struct registry *registry, const struct resource *resource);
// Marks what is locked as to be deleted once its finalizers are gone. OUTCOME_ACCEPTED.
enum outcome mark_for_deletion(struct registry *registry, struct resource *resource);
// What one deletion took, of which resource is the one that was asked for; request_id: the 16 bytes of that request's.
struct sql_deletion deletion_of(struct registry *registry, const struct resource *resource, struct str request_id);
// Deletes what is locked and may go. OUTCOME_NO_CONTENT, _LOCKED; _ACCEPTED: a namespace that waits for its content.
enum outcome carry_out_deletion(struct registry *registry, struct resource *resource);

// ---- namespaces that end (space_end.c)

// Marks the content that has finalizers. *waits: there is some. OUTCOME_OK.
enum outcome space_mark_waiting(struct registry *registry, const struct resource *space, bool *waits);
// Once all else is deleted: OUTCOME_OK if nothing is left in it; _ACCEPTED: it waits, and its conditions tell for what.
enum outcome space_wait(struct registry *registry, struct resource *space);
// After the deletion of something that was marked: does its namespace go now, or what does it wait for? OUTCOME_OK.
enum outcome space_settle(struct registry *registry, const struct resource *gone);

// How many of n documents of these sizes make a page of at most limit; at least one, so that each page goes on.
size_t page_fitting(const uint64_t *bytes, size_t n, uint64_t limit);

// Behind STRAIGHT_JOIN: the resource r of a row x, which people see: neither it nor its tenant is deleted. Traits and
// classes that only others have may be hidden (catalogue.h).
#define SEEN_OF_X                                                                                                     \
	"resources r ON r.id = x.resource_id AND r.live IN (1, 2) STRAIGHT_JOIN tenants seen ON seen.id = r.tenant_id " \
	"AND seen.deleted_at IS NULL"


struct field_faults; // repr/schema/field_fault.h
// OUTCOME_BAD_DOCUMENT with the faults as causes. what: "Widget \"w1\"".
enum outcome fail_faults(struct registry *registry, struct str what, const struct field_faults *faults);

// ---- what stays as it is (immutable.c)

// Before a change of content: does body, as it is to be stored, keep what of that config map, secret or pod may not change?
// OUTCOME_OK, at once for other types; _BAD_DOCUMENT with causes.
enum outcome immutable_check(struct registry *registry, const struct address *address, const struct resource *current,
	struct str body);

// ---- types (type.c)

// Those of that group and plural name, in namespaces or not, so that they are held when they are looked for.
struct db_call types_call(struct registry *registry, const struct type *like);
void types_found(struct registry *registry, const struct db_rows *rows);

// ---- definitions (definition.c)

struct definitions *definitions_new(void);
void definitions_free(struct definitions **definitions);
// A request begins: what was handed out in the last one is given back.
void definitions_begin(struct registry *registry);
// A request ends, and nobody uses what was handed out any more: bounds what is held.
void definitions_end(struct registry *registry);
// Of an object of a custom type: prunes, fills in defaults and checks, as the tenant's definition has it. version: the one
// the body is written in, p NULL: the one stored in. OUTCOME_OK; _NOT_FOUND: none answers; _BAD_DOCUMENT with causes.
enum outcome definition_complete(struct registry *registry, const struct address *address, struct str version,
	struct doc **body);
// Is a type something else, or nothing, for some tenants?
bool definition_varies(const struct type *type);
// What is held of any definition is asked for anew when it is needed next: for decisions that outlive the moment that other
// processes' changes take to be heard of, made under the locks that keep those changes away.
void definitions_doubt(struct registry *registry);
// What a type will be for resources that go from one tenant to another; with_definitions: whose own go along, those as well
// that another overrides there. What nobody defines for the source any more is fine wherever somebody does. OUTCOME_OK.
enum definition_fate { DEFINITION_SAME, DEFINITION_NONE, DEFINITION_OTHER };
enum outcome definition_after_move(struct registry *registry, struct str source, struct str dest, bool with_definitions,
	const struct type *type, enum definition_fate *fate);
// Of definitions that are to come to a tenant, as rows of the statement move_definitions: those of
// which another there has a name in that group; and those that would be shared from there by what they say. too_many: how
// many a tenant may have, where that would be exceeded; else 0. OUTCOME_OK.
struct definition_clash {
	struct str name;          // of the one that comes
	struct str common, other; // the name both have, and whose it is there; p NULL: it would be shared
};
enum outcome definitions_meet(struct registry *registry, struct str tenant, const struct db_rows *coming,
	struct definition_clash **clashes, size_t *n, unsigned *too_many);
// The running transaction has written a CustomResourceDefinition of that tenant: those who hold it are to know. The last
// that it does, as it holds a row that every other such change wants.
enum outcome definitions_changed(struct registry *registry, uint64_t tenant_id);

// ---- trees: the column root is the id of the top's type, four bytes, and the top's uid. A node and a resource provider may
// have the same uid: the service that uses both gives it to both.

// The column's value in trees that resources of this type are in.
struct str tree_value(struct registry *registry, const struct type *type, const struct uuid *root);
const struct type *tree_type(struct registry *registry, const struct type *type);
// The top's uid in a column's value, whose p is NULL for NULL. False: it has none.
bool tree_root(struct str value, struct uuid *root);

// ---- aliases (lookup_key.c)

// The calls that bring the aliases from before (NULL: it had none) to after; at most 2 * ALIASES_MAX. *of[i] is what call i
// writes: on DB_DUPLICATE another resource has it.
size_t alias_calls(struct registry *registry, const struct resource *resource, const struct relations *before,
	const struct relations *after, struct db_call *calls, const struct alias **of);

#endif
