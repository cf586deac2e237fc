// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tenant/tenant.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/internal.h"
#include "registry/log/change.h"
#include "registry/tags/etag.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"

static const struct db_query q_get = {
	"SELECT " TENANT_COLUMNS " FROM " TENANT_TABLES " WHERE t.name = ? AND t.live = 1", "s", TENANT_OUT
};
static const struct db_query q_lock[2] =
	LOCKING("SELECT id FROM tenants WHERE name = ? AND live = 1", "FOR UPDATE", "s", "u");
static const struct db_query q_tier = { "SELECT id, max_resources FROM tiers WHERE name = ?", "s", "uu" };
static const struct db_query q_insert = {
	"INSERT INTO tenants (name, uid, tier_id, metadata, etag_required, etag, revision, created_at, updated_at, object, "
	"type_policy) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"sbusubuttss", ""
};
static const struct db_query q_insert_count = { "INSERT INTO tenant_counts (tenant_id) VALUES (?)", "u", "" };
static const struct db_query q_update = {
	"UPDATE tenants SET tier_id = ?, metadata = ?, etag_required = ?, etag = ?, revision = ?, updated_at = ?, object = ?, "
	"type_policy = ?, changed = LAST_INSERT_ID() WHERE id = ?",
	"usubutssu", ""
};
// The time of its last change, read once its row is locked.
static const struct db_query q_last_time = {
	"SELECT GREATEST(t.updated_at, COALESCE(t.deleted_at, t.updated_at), COALESCE((SELECT x.at FROM changes x WHERE "
	"x.id = t.changed), t.updated_at)) FROM tenants t WHERE t.name = ? AND t.live = 1",
	"s", "t"
};
// Behind the change row that tells of it.
static const struct db_query q_number = { "UPDATE tenants SET changed = LAST_INSERT_ID() WHERE id = ?", "u", "" };
static const struct db_query q_mark = {
	"UPDATE tenants SET deleted_at = ?, purge_at = ?, changed = LAST_INSERT_ID() WHERE id = ?", "ttu", ""
};
// A tombstone: the change log keeps a name for it, its own words are gone.
static const struct db_query q_bury = { "UPDATE tenants SET live = NULL, metadata = '{}', object = '{}' WHERE id = ?", "u", "" };
static const struct db_query q_drop_count = { "DELETE FROM tenant_counts WHERE tenant_id = ?", "u", "" };
// What its resources have of a catalogue, and was hidden while it was away. Little is hidden: each is looked at.
#define SHOWS(table, of, id)                                                                                       \
	{ "UPDATE " table " k FORCE INDEX (live) SET k.live = 1 WHERE k.live IS NULL AND (SELECT r.id FROM " of " x "  \
	  "STRAIGHT_JOIN resources r FORCE INDEX (PRIMARY) ON r.id = x.resource_id AND r.tenant_id = ? AND "       \
	  "r.live IN (1, 2) WHERE x." id " = k.id LIMIT 1) > 0",                                                   \
		"u", "" }
static const struct db_query q_show_traits = SHOWS("traits", "resource_traits", "trait_id");
static const struct db_query q_show_classes = SHOWS("resource_classes", "inventories", "class_id");
// The page is cut before the joins: with them in one query the server sorts all tenants, metadata included, for each page.
#define TENANT_PAGE(condition)                                                                                     \
	"SELECT " TENANT_COLUMNS " FROM (SELECT * FROM tenants WHERE live = 1 AND " condition " AND name > ? "     \
	"ORDER BY name LIMIT ?) t JOIN tiers i ON i.id = t.tier_id JOIN tenant_counts c ON c.tenant_id = t.id " \
	"ORDER BY t.name"
static const struct db_query q_list = {
	TENANT_PAGE("deleted_at IS NULL AND name <> '" TENANT_SYSTEM "'"), "su", TENANT_OUT
};
static const struct db_query q_list_spaces = { TENANT_PAGE("deleted_at IS NULL"), "su", TENANT_OUT };
static const struct db_query q_list_deleted = { TENANT_PAGE("purge_at > ?"), "tsu", TENANT_OUT };

static int64_t time_or_0(const struct db_value *value)
{
	return value->null ? 0 : value->i;
}

