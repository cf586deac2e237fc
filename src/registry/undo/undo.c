// SPDX-License-Identifier: Apache-2.0
// A request is taken back by the functions that make the reverse change, so all rules hold that hold for that change: locks,
// quotas, schemas, lookup keys. What they refuse becomes a blocker. Everything happens under the exclusive locks of the rows of
// all tenants that own what is changed back.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "registry/core/stored.h"
#include "registry/resource/internal.h"
#include "registry/resource/traits.h"
#include "registry/tenant/internal.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "repr/json/doc.h"

// A guard that demands no precondition, even if the tenant requires one (etag_required): no change can be lost, since each later
// change of the resource, except of its allocations, becomes a blocker.
static struct guard no_lost_update(void)
{
	return (struct guard){ .prevents_lost_update = true };
}

// ---- what changed since

// Adds a blocker if the resource has a later change that counts. What is allocated of a provider changes all the time, and
// touches nothing else of it: when an update is taken back, an earlier change that is no allocation counts.
static enum outcome block_if_changed_later(struct undo *undo, const struct sql_undo_rows_row *row, bool update)
{
	const struct sql_undo_later_but_claims in = {
		.request_id = uuid_bytes(&undo->order->request),
		.resource_id = row->resource_id,
		.after = row->id,
	};
	struct str verb = row->later_verb, actor = row->later_actor;
	int64_t at_us = row->later_at;
	struct db_rows rows;

	// Allocations depend on nothing that other changes of the provider change, but for its capacity, which is compared when
	// they are put back.
	if (update && undo_beside(undo, row) == BESIDE_ALLOCATIONS && !row->live_is_null)
		return OUTCOME_OK;
	if (update && undo_beside_of(undo->registry, row->type_id, row->later_fields) == BESIDE_ALLOCATIONS) {
		enum db_result result = sql_undo_later_but_claims_run(undo->registry->db, undo->registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n == 0)
			return OUTCOME_OK;
		verb = sql_undo_later_but_claims_row(&rows, 0)->verb;
		actor = sql_undo_later_but_claims_row(&rows, 0)->actor;
		at_us = sql_undo_later_but_claims_row(&rows, 0)->at;
	}
	undo_block(undo, undo_path(undo, row), "changed-since", undo_later_text(undo, verb, actor, at_us));
	return OUTCOME_OK;
}

// Is the last change of the row's resource another request's? The ids alone do not tell: see undo_as_left in undo.sql.
static bool has_changed(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	return row->later_is_own_is_null ? row->changed > undo->newest : row->later_is_own == 0;
}

// Adds a blocker for each resource that is no longer as the request left it. update: the request updated resources. OUTCOME_OK,
// or that of a failed statement.
static enum outcome block_changed(struct undo *undo, bool update)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		if (row->resource_id_is_null || undo_is_owner_change(undo, row))
			continue;
		if (undo_is_purged(undo, row))
			undo_block_purged(undo, undo_path(undo, row));
		else if (row->owner_id != row->tenant_id)
			undo_block(undo, undo_path(undo, row), "changed-since", STR("it belongs to another tenant by now"));
		else if (has_changed(undo, row) && row->later_actor.p == NULL)
			undo_block(undo, undo_path(undo, row), "changed-since", STR("it has changed since"));
		else if (has_changed(undo, row))
			outcome = block_if_changed_later(undo, row, update);
	}
	return outcome;
}

// Adds a blocker if anything has happened in the tenant since: whatever is in it would go with it.
static enum outcome block_changed_tenant(struct undo *undo)
{
	const struct sql_undo_later in = { .tenant_id = undo->tenant.id, .after = undo->newest };
	struct db_rows rows;
	enum db_result result = sql_undo_later_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		const struct sql_undo_later_row *row = sql_undo_later_row(&rows, 0);
		struct str text = undo_later_text(undo, row->verb, row->actor, row->at);
		undo_block(undo, STR(""), "changed-since",
			str_printf(undo->registry->pool, "in the tenant something changed since: %.*s", STR_ARG(text)));
	}
	return OUTCOME_OK;
}

// The undo has to make as many changes as it takes back: if a namespace or a tree has more in it by now, that would go, too.
static enum outcome check_count(struct undo *undo)
{
	const struct sql_undo_count in = { .request_id = uuid_bytes(&undo->registry->request_id) };
	struct db_rows rows;

