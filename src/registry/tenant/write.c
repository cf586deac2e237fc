// SPDX-License-Identifier: Apache-2.0
// Creates and changes tenants.
#include "base/base.h"

#include "registry/core/settings.h"
#include "registry/tenant/tenant.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/internal.h"
#include "registry/type/policy.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/tenants.h"
#include "sql/tiers.h"

// The database's JSON functions must be able to read the annotations in the object. before: the object until now. If that is
// too deep already, because an earlier version accepted it, the new one may be, too.
static enum outcome check_depth(struct registry *registry, struct str object, struct str before)
{
	if (json_within_depth(object, REGISTRY_DEPTH_MAX) || !json_within_depth(before, REGISTRY_DEPTH_MAX))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "what is stored may be nested %d levels deep at most",
		REGISTRY_DEPTH_MAX);
}

// Refuses what is larger than max_body, unless before, as it was until now, is no smaller: many small patches must not make a
// document that a dump could not be restored with. before NULL: the tenant is new.
static enum outcome check_size(struct registry *registry, const struct tenant *tenant, const struct tenant *before)
{
	unsigned long long most = registry->settings->max_body, bytes = tenant->metadata.n + tenant->object.n;

	if (bytes <= most || (before != NULL && bytes <= before->metadata.n + before->object.n))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BODY_TOO_LARGE,
		"the tenant's metadata and object would have %llu bytes: they may have %llu (max_body)", bytes, most);
}

// Sets tenant->policy to the policy in the object's spec.
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

// Finds the tier that the tenant gets, and keeps it from being removed until the transaction ends.
static enum outcome find_tier(struct registry *registry, struct str name, uint64_t *id, struct tenant *tenant)
{
	const struct sql_tier_take in = { .name = name };
	struct db_rows rows;
	enum db_result result = sql_tier_take_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"there is no tier \"%.*s\"; GET /v2.0/all/tiers lists them", STR_ARG(name));
	const struct sql_tier_take_row *tier = sql_tier_take_row(&rows, 0);
	*id = tier->id;
	tenant->tier = name;
	tenant->has_limit = !tier->max_resources_is_null;
	tenant->max_resources = tier->max_resources;
	return OUTCOME_OK;
}