const char *type_policy(struct str name)
{
	static const char *const policies[] = { TYPE_POLICY_LOCAL, TYPE_POLICY_SYSTEM, TYPE_POLICY_NEVER };

	for (size_t i = 0; i < COUNT_OF(policies); i++) {
		if (str_eq_c(name, policies[i]))
			return policies[i];
	}
	return NULL;
}

// The policy that an object's spec asks for.
static enum outcome read_policy(struct registry *registry, struct tenant *tenant)
{
	const struct doc *spec, *policy;

	tenant->policy = TYPE_POLICY_LOCAL;
	if (!doc_get(tenant_object_doc(registry->pool, tenant), STR("spec"), &spec) ||
		!doc_get(spec, STR("multiTenancyCRDPolicy"), &policy))
		return OUTCOME_OK;
	tenant->policy = doc_kind(policy) == DOC_STRING ? type_policy(doc_string(policy)) : NULL;
	if (tenant->policy != NULL)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
		"spec.multiTenancyCRDPolicy must be " TYPE_POLICY_LOCAL ", " TYPE_POLICY_SYSTEM " or " TYPE_POLICY_NEVER);
}

struct tenant tenant_of_columns(const struct sql_tenant *t)
{
	struct tenant tenant = {
		.id = t->id,
		.name = t->name,
		.tier = t->tier,
		.has_limit = !t->max_resources_is_null,
		.max_resources = t->max_resources,
		.metadata = t->metadata,
		.revision = t->revision,
		.resources = t->resources,
		.created_us = t->created_at,
		.updated_us = t->updated_at,
		.deleted_us = t->deleted_at,
		.purge_us = t->purge_at,
		.etag_required = t->etag_required != 0,
		.object = t->object,
		.policy = type_policy(t->type_policy),
		.changed = t->changed,
	};

	uuid_from_bytes(t->uid, &tenant.uid);
	memcpy(tenant.etag, t->etag.p, sizeof(tenant.etag));
	return tenant;
}

void tenant_from_row(struct tenant *tenant, const struct db_rows *rows, size_t row)
{
	*tenant = (struct tenant){ 0 };
	tenant->id = db_at(rows, row, 0)->u;
	uuid_from_bytes(db_at(rows, row, 1)->s, &tenant->uid);
	tenant->name = db_at(rows, row, 2)->s;
	tenant->tier = db_at(rows, row, 3)->s;
	tenant->has_limit = !db_at(rows, row, 4)->null;
	tenant->max_resources = tenant->has_limit ? db_at(rows, row, 4)->u : 0;
	tenant->metadata = db_at(rows, row, 5)->s;
	memcpy(tenant->etag, db_at(rows, row, 6)->s.p, sizeof(tenant->etag));
	tenant->revision = db_at(rows, row, 7)->u;
	tenant->resources = db_at(rows, row, 8)->u;
	tenant->created_us = db_at(rows, row, 9)->i;
	tenant->updated_us = db_at(rows, row, 10)->i;
	tenant->deleted_us = time_or_0(db_at(rows, row, 11));
	tenant->purge_us = time_or_0(db_at(rows, row, 12));
	tenant->etag_required = db_at(rows, row, 13)->u != 0;
	tenant->object = db_at(rows, row, 14)->s;
	tenant->policy = type_policy(db_at(rows, row, 15)->s);
	tenant->changed = db_at(rows, row, 16)->u;
}

bool tenant_expired(const struct registry *registry, const struct tenant *tenant)
{
	return tenant->deleted_us != 0 && tenant->purge_us <= registry->now_us;
}

enum outcome fail_no_tenant(struct registry *registry, struct str name)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no tenant \"%.*s\"", STR_ARG(name));
}

// What rows of q_get say. OUTCOME_OK also for a deleted tenant that can be recovered: the caller looks.
static enum outcome read_tenant(struct registry *registry, struct str name, enum db_result result,
	const struct db_rows *rows, struct tenant *tenant)
{
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows->n == 0)
		return fail_no_tenant(registry, name);
	tenant_from_row(tenant, rows, 0);
	return OUTCOME_OK;
}

static enum outcome answer_deleted(struct registry *registry, const struct tenant *tenant)
{
	if (tenant_expired(registry, tenant))
		return fail_no_tenant(registry, tenant->name);
	return fail_gone(registry, tenant->purge_us, "tenant \"%.*s\" was deleted; it can be recovered until it is purged",
		STR_ARG(tenant->name));
}