	if (undo->plan->n_blockers > 0)
		return OUTCOME_OK;
	enum db_result result = sql_undo_count_run(undo->registry->db, undo->registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (sql_undo_count_row(&rows, 0)->n > undo->rows.n)
		undo_block(undo, STR(""), "not-empty",
			STR("other resources were added to it since, and would be deleted with it: move or delete them first"));
	return OUTCOME_OK;
}

// ---- resources

// The row of that change. *from: where to look first, and afterwards where the row was found: for the next change in order.
static const struct sql_undo_rows_row *row_of_change(const struct undo *undo, uint64_t change_id, size_t *from)
{
	for (;; (*from)++) {
		assert(*from < undo->rows.n);
		const struct sql_undo_rows_row *row = undo_row(undo, *from);
		if (row->id == change_id)
			return row;
	}
}

static bool is_shown(const struct undo *undo, enum undo_action action, const struct sql_undo_rows_row *row)
{
	if (row->owner_id != row->tenant_id || undo_is_purged(undo, row)) // another tenant's by now or nobody's, and not to be shown
		return false;
	if (action == UNDO_RECOVER && undo_is_of_deletion(undo, row)) // shown as deleted
		return false;
	return !undo_goes_along(undo, action == UNDO_DELETE ? KIND_CREATED : KIND_DELETED, row); // else the rules of allocations change it
}

// Sets what the resource of an item will be after the undo of an update.
static enum outcome fill_restored(struct undo *undo, const struct sql_undo_rows_row *row, struct undo_item *item)
{
	if (undo_beside(undo, row) != BESIDE_NONE)
		return undo_read_beside(undo, row, item);
	item->restored = (struct former_content){
		.state = row->former_locked_is_null ? FORMER_UNKNOWN : FORMER_KNOWN,
		.locked = row->former_locked != 0,
		.meta = row->former_meta,
		.body = row->former_body,
		.traits = row->former_traits,
	};
	return OUTCOME_OK;
}

// Fills plan->items. Both undo->rows and what sql_undo_shown_run() reads are in the order of the changes' ids, and each change
// that it reads is in undo->rows.
static enum outcome read_items(struct undo *undo, enum undo_action action)
{
	struct undo_plan *plan = undo->plan;
	const struct sql_undo_shown in = { .request_id = uuid_bytes(&undo->order->request), .limit = UNDO_SHOWN };
	struct db_rows rows;
	size_t from = 0;
	enum db_result result = sql_undo_shown_run(undo->registry->db, undo->registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	plan->items = POOL_ARRAY(undo->registry->pool, struct undo_item, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_undo_shown_row *shown = sql_undo_shown_row(&rows, i);
		const struct sql_undo_rows_row *row = row_of_change(undo, shown->change_id, &from);
		struct undo_item *item = &plan->items[plan->n_items];

		if (!is_shown(undo, action, row))
			continue;
		*item = (struct undo_item){ .action = action, .path = undo_path(undo, row) };
		item->resource = resource_of_columns(undo->registry, &shown->r);
		item->uid = item->resource.uid;
		item->resource.tenant = action == UNDO_MOVE ? plan->from : undo->tenant.name;
		enum outcome outcome = action == UNDO_RESTORE ? fill_restored(undo, row, item) : OUTCOME_OK;
		if (outcome != OUTCOME_OK)
			return outcome;
		plan->n_items++;
	}
	return OUTCOME_OK;
}

static struct address address_of(struct undo *undo, uint64_t type_id, struct str space, struct str name)
{
	return (struct address){
		.tenant = undo->tenant.name,
		.type = type_of_resource(undo->registry, 0, type_id),
		.space = space,
		.name = name,
	};
}

static enum outcome apply_former(void *arg, const struct resource *current, struct content *content)
{
	const struct sql_undo_rows_row *row = arg;