static enum outcome check_id(struct registry *registry, struct str name)
{
	if (!registry_id_is_valid(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a tenant's id is 1 to 255 characters of UTF-8, without \"/\" and NUL, and neither \".\" nor \"..\"");
	return OUTCOME_OK;
}

static struct str etag_value(const struct tenant *tenant)
{
	return str_n((const char *)tenant->etag, sizeof(tenant->etag));
}

static struct resource default_namespace(struct registry *registry, const struct tenant *tenant)
{
	return (struct resource){
		.uid = uuid_new(),
		.tenant_id = tenant->id,
		.tenant = tenant->name,
		.type = type_namespaces(registry),
		.name = STR("default"),
		.live = RESOURCE_PINNED,
		.meta = STR("{}"),
		.body = STR("{}"),
	};
}

// Inserts the rows that come with a new tenant: its count of resources, its namespace, and the change rows of both.
static enum outcome insert_belongings(struct registry *registry, struct tenant *tenant)
{
	struct pool *pool = registry->pool;
	struct resource space = default_namespace(registry, tenant);
	struct db_call calls[] = {
		resource_insert_call(registry, &space),
		change_of_resource(registry, "created", &space, NULL, space.stored_etag),
		resource_number_inserted_call(registry, &space),
		sql_tenant_insert_count_call(pool, &(struct sql_tenant_insert_count){ .tenant_id = tenant->id }),
		change_of_tenant(registry, "created", tenant, NULL, tenant->etag),
		sql_tenant_number_call(pool, &(struct sql_tenant_number){ .id = tenant->id }),
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
		outcome = find_tier(registry, content->tier.p != NULL ? content->tier : str_c(registry->settings->default_tier),
			&tier_id, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenant->metadata = content->metadata.p != NULL ? content->metadata : STR("{}");
	tenant->object = content->object.p != NULL ? content->object : STR("{}");
	outcome = check_depth(registry, tenant->object, STR("{}"));
	if (outcome == OUTCOME_OK)
		outcome = check_size(registry, tenant, NULL);
	if (outcome == OUTCOME_OK)
		outcome = read_policy(registry, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenant->etag_required = content->tells_etag_required && content->etag_required;
	tenant->created_us = tenant->updated_us = registry->stamp_us;
	etag_of_tenant(registry, tenant);
	const struct sql_tenant_insert in = {
		.name = name,
		.uid = uuid_bytes(&tenant->uid),
		.tier_id = tier_id,
		.metadata = tenant->metadata,
		.etag_required = tenant->etag_required,
		.etag = etag_value(tenant),
		.revision = tenant->revision,
		.now = registry->stamp_us,
		.object = tenant->object,
		.type_policy = str_c(tenant->policy),
	};
	enum db_result result = sql_tenant_insert_run(registry->db, registry->pool, &in, &rows);
	if (result == DB_DUPLICATE) { // another request created it meanwhile
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

// Gives the tenant, as it is to be from now on, its revision, time and etag. Returns its row.
static struct sql_tenant_update next_revision(struct registry *registry, struct tenant *tenant, uint64_t tier_id)
{
	tenant->revision++;
	tenant->updated_us = registry->stamp_us;
	etag_of_tenant(registry, tenant);
	return (struct sql_tenant_update){
		.id = tenant->id,
		.tier_id = tier_id,
		.metadata = tenant->metadata,
		.etag_required = tenant->etag_required,
		.etag = etag_value(tenant),
		.revision = tenant->revision,
		.updated_at = tenant->updated_us,
		.object = tenant->object,
		.type_policy = str_c(tenant->policy),
	};
}

// The tenant's object without the annotations that its metadata has: a name has one value, the one that was written last, and
// metadata was written just now.
static struct str object_beside_metadata(struct registry *registry, const struct tenant *tenant)
{
	struct doc *object, *annotations;
	struct buf text = buf_new(registry->pool, tenant->object.n);

	if (memmem(tenant->object.p, tenant->object.n, "\"annotations\"", 13) == NULL)
		return tenant->object;
	object = tenant_object_doc(registry->pool, tenant);
	annotations = doc_own_member(object, STR("annotations"));
	size_t n = doc_length(annotations);
	for (struct doc_iter it = doc_iter(tenant_metadata_doc(registry->pool, tenant)); doc_next(&it);)
		doc_remove(annotations, it.name);
	if (doc_length(annotations) == n)
		return tenant->object;
	if (doc_length(annotations) == 0)
		doc_remove(object, STR("annotations"));
	doc_write_json(object, &text);
	return buf_str(&text);
}

// Sets what the content has, except the tier.
static void set_content(struct registry *registry, const struct tenant_content *content, struct tenant *tenant)
{
	const struct tenant before = *tenant;

	if (content->metadata.p != NULL)
		tenant->metadata = content->metadata;
	if (content->metadata.p != NULL && content->object.p == NULL)
		tenant->object = object_beside_metadata(registry, tenant);
	if (content->tells_etag_required)
		tenant->etag_required = content->etag_required;
	if (content->object.p != NULL)
		tenant->object = tenant_deletion_asked(&before) ? tenant_object_that_waits(registry, &before, content->object) :
			content->object;
}

bool tenant_has_content(struct registry *registry, const struct tenant *tenant, const struct tenant_content *content)
{
	struct tenant after = *tenant;

	if (content->tier.p != NULL)
		after.tier = content->tier;
	set_content(registry, content, &after);
	return same_content(&after, tenant);
}

enum outcome tenant_change(struct registry *registry, const struct tenant_content *content, struct tenant *tenant)
{
	assert(db_txn_writes(registry->db) && tenant->id != 0 && tenant->deleted_us == 0);
	const struct tenant before = *tenant;
	uint64_t tier_id;
	enum outcome outcome = find_tier(registry, content->tier.p != NULL ? content->tier : tenant->tier, &tier_id, tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	set_content(registry, content, tenant);
	outcome = check_depth(registry, tenant->object, before.object);
	if (outcome == OUTCOME_OK)
		outcome = check_size(registry, tenant, &before);
	if (outcome == OUTCOME_OK)
		outcome = read_policy(registry, tenant);
	if (outcome != OUTCOME_OK || same_content(tenant, &before))
		return outcome;
	// Annotations and policy decide which definitions serve the tenant.
	bool decides = !str_eq(tenant->object, before.object) || !str_eq(tenant->metadata, before.metadata);
	const struct sql_tenant_update in = next_revision(registry, tenant, tier_id);
	struct db_call calls[4] = { change_of_tenant_update(registry, &before, tenant) };
	size_t n = change_keep_tenant(registry, tenant->id, calls, 1);
	calls[n++] = sql_tenant_update_call(registry->pool, &in);
	if (decides)
		calls[n++] = coherence_raise_call(COHERENCE_TYPES);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	tenant->changed = calls[0].rows.insert_id;
	if (decides)
		coherence_raised(registry, COHERENCE_TYPES, &calls[n - 1]);
	return OUTCOME_OK;
}

enum outcome tenant_check_write(struct registry *registry, const struct tenant *tenant, struct guard guard)
{
	assert(db_txn_writes(registry->db) && tenant->id != 0);
	enum outcome outcome = guard_check_required(registry, guard, tenant->etag_required);
	return outcome == OUTCOME_OK ? tenant_check(registry, tenant, guard) : outcome;
}

static enum outcome modify(struct registry *registry, const struct tenant_content *content, struct guard guard,
	struct tenant *tenant)
{
	enum outcome outcome = tenant_check_write(registry, tenant, guard);

	return outcome == OUTCOME_OK ? tenant_change(registry, content, tenant) : outcome;
}

enum outcome tenant_patch(struct registry *registry, struct str name, const struct tenant_edit *edit, struct guard guard,
	struct tenant *tenant)
{
	assert(db_txn_writes(registry->db) && edit->apply != NULL);
	struct tenant_content content;
	enum outcome outcome = tenant_lock(registry, name, tenant);

	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		outcome = tenant_answer_deleted(registry, tenant);
	if (outcome == OUTCOME_OK)
		outcome = tenant_check_write(registry, tenant, guard);
	if (outcome == OUTCOME_OK)
		outcome = edit->apply(edit->arg, tenant, &content);
	bool waited = outcome == OUTCOME_OK && tenant_deletion_asked(tenant);
	if (outcome == OUTCOME_OK)
		outcome = tenant_change(registry, &content, tenant);
	if (outcome != OUTCOME_OK || !waited || tenant_deletion_asked(tenant))
		return outcome;
	outcome = tenant_mark_deleted(registry, tenant);
	return outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : outcome;
}

enum outcome tenant_lock_live(struct registry *registry, struct str name, struct tenant *tenant)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = tenant_lock(registry, name, tenant);

	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		return tenant_answer_deleted(registry, tenant);
	if (outcome == OUTCOME_OK)
		registry_concerns(registry, name);
	return outcome;
}

enum outcome tenant_log_beside(struct registry *registry, const struct tenant *tenant, struct str field)
{
	assert(db_txn_writes(registry->db) && tenant->id != 0 && tenant->deleted_us == 0);
	struct db_call call = change_beside_tenant(registry, tenant, field);
	enum db_result result = db_run_call(registry->db, registry->pool, &call);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
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

// Has its time to be purged passed by this host's clock and by the database's? A purge can't be undone, so one wrong clock must
// not cause it (registry/upkeep/reap.h).
static enum outcome is_expired_for_good(struct registry *registry, const struct tenant *tenant, bool *expired)
{
	int64_t there_us = 0;

	*expired = tenant_expired(registry, tenant);
	enum outcome outcome = *expired ? registry_database_now(registry, &there_us) : OUTCOME_OK;
	*expired = *expired && tenant->purge_us <= there_us;
	return outcome;
}

// Creates the tenant where there is none. locked: what tenant_lock() has returned, which found no live one.
static enum outcome make(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, enum outcome locked, struct tenant *tenant)
{
	bool expired;

	if (locked == OUTCOME_NOT_FOUND)
		return create(registry, name, content, guard, tenant);
	if (locked != OUTCOME_OK)
		return locked;
	enum outcome outcome = is_expired_for_good(registry, tenant, &expired);
	if (outcome == OUTCOME_OK && !expired)
		return answer_recoverable(registry, tenant);
	if (outcome == OUTCOME_OK)
		outcome = tenant_purge(registry, tenant);
	return outcome == OUTCOME_OK ? create(registry, name, content, guard, tenant) : outcome;
}

static bool is_live(enum outcome locked, const struct tenant *tenant)
{
	return locked == OUTCOME_OK && tenant->deleted_us == 0;
}

static enum outcome put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant)
{
	enum outcome locked = tenant_lock(registry, name, tenant);

	return is_live(locked, tenant) ? modify(registry, content, guard, tenant) :
		make(registry, name, content, guard, locked, tenant);
}

enum outcome tenant_check_reserved(struct registry *registry, struct str name)
{
	const char *reserved = realm_reserved(name);

	return reserved == NULL ? OUTCOME_OK : registry_fail(registry, OUTCOME_BAD_PARAMETER, "%s", reserved);
}

enum outcome tenant_put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = tenant_check_reserved(registry, name);

	if (outcome == OUTCOME_OK)
		outcome = put(registry, name, content, guard, tenant);
	if (outcome == OUTCOME_CREATED)
		registry_concerns(registry, name);
	return outcome;
}

enum outcome tenant_find_or_make(struct registry *registry, struct str name, bool may_make, bool *made)
{
	const struct tenant_content content = { 0 };

	return tenant_find_or_make_with(registry, name, may_make ? &content : NULL, made);
}

enum outcome tenant_find_or_make_with(struct registry *registry, struct str name, const struct tenant_content *content,
	bool *made)
{
	assert(db_txn_writes(registry->db));
	struct tenant tenant;
	enum outcome outcome = str_eq_c(name, TENANT_SYSTEM) ? OUTCOME_OK : tenant_check_reserved(registry, name);

	*made = false;
	if (outcome == OUTCOME_OK)
		outcome = tenant_get(registry, name, &tenant);
	if (outcome != OUTCOME_NOT_FOUND)
		return outcome;
	if (content == NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "there is no tenant \"%.*s\": make it first",
			STR_ARG(name));
	outcome = tenant_lock(registry, name, &tenant);
	if (is_live(outcome, &tenant))
		return OUTCOME_OK; // somebody has made it meanwhile: it keeps what that one gave it
	outcome = make(registry, name, content, (struct guard){ 0 }, outcome, &tenant);
	if (outcome == OUTCOME_RECOVERABLE)
		return tenant_fail_deleted(registry, &tenant);
	*made = outcome == OUTCOME_CREATED;
	return *made ? OUTCOME_OK : outcome;
}

enum outcome tenant_ensure(struct registry *registry, struct str name)
{
	bool made;

	return tenant_find_or_make(registry, name, true, &made);
}