enum outcome tenant_get(struct registry *registry, struct str name, struct tenant *tenant)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_get, DB_IN(db_s(name)), &rows);
	enum outcome outcome = read_tenant(registry, name, result, &rows, tenant);

	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		return answer_deleted(registry, tenant);
	return outcome;
}

// Reads the tenant under an exclusive lock of its row.
static enum outcome lock_tenant(struct registry *registry, struct str name, struct tenant *tenant)
{
	struct db_call calls[] = {
		{ .query = locking(registry, q_lock), .in = DB_IN(db_s(name)) },
		{ .query = &q_get, .in = DB_IN(db_s(name)) },
		{ .query = &q_last_time, .in = DB_IN(db_s(name)) },
	};
	enum outcome outcome = take_locks(registry, &name, 1, calls, COUNT_OF(calls));

	if (outcome == OUTCOME_OK && calls[2].rows.n > 0)
		registry_stamp_after(registry, db_at(&calls[2].rows, 0, 0)->i);
	return outcome == OUTCOME_OK ? read_tenant(registry, name, DB_OK, &calls[1].rows, tenant) : outcome;
}

static enum outcome find_tier(struct registry *registry, struct str name, uint64_t *id, struct tenant *tenant)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_tier, DB_IN(db_s(name)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"there is no tier \"%.*s\"; `tenure-manage tier list` names those there are", STR_ARG(name));
	*id = db_at(&rows, 0, 0)->u;
	tenant->tier = name;
	tenant->has_limit = !db_at(&rows, 0, 1)->null;
	tenant->max_resources = tenant->has_limit ? db_at(&rows, 0, 1)->u : 0;
	return OUTCOME_OK;
}