	UNUSED(current);
	*content = (struct content){ .meta = row->former_meta, .body = row->former_body, .locked = row->former_locked != 0 };
	return OUTCOME_OK;
}

struct former_vifs {
	const struct sql_undo_rows_row *row;
	struct pool *pool;
};

// apply_former() for a node of which only the VIFs were changed. A write keeps the stored VIFs if the document has no member
// "vifs", so a node that had none is written with an empty object.
static enum outcome apply_former_vifs(void *arg, const struct resource *current, struct content *content)
{
	const struct former_vifs *former = arg;
	const struct stored_place place = { .table = "former_resources", .column = "body", .id = former->row->id };
	const struct doc *vifs;

	UNUSED(current);
	*content = (struct content){ .meta = former->row->former_meta, .locked = former->row->former_locked != 0 };
	content->document = stored_document(former->pool, place, former->row->former_body);
	if (!doc_get(content->document, STR("vifs"), &vifs))
		doc_set(content->document, STR("vifs"), doc_new_object(former->pool));
	return OUTCOME_OK;
}

// Did the update change nothing of a bare-metal node but its VIFs?
static bool changes_only_vifs(struct undo *undo, const struct sql_undo_rows_row *row)
{
	const struct stored_place place = { .table = "changes", .column = "fields", .id = row->id };

	if (row->fields.n == 0 || row->type_id != type_with_rules(undo->registry, &node_rules)->id)
		return false;
	const struct doc *fields = stored_document(undo->registry->pool, place, row->fields);
	for (size_t i = 0; i < doc_length(fields); i++)
		if (!str_eq(doc_string(doc_at(fields, i)), STR("/vifs")) && !str_starts(doc_string(doc_at(fields, i)), STR("/vifs/")))
			return false;
	return doc_length(fields) > 0;
}

static enum outcome restore_traits(struct undo *undo, const struct sql_undo_rows_row *row, const struct address *address)
{
	struct pool *pool = undo->registry->pool;
	const struct resource former = { .id = row->resource_id, .traits = row->former_traits };
	const struct doc *list = resource_traits_doc(pool, &former);
	struct str *names = POOL_ARRAY(pool, struct str, doc_length(list));
	struct resource resource;

	for (size_t i = 0; i < doc_length(list); i++)
		names[i] = doc_string(doc_at(list, i));
	const struct trait_edit edit = {
		.change = doc_length(list) > 0 ? TRAITS_SET : TRAITS_CLEAR,
		.names = names,
		.n = doc_length(list),
	};
	return resource_change_traits_at(undo->registry, address, &edit, no_lost_update(), &resource);
}

// The type's rules may set members themselves, such as a node's states: then the content would not be what it was.
static bool is_restored(struct undo *undo, const struct sql_undo_rows_row *row, const struct resource *resource)
{
	struct pool *pool = undo->registry->pool;
	struct resource former = *resource;

	if (str_eq(resource->body, row->former_body) && str_eq(resource->meta, row->former_meta))
		return true;
	former.body = row->former_body;
	former.meta = row->former_meta;
	return doc_equal(resource_body_doc(pool, resource), resource_body_doc(pool, &former)) &&
	       doc_equal(resource_meta_doc(pool, resource), resource_meta_doc(pool, &former));
}

static enum outcome restore_content(struct undo *undo, const struct sql_undo_rows_row *row, const struct address *address)
{
	struct resource resource;
	struct former_vifs vifs = { row, undo->registry->pool };
	struct edit edit = { .apply = apply_former, .arg = (void *)(uintptr_t)row, .restores = true };

	// Users attach VIFs to a node by a call of their own, and so may take that back, although the node's member is the
	// service's.
	if (changes_only_vifs(undo, row))
		edit = (struct edit){ .apply = apply_former_vifs, .arg = &vifs, .by_service = true, .restores = true };
	enum outcome outcome = resource_write(undo->registry, address, &edit, no_lost_update(), &resource);

	if (outcome == OUTCOME_OK && (resource.deleted_us != 0 || !is_restored(undo, row, &resource)))
		undo_block(undo, undo_path(undo, row), "not-restorable",
			STR("the rules of its type would not give back what it was; what only the service sets cannot be undone"));
	return outcome;
}

static enum outcome restore(struct undo *undo, const struct sql_undo_rows_row *row)
{
	struct str path = undo_path(undo, row);

	if (undo_beside(undo, row) != BESIDE_NONE)
		return undo_restore_beside(undo, row);
	if (undo_asks_deletion(row)) {
		undo_block_waiting(undo, undo_path(undo, row));
		return OUTCOME_OK;
	}
	if (str_eq(row->fields, STR("[\"/status/conditions\"]")) && undo_is_of_deletion(undo, row)) // the reason is that deletion
		return OUTCOME_OK;
	if (row->former_locked_is_null) {
		undo_block(undo, path, "not-kept", STR("what the update replaced is not kept, or no longer: see content_retention"));
		return OUTCOME_OK;
	}
	if (row->live_is_null || row->owner_id != undo->tenant.id) // a blocker of block_changed()
		return OUTCOME_OK;
	struct address address = address_of(undo, row->type_id, row->namespace, row->name);
	bool traits = str_eq(row->fields, STR("[\"/metadata/traits\"]"));
	enum outcome outcome = traits ? restore_traits(undo, row, &address) : restore_content(undo, row, &address);
	return outcome == OUTCOME_OK ? outcome : undo_block_by(undo, path, outcome);
}

static enum outcome undo_updates(struct undo *undo)
{
	enum outcome outcome = OUTCOME_OK;

	if (undo_is_of_placement(undo))
		return undo_placement(undo);
	for (size_t i = undo->rows.n; outcome == OUTCOME_OK && i > 0; i--)
		outcome = restore(undo, undo_row(undo, i - 1));
	return outcome;
}

static enum outcome undo_creations(struct undo *undo)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = undo->rows.n; outcome == OUTCOME_OK && i > 0; i--) {
		const struct sql_undo_rows_row *row = undo_row(undo, i - 1);
		struct address address = address_of(undo, row->type_id, row->namespace, row->name);
		struct resource resource;

		if (row->live_is_null || row->owner_id != undo->tenant.id || undo_goes_along(undo, KIND_CREATED, row))
			continue;
		outcome = resource_delete(undo->registry, &address, no_lost_update(), &resource);
		outcome = outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : undo_block_by(undo, undo_path(undo, row), outcome);
	}
	return outcome == OUTCOME_OK ? check_count(undo) : outcome;
}

static enum outcome undo_deletions(struct undo *undo)
{
	struct registry *registry = undo->registry;
	struct sql_undo_next_deleted in = {
		.request_id = uuid_bytes(&undo->order->request), .below = INT64_MAX, .now = registry->now_us,
	};
	enum outcome outcome = OUTCOME_OK;

	size_t n_blockers = undo->plan->n_blockers;
	for (size_t i = 0; i < undo->rows.n; i++)
		if (undo_asks_deletion(undo_row(undo, i)) && !undo_row(undo, i)->live_is_null)
			undo_block_waiting(undo, undo_path(undo, undo_row(undo, i)));
	if (undo->plan->n_blockers > n_blockers) // nothing comes back into a namespace that is ending
		return OUTCOME_OK;
	while (outcome == OUTCOME_OK) {
		struct db_rows rows;
		struct uuid uid;
		enum db_result result = sql_undo_next_deleted_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n == 0)
			break;
		const struct sql_undo_next_deleted_row *row = sql_undo_next_deleted_row(&rows, 0);
		struct address address = address_of(undo, row->type_id, row->namespace, row->name);
		in.below = row->id;
		uuid_from_bytes(row->uid, &uid);
		outcome = resource_recover_deletion(registry, &address, &uid, row->deletion, no_lost_update());
		struct str path = resource_path(registry->pool, address.type, address.space, address.name);
		outcome = outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : undo_block_by(undo, path, outcome);
	}
	return outcome;
}

// Deletes what the request recovered of one kind of undo_next_recovered. Goes through the changes once, so that it takes as long
// as there are changes.
static enum outcome delete_recovered(struct undo *undo, uint64_t kind)
{
	struct registry *registry = undo->registry;
	struct sql_undo_next_recovered in = {
		.request_id = uuid_bytes(&undo->order->request),
		.namespaces = type_namespaces(registry)->id,
		.kind = kind,
	};
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && undo->plan->n_blockers == 0) {
		struct db_rows rows;
		struct resource resource;
		enum db_result result = sql_undo_next_recovered_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n == 0)
			break;
		const struct sql_undo_next_recovered_row *row = sql_undo_next_recovered_row(&rows, 0);
		struct address address = address_of(undo, row->type_id, row->namespace, row->name);
		in.after = row->id;
		outcome = resource_delete(registry, &address, no_lost_update(), &resource);
		struct str path = resource_path(registry->pool, address.type, address.space, address.name);
		outcome = outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : undo_block_by(undo, path, outcome);
	}
	return outcome;
}