static enum outcome check_id(struct registry *registry, struct str name)
{
	if (!id_ok(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a tenant's id is 1 to 255 characters of UTF-8, without \"/\" and NUL, and neither \".\" nor \"..\"");
	return OUTCOME_OK;
}

static struct resource default_namespace(struct registry *registry, const struct tenant *tenant)
{
	return (struct resource){
		.uid = uuid_new(),
		.tenant_id = tenant->id,
		.tenant = tenant->name,
		.type = type_namespaces(registry),
		.name = STR("default"),
		.live = RESOURCE_KEPT,
		.meta = STR("{}"),
		.body = STR("{}"),
	};
}

// The rows that come with a new tenant: its count, its namespace, and what the change log tells of both.
static enum outcome insert_belongings(struct registry *registry, struct tenant *tenant)
{
	struct resource space = default_namespace(registry, tenant);
	struct db_call calls[] = {
		insert_resource_call(registry, &space),
		change_of_resource(registry, "created", &space, NULL, space.stored_etag),
		number_inserted_call(registry, &space),
		{ .query = &q_insert_count, .in = DB_IN(db_u(tenant->id)) },
		change_of_tenant(registry, "created", tenant, NULL, tenant->etag),
		{ .query = &q_number, .in = DB_IN(db_u(tenant->id)) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	tenant->changed = calls[4].rows.insert_id;
	return result == DB_OK ? OUTCOME_CREATED : registry_db_failed(result);
}

static enum outcome create(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant)
{
	uint64_t tier_id;
	struct db_rows rows;
	enum outcome outcome = guard_check(guard, NULL);

	if (outcome == OUTCOME_OK)
		outcome = check_id(registry, name);
	*tenant = (struct tenant){ .uid = uuid_new(), .name = name, .revision = 1 };
	if (outcome == OUTCOME_OK)
		outcome = find_tier(registry, content->tier.p != NULL ? content->tier : str_c(registry->config->default_tier),
			&tier_id, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenant->metadata = content->metadata.p != NULL ? content->metadata : STR("{}");
	tenant->object = content->object.p != NULL ? content->object : STR("{}");
	outcome = read_policy(registry, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenant->etag_required = content->tells_etag_required && content->etag_required;
	tenant->created_us = tenant->updated_us = registry->stamp_us;
	etag_of_tenant(registry, tenant);
	enum db_result result = db_run(registry->db, registry->pool, &q_insert,
		DB_IN(db_s(name), db_uuid(&tenant->uid), db_u(tier_id), db_s(tenant->metadata),
			db_u(tenant->etag_required ? 1 : 0), db_b(str_n((const char *)tenant->etag, sizeof(tenant->etag))),
			db_u(tenant->revision),
			db_t(registry->stamp_us), db_t(registry->stamp_us), db_s(tenant->object), db_s(str_c(tenant->policy))),
		&rows);
	if (result == DB_DUPLICATE) { // another request made it since we looked
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (result != DB_OK)
		return registry_db_failed(result);
	tenant->id = rows.insert_id;
	return insert_belongings(registry, tenant);
}

static bool same_content(const struct tenant *a, const struct tenant *b)
{
	return str_eq(a->tier, b->tier) && str_eq(a->metadata, b->metadata) && a->etag_required == b->etag_required &&
	       str_eq(a->object, b->object);
}

#define DELETION_MEMBER "deletionTimestamp"

bool tenant_deletion_asked(const struct tenant *tenant)
{
	return memmem(tenant->object.p, tenant->object.n, "\"" DELETION_MEMBER "\"", sizeof("\"" DELETION_MEMBER "\"") - 1) != NULL;
}

static bool tenant_has_finalizers(struct registry *registry, const struct tenant *tenant)
{
	const struct doc *list;

	return memmem(tenant->object.p, tenant->object.n, "\"finalizers\"", 12) != NULL &&
	       doc_get(tenant_object_doc(registry->pool, tenant), STR("finalizers"), &list) &&
	       doc_kind(list) == DOC_ARRAY && doc_length(list) > 0;
}

// The object with the time at which its deletion was asked for; the last member, so that the same object is the same text.
static struct str object_to_be_deleted(struct registry *registry, const struct tenant *tenant, struct str time)
{
	struct doc *doc = tenant_object_doc(registry->pool, tenant);
	struct buf text = buf_new(registry->pool, tenant->object.n + 64);

	doc_remove(doc, STR(DELETION_MEMBER));
	if (time.n > 0)
		doc_set_str(registry->pool, doc, DELETION_MEMBER, time);
	doc_write_json(doc, &text);
	return buf_str(&text);
}

// What a writer makes of the object of a tenant that waits for its finalizers: it goes on to wait, or it may go.
static struct str object_that_waits(struct registry *registry, const struct tenant *before, struct str object)
{
	const struct doc *time;
	struct tenant after = { .id = before->id, .uid = before->uid, .object = object };
	bool waits = tenant_has_finalizers(registry, &after);

	(void)doc_get(tenant_object_doc(registry->pool, before), STR(DELETION_MEMBER), &time);
	return object_to_be_deleted(registry, &after, waits ? doc_string(time) : STR(""));
}

// What decides about its types is told to those who hold definitions.
static enum outcome change(struct registry *registry, const struct tenant_content *content, struct tenant *tenant)
{
	const struct tenant before = *tenant;
	uint64_t tier_id;
	enum outcome outcome = find_tier(registry, content->tier.p != NULL ? content->tier : tenant->tier, &tier_id, tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (content->metadata.p != NULL)
		tenant->metadata = content->metadata;
	if (content->tells_etag_required)
		tenant->etag_required = content->etag_required;
	if (content->object.p != NULL)
		tenant->object = tenant_deletion_asked(&before) ? object_that_waits(registry, &before, content->object) :
			content->object;
	outcome = read_policy(registry, tenant);
	if (outcome != OUTCOME_OK || same_content(tenant, &before))
		return outcome;
	tenant->revision++;
	tenant->updated_us = registry->stamp_us;
	etag_of_tenant(registry, tenant);
	bool decides = !str_eq(tenant->object, before.object) || !str_eq(tenant->metadata, before.metadata);
	struct db_call calls[] = {
		update_of_tenant(registry, &before, tenant),
		{ .query = &q_update,
			.in = DB_IN(db_u(tier_id), db_s(tenant->metadata), db_u(tenant->etag_required ? 1 : 0),
				db_b(str_n((const char *)tenant->etag, sizeof(tenant->etag))), db_u(tenant->revision),
				db_t(tenant->updated_us), db_s(tenant->object), db_s(str_c(tenant->policy)), db_u(tenant->id)) },
		catalogue_raise_call(CATALOGUE_TYPES),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, decides ? 3 : 2);
	if (result != DB_OK)
		return registry_db_failed(result);
	tenant->changed = calls[0].rows.insert_id;
	if (decides)
		catalogue_raised(registry, CATALOGUE_TYPES, &calls[2]);
	return OUTCOME_OK;
}

static enum outcome mark(struct registry *registry, struct tenant *tenant, const char *verb, struct db_value deleted_at,
	struct db_value purge_at)
{
	bool deletes = !deleted_at.null;
	struct db_call calls[] = {
		change_of_tenant(registry, verb, tenant, deletes ? tenant->etag : NULL, deletes ? NULL : tenant->etag),
		{ .query = &q_mark, .in = DB_IN(deleted_at, purge_at, db_u(tenant->id)) },
		catalogue_raise_call(CATALOGUE_TYPES),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	tenant->changed = calls[0].rows.insert_id;
	catalogue_raised(registry, CATALOGUE_TYPES, &calls[2]);
	return OUTCOME_NO_CONTENT;
}

static enum outcome carry_out(struct registry *registry, struct tenant *tenant)
{
	tenant->deleted_us = registry->stamp_us;
	tenant->purge_us = registry->stamp_us + retention_us(registry);
	return mark(registry, tenant, "deleted", db_t(tenant->deleted_us), db_t(tenant->purge_us));
}

static enum outcome check_write(struct registry *registry, const struct tenant *tenant, struct guard guard)
{
	enum outcome outcome = guard_sure(registry, guard, tenant->etag_required);

	return outcome == OUTCOME_OK ? tenant_check(registry, tenant, guard) : outcome;
}

static enum outcome modify(struct registry *registry, const struct tenant_content *content, struct guard guard,
	struct tenant *tenant)
{
	enum outcome outcome = check_write(registry, tenant, guard);

	return outcome == OUTCOME_OK ? change(registry, content, tenant) : outcome;
}

enum outcome tenant_patch(struct registry *registry, struct str name, const struct tenant_edit *edit, struct guard guard,
	struct tenant *tenant)
{
	struct tenant_content content;
	enum outcome outcome = lock_tenant(registry, name, tenant);

	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		outcome = answer_deleted(registry, tenant);
	if (outcome == OUTCOME_OK)
		outcome = check_write(registry, tenant, guard);
	if (outcome == OUTCOME_OK)
		outcome = edit->apply(edit->arg, tenant, &content);
	bool waited = outcome == OUTCOME_OK && tenant_deletion_asked(tenant);
	if (outcome == OUTCOME_OK)
		outcome = change(registry, &content, tenant);
	if (outcome != OUTCOME_OK || !waited || tenant_deletion_asked(tenant))
		return outcome;
	outcome = carry_out(registry, tenant);
	return outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : outcome;
}

static enum outcome answer_recoverable(struct registry *registry, const struct tenant *tenant)
{
	struct buf time = buf_new(registry->pool, 32);

	clock_add_rfc3339(&time, tenant->purge_us);
	registry_fail(registry, OUTCOME_RECOVERABLE,
		"tenant \"%.*s\" was deleted and can still be recovered: recover it, or wait until it is purged",
		STR_ARG(tenant->name));
	registry_fail_member(registry, "purge_at", buf_str(&time));
	return OUTCOME_RECOVERABLE;
}

enum outcome tenant_bury(struct registry *registry, const struct tenant *tenant)
{
	struct db_call calls[] = {
		{ .query = &q_bury, .in = DB_IN(db_u(tenant->id)) },
		{ .query = &q_drop_count, .in = DB_IN(db_u(tenant->id)) },
		change_of_tenant(registry, "purged", tenant, tenant->etag, NULL),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant)
{
	enum outcome outcome = lock_tenant(registry, name, tenant);

	if (outcome == OUTCOME_NOT_FOUND)
		return create(registry, name, content, guard, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenant->deleted_us == 0)
		return modify(registry, content, guard, tenant);
	if (!tenant_expired(registry, tenant))
		return answer_recoverable(registry, tenant);
	outcome = tenant_bury(registry, tenant);
	return outcome == OUTCOME_OK ? create(registry, name, content, guard, tenant) : outcome;
}

enum outcome check_reserved(struct registry *registry, struct str name)
{
	const char *reserved = realm_reserved(name);

	return reserved == NULL ? OUTCOME_OK : registry_fail(registry, OUTCOME_BAD_PARAMETER, "%s", reserved);
}

enum outcome tenant_put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant)
{
	enum outcome outcome = check_reserved(registry, name);

	return outcome == OUTCOME_OK ? put(registry, name, content, guard, tenant) : outcome;
}

enum outcome tenant_find_or_make(struct registry *registry, struct str name, bool may_make, bool *made)
{
	const struct tenant_content content = { 0 };
	struct tenant tenant;
	enum outcome outcome = str_eq_c(name, TENANT_SYSTEM) ? OUTCOME_OK : check_reserved(registry, name);

	*made = false;
	if (outcome == OUTCOME_OK)
		outcome = tenant_get(registry, name, &tenant);
	if (outcome != OUTCOME_NOT_FOUND)
		return outcome;
	if (!may_make)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "there is no tenant \"%.*s\": make it first",
			STR_ARG(name));
	outcome = put(registry, name, &content, (struct guard){ 0 }, &tenant);
	*made = outcome == OUTCOME_CREATED;
	return *made ? OUTCOME_OK : outcome;
}

enum outcome tenant_ensure(struct registry *registry, struct str name)
{
	bool made;

	return tenant_find_or_make(registry, name, true, &made);
}

// It goes with the write that empties its finalizers.
static enum outcome wait_for_finalizers(struct registry *registry, struct tenant *tenant)
{
	struct buf time = buf_new(registry->pool, 32);

	if (tenant_deletion_asked(tenant))
		return OUTCOME_ACCEPTED;
	clock_add_rfc3339(&time, registry->stamp_us);
	const struct tenant_content content = { .object = object_to_be_deleted(registry, tenant, buf_str(&time)) };
	enum outcome outcome = change(registry, &content, tenant);
	return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
}

enum outcome tenant_delete(struct registry *registry, struct str name, struct guard guard, struct tenant *tenant)
{
	enum outcome outcome = lock_tenant(registry, name, tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenant->deleted_us != 0)
		return answer_deleted(registry, tenant);
	if (str_eq_c(name, TENANT_SYSTEM))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the tenant \"" TENANT_SYSTEM "\" owns what belongs to no other and stays");
	outcome = check_write(registry, tenant, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	return tenant_has_finalizers(registry, tenant) ? wait_for_finalizers(registry, tenant) : carry_out(registry, tenant);
}

static enum outcome show_hidden(struct registry *registry, const struct tenant *tenant)
{
	const struct db_value id = db_u(tenant->id);
	struct db_call calls[] = {
		catalogue_hold_call(),
		{ .query = &q_show_traits, .in = &id },
		{ .query = &q_show_classes, .in = &id },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	return calls[1].rows.affected > 0 ? catalogue_raise(registry, CATALOGUE_TRAITS) : OUTCOME_OK;
}

enum outcome tenant_recover(struct registry *registry, struct str name, struct guard guard)
{
	struct tenant tenant;
	enum outcome outcome = lock_tenant(registry, name, &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenant_expired(registry, &tenant))
		return fail_no_tenant(registry, name);
	if (tenant.deleted_us == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "tenant \"%.*s\" is not deleted: there is nothing to recover",
			STR_ARG(name));
	outcome = tenant_check(registry, &tenant, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = show_hidden(registry, &tenant);
	return outcome == OUTCOME_OK ? mark(registry, &tenant, "recovered", db_null('t'), db_null('t')) : outcome;
}

enum outcome tenant_list(struct registry *registry, enum tenant_choice choice, struct str marker, uint64_t limit,
	struct tenant **list, size_t *n, bool *more)
{
	struct db_rows rows;
	enum db_result result;

	if (choice == TENANTS_DELETED)
		result = db_run(registry->db, registry->pool, &q_list_deleted,
			DB_IN(db_t(registry->now_us), db_s(marker), db_u(limit + 1)), &rows);
	else
		result = db_run(registry->db, registry->pool, choice == SPACES_LIVE ? &q_list_spaces : &q_list,
			DB_IN(db_s(marker), db_u(limit + 1)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > limit;
	*n = *more ? (size_t)limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct tenant, *n);
	for (size_t i = 0; i < *n; i++)
		tenant_from_row(&(*list)[i], &rows, i);
	return OUTCOME_OK;
}