// Namespaces go before what is in them, and the roots of trees before what hangs on them: so most is deleted together.
static enum outcome undo_recoveries(struct undo *undo)
{
	enum { NAMESPACES, ROOTS, REST, KINDS };
	enum outcome outcome = OUTCOME_OK;

	undo->registry->delete_at_once = UNDO_MAX;
	for (uint64_t kind = NAMESPACES; outcome == OUTCOME_OK && kind < KINDS; kind++)
		outcome = delete_recovered(undo, kind);
	return outcome == OUTCOME_OK ? check_count(undo) : outcome;
}

// ---- tenants

static enum outcome apply_former_tenant(void *arg, const struct tenant *current, struct tenant_content *content)
{
	const struct tenant *former = arg;

	UNUSED(current);
	*content = (struct tenant_content){
		.tier = former->tier,
		.metadata = former->metadata,
		.object = former->object,
		.tells_etag_required = true,
		.etag_required = former->etag_required,
	};
	return OUTCOME_OK;
}

// Was the change one of what stands beside the tenant's document? Then notes that it is not taken back.
static bool block_beside_tenant(struct undo *undo)
{
	static const struct {
		const char *fields, *reason, *detail;
	} kinds[] = {
		{ "[\"/tokens/", "token", "a token was made or revoked: revoke it, or make another one" },
		{ "[\"/tiers/", "tier", "a tier was made, changed or deleted: set it to what it was" },
		{ "[\"/webhooks/", "not-kept", "what webhooks were, and their secrets, is never kept: set it to what it was" },
	};

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (!str_starts(undo_row(undo, 0)->fields, str_c(kinds[i].fields)))
			continue;
		undo_block(undo, STR(""), kinds[i].reason, str_c(kinds[i].detail));
		return true;
	}
	return false;
}

static enum outcome restore_tenant(struct undo *undo)
{
	struct registry *registry = undo->registry;
	struct undo_plan *plan = undo->plan;
	const struct sql_undo_former_tenant in = { .change_id = undo_row(undo, 0)->id };
	struct tenant restored;
	struct db_rows rows;

	if (block_beside_tenant(undo))
		return OUTCOME_OK;
	enum db_result result = sql_undo_former_tenant_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0) {
		undo_block(undo, STR(""), "not-kept", STR("what the update replaced is not kept, or no longer: see content_retention"));
		return OUTCOME_OK;
	}
	const struct sql_undo_former_tenant_row *row = sql_undo_former_tenant_row(&rows, 0);
	if (row->tier.p == NULL) {
		undo_block(undo, STR(""), "tier", STR("the tier that the tenant had was deleted: set another one"));
		return OUTCOME_OK;
	}
	plan->has_former_tenant = true;
	plan->former_tenant = undo->tenant;
	plan->former_tenant.tier = row->tier;
	plan->former_tenant.metadata = row->metadata;
	plan->former_tenant.object = row->object;
	plan->former_tenant.etag_required = row->etag_required != 0;
	if (tenant_deletion_asked(&undo->tenant) || tenant_deletion_asked(&plan->former_tenant)) {
		undo_block(undo, STR(""), "deletion-requested", STR("the tenant's deletion was requested and waits for its finalizers"));
		return OUTCOME_OK;
	}
	const struct tenant_edit edit = { apply_former_tenant, &plan->former_tenant };
	return tenant_patch(registry, undo->tenant.name, &edit, no_lost_update(), &restored);
}

static enum outcome change_tenant_back(struct undo *undo, enum kind kind)
{
	struct tenant tenant;

	if (kind == KIND_UPDATED)
		return restore_tenant(undo);
	if (kind == KIND_DELETED)
		return tenant_recover(undo->registry, undo->tenant.name, no_lost_update());
	enum outcome outcome = block_changed_tenant(undo);
	return outcome == OUTCOME_OK ? tenant_delete(undo->registry, undo->tenant.name, no_lost_update(), &tenant) : outcome;
}

static enum outcome undo_tenant(struct undo *undo, enum kind kind)
{
	undo->plan->tenant = undo->tenant;
	if (undo->tenant.changed > undo->newest)
		undo_block(undo, STR(""), "changed-since", STR("the tenant itself has changed since: take that back first"));
	enum outcome outcome = change_tenant_back(undo, kind);
	return outcome == OUTCOME_OK || outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : undo_block_by(undo, STR(""), outcome);
}

// ---- all together

typedef enum outcome undo_fn(struct undo *undo);

static enum outcome undo_resources(struct undo *undo, enum kind kind)
{
	static undo_fn *const functions[] = {
		[KIND_UPDATED] = undo_updates,
		[KIND_CREATED] = undo_creations,
		[KIND_DELETED] = undo_deletions,
		[KIND_RECOVERED] = undo_recoveries,
		[KIND_MOVED] = undo_move,
	};

	enum outcome outcome = read_items(undo, undo->plan->action);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = block_changed(undo, kind == KIND_UPDATED);
	return outcome == OUTCOME_OK ? functions[kind](undo) : outcome;
}

// How far the changes of one request, and clocks of hosts, may be apart.
#define SPREAD_US (INT64_C(3600) * 1000000)

// The log is purged from its beginning, in transactions of a thousand rows that may end amid a request, and a run may end behind
// any of them. What is left of the request would then pass for all of it.
void undo_check_age(struct undo *undo)
{
	int64_t kept_us = (int64_t)(undo->registry->settings->change_retention * 1000000);
	int64_t spread_us = kept_us / 4 < SPREAD_US ? kept_us / 4 : SPREAD_US;

	if (kept_us != 0 && undo->plan->at_us < undo->registry->now_us - kept_us + spread_us)
		undo_block(undo, STR(""), "not-kept",
			STR("the request is as old as changes are kept, so not all that it changed may be known any more: see change_retention"));
}

static enum outcome change_back(struct undo *undo, enum kind kind, bool several_tenants)
{
	static const enum undo_action actions[] = {
		[KIND_UPDATED] = UNDO_RESTORE,
		[KIND_CREATED] = UNDO_DELETE,
		[KIND_DELETED] = UNDO_RECOVER,
		[KIND_RECOVERED] = UNDO_DELETE,
		[KIND_MOVED] = UNDO_MOVE,
	};

	undo_check_age(undo);
	if (undo->plan->n_blockers > 0)
		return OUTCOME_OK;
	if (undo->rows.n > UNDO_MAX)
		undo_block(undo, STR(""), "too-large",
			str_printf(undo->registry->pool,
				"the request changed more than %d resources: change them back by the calls for that", UNDO_MAX));
	else if (kind == KIND_SEVERAL)
		undo_block(undo, STR(""), "several-kinds",
			STR("the request did several things, such as a move and an update: change them back one by one"));
	else if (kind == KIND_PURGED)
		undo_block(undo, STR(""), "purged", STR("what is purged is gone"));
	else if (several_tenants && kind != KIND_MOVED && !(kind == KIND_UPDATED && undo_is_of_placement(undo)))
		undo_block(undo, STR(""), "several-tenants",
			STR("the request changed resources of several tenants: change them back one by one"));
	else {
		undo->plan->action = actions[kind];
		enum outcome outcome = undo->plan->of_tenant ? undo_tenant(undo, kind) : undo_resources(undo, kind);
		return outcome == OUTCOME_OK ? undo_check_rights(undo, kind) : outcome;
	}
	return OUTCOME_OK;
}

// The tag covers what the request changed, in which state all of that is, and the blockers.
static void make_etag(struct undo *undo)
{
	struct undo_plan *plan = undo->plan;
	struct buf text = buf_new(undo->registry->pool, 1024);

	buf_add_u64(&text, plan->of_tenant ? undo->tenant.changed : 0);
	for (size_t i = 0; i < undo->rows.n; i++) {
		buf_addc(&text, '/');
		buf_add_u64(&text, undo_row(undo, i)->id);
		buf_addc(&text, '=');
		buf_add_u64(&text, undo_row(undo, i)->changed_is_null ? 0 : undo_row(undo, i)->changed);
	}
	undo_add_blockers(&text, plan);
	const struct str parts[] = { STR("undo:"), uuid_bytes(&undo->order->request), uuid_bytes(&undo->tenant.uid), buf_str(&text) };
	state_tag_make(undo->registry, parts, COUNT_OF(parts), plan->etag, &plan->other_etags);
}

enum outcome undo_compare(struct undo *undo, struct tag_guard guard)
{
	enum tag_check check = tag_guard_check(guard, undo->plan->etag, &undo->plan->other_etags);

	return check == TAG_OK ? OUTCOME_OK : tag_guard_fail(undo->registry, check, undo->plan->etag);
}

enum outcome undo_fail_unknown(struct undo *undo)
{
	return registry_fail(undo->registry, OUTCOME_NOT_FOUND,
		"the change log of the tenant has no change by that request; a change shows it as request_id");
}

static enum outcome read_rows(struct undo *undo, bool *several_tenants)
{
	const struct sql_undo_rows in = { .request_id = uuid_bytes(&undo->order->request), .limit = UNDO_MAX + 1 };
	enum db_result result = sql_undo_rows_run(undo->registry->db, undo->registry->pool, &in, &undo->rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	enum outcome outcome = undo_find_merging(undo);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!undo_concerns(undo, several_tenants))
		return undo_fail_unknown(undo);
	undo->plan->at_us = undo_row(undo, 0)->at;
	undo->plan->actor = undo_row(undo, 0)->actor;
	undo->plan->count = undo->rows.n;
	undo->newest = undo_row(undo, undo->rows.n - 1)->id;
	return OUTCOME_OK;
}

// Locks the tenants of all providers whose inventories or allocations the request changed, in the order of their ids, if they are
// several and the undo is asked for in one of them: writers of a provider lock only its own tenant. Does nothing for who may not
// take that back. OUTCOME_OK, or that of a failed statement.
static enum outcome lock_placement_tenants(struct undo *undo)
{
	struct registry *registry = undo->registry;
	const struct sql_undo_placement_tenants in = { .request_id = uuid_bytes(&undo->order->request) };
	struct db_rows rows;

	if (!undo->order->may_operate)
		return OUTCOME_OK;
	enum db_result result = sql_undo_placement_tenants_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct str *names = POOL_ARRAY(registry->pool, struct str, rows.n);
	bool concerned = false;
	for (size_t i = 0; i < rows.n; i++) {
		names[i] = sql_undo_placement_tenants_row(&rows, i)->name;
		concerned = concerned || str_eq(names[i], undo->order->tenant);
	}
	return rows.n > 1 && concerned ? tenant_lock_several(registry, names, rows.n) : OUTCOME_OK;
}

enum outcome undo_run(struct registry *registry, const struct undo_order *order, struct tag_guard guard, struct undo_plan *plan)
{
	struct undo undo = { .registry = registry, .order = order, .plan = plan };
	bool several_tenants = false;

	assert(db_txn_writes(registry->db));
	*plan = (struct undo_plan){ .count = 0 };
	enum outcome outcome = undo_find_large(&undo);
	if (outcome == OUTCOME_OK && undo.large != NULL)
		return undo_large(&undo, guard);
	if (outcome == OUTCOME_OK)
		outcome = undo_lock_move(&undo);
	if (outcome == OUTCOME_OK)
		outcome = lock_placement_tenants(&undo);
	if (outcome == OUTCOME_OK)
		outcome = tenant_lock(registry, order->tenant, &undo.tenant);
	if (outcome == OUTCOME_OK)
		outcome = read_rows(&undo, &several_tenants);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum kind kind = undo_kind(&undo);
	outcome = undo_check_caller(&undo, kind);
	if (outcome == OUTCOME_OK && undo.tenant.deleted_us != 0 && !(plan->of_tenant && kind == KIND_DELETED))
		outcome = tenant_answer_deleted(registry, &undo.tenant);
	if (outcome == OUTCOME_OK)
		outcome = change_back(&undo, kind, several_tenants);
	if (outcome != OUTCOME_OK)
		return outcome;
	make_etag(&undo);
	return undo_compare(&undo, guard);
}
