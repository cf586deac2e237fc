// SPDX-License-Identifier: Apache-2.0
// Deletes tenants, at once or when their finalizers are gone; recovers them; and purges them down to a row without content.
#include "base/base.h"

#include "registry/tenant/tenant.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/tenant/internal.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"
#include "sql/tenants.h"
#include "sql/webhooks.h"

#define DELETION_MEMBER "deletionTimestamp"

bool tenant_deletion_asked(const struct tenant *tenant)
{
	static const char member[] = "\"" DELETION_MEMBER "\":\"";

	// The member is the last one, and the only one at the top whose value is a string: a string further below is followed
	// by "}}".
	return str_ends(tenant->object, STR("\"}")) && memmem(tenant->object.p, tenant->object.n, member,
		sizeof(member) - 1) != NULL;
}

static bool tenant_has_finalizers(struct registry *registry, const struct tenant *tenant)
{
	const struct doc *list;

	return memmem(tenant->object.p, tenant->object.n, "\"finalizers\"", 12) != NULL &&
	       doc_get(tenant_object_doc(registry->pool, tenant), STR("finalizers"), &list) &&
	       doc_kind(list) == DOC_ARRAY && doc_length(list) > 0;
}

// The object with the time at which its deletion was requested, or without if time is "". It is the last member, so equal
// objects are equal texts.
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

struct str tenant_object_shallow_first(struct registry *registry, const struct tenant *tenant)
{
	struct doc *doc = tenant_object_doc(registry->pool, tenant);
	struct buf text = buf_new(registry->pool, tenant->object.n);
	const struct doc *time;
	struct tenant arranged = { .id = tenant->id, .uid = tenant->uid };

	if (json_within_depth(tenant->object, REGISTRY_DEPTH_MAX))
		return tenant->object;
	(void)doc_get(doc, STR(DELETION_MEMBER), &time);
	doc_write_json(doc_shallow_first(registry->pool, doc, REGISTRY_DEPTH_MAX), &text);
	arranged.object = buf_str(&text);
	return object_to_be_deleted(registry, &arranged, doc_string(time));
}

struct str tenant_object_that_waits(struct registry *registry, const struct tenant *before, struct str object)
{
	const struct doc *time;
	struct tenant after = { .id = before->id, .uid = before->uid, .object = object };
	bool waits = tenant_has_finalizers(registry, &after);

	(void)doc_get(tenant_object_doc(registry->pool, before), STR(DELETION_MEMBER), &time);
	return object_to_be_deleted(registry, &after, waits ? doc_string(time) : STR(""));
}

// Deletes the tenant recoverably, or recovers it, depending on whether tenant->deleted_us is set.
static enum outcome mark(struct registry *registry, struct tenant *tenant)
{
	bool deletes = tenant->deleted_us != 0;
	const struct sql_tenant_mark in = {
		.id = tenant->id,
		.deleted_at = tenant->deleted_us,
		.deleted_at_is_null = !deletes,
		.purge_at = tenant->purge_us,
		.purge_at_is_null = !deletes,
	};
	struct db_call calls[] = {
		change_of_tenant(registry, deletes ? "deleted" : "recovered", tenant, deletes ? tenant->etag : NULL,
			deletes ? NULL : tenant->etag),
		sql_tenant_mark_call(registry->pool, &in),
		coherence_raise_call(COHERENCE_TYPES),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	tenant->changed = calls[0].rows.insert_id;
	coherence_raised(registry, COHERENCE_TYPES, &calls[2]);
	return OUTCOME_NO_CONTENT;
}

enum outcome tenant_mark_deleted(struct registry *registry, struct tenant *tenant)
{
	assert(db_txn_writes(registry->db) && tenant->id != 0 && tenant->deleted_us == 0);
	tenant->deleted_us = registry->stamp_us;
	tenant->purge_us = registry->stamp_us + registry_retention_us(registry);
	return mark(registry, tenant);
}

enum outcome tenant_purge(struct registry *registry, const struct tenant *tenant)
{
	assert(db_txn_writes(registry->db) && tenant_expired(registry, tenant));
	struct pool *pool = registry->pool;
	struct db_call calls[] = {
		sql_tenant_bury_call(pool, &(struct sql_tenant_bury){ .id = tenant->id }),
		sql_tenant_delete_count_call(pool, &(struct sql_tenant_delete_count){ .tenant_id = tenant->id }),
		sql_webhook_delete_call(pool, SQL_WEBHOOK_WHICH_OF_TENANT, &(struct sql_webhook_delete){ .id = tenant->id }),
		change_of_tenant(registry, "purged", tenant, tenant->etag, NULL),
	};
	return registry_run_calls(registry, calls, COUNT_OF(calls));
}

// Only records the request: the write that removes the last finalizer deletes the tenant.
static enum outcome wait_for_finalizers(struct registry *registry, struct tenant *tenant)
{
	struct buf time = buf_new(registry->pool, 32);

	if (tenant_deletion_asked(tenant))
		return OUTCOME_ACCEPTED;
	clock_add_rfc3339(&time, registry->stamp_us);
	const struct tenant_content content = { .object = object_to_be_deleted(registry, tenant, buf_str(&time)) };
	enum outcome outcome = tenant_change(registry, &content, tenant);
	return outcome == OUTCOME_OK ? OUTCOME_ACCEPTED : outcome;
}

enum outcome tenant_delete(struct registry *registry, struct str name, struct guard guard, struct tenant *tenant)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = tenant_lock(registry, name, tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenant->deleted_us != 0)
		return tenant_answer_deleted(registry, tenant);
	if (str_eq_c(name, TENANT_SYSTEM))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the tenant \"" TENANT_SYSTEM "\" owns what belongs to no other and stays");
	outcome = tenant_check_write(registry, tenant, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	return tenant_has_finalizers(registry, tenant) ? wait_for_finalizers(registry, tenant) : tenant_mark_deleted(registry,
		tenant);
}

// Makes the hidden traits and classes live that the tenant's resources use.
static enum outcome show_hidden(struct registry *registry, const struct tenant *tenant)
{
	struct pool *pool = registry->pool;
	struct db_call calls[] = {
		coherence_lock_call(),
		sql_tenant_show_traits_call(pool, &(struct sql_tenant_show_traits){ .tenant_id = tenant->id }),
		sql_tenant_show_classes_call(pool, &(struct sql_tenant_show_classes){ .tenant_id = tenant->id }),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	return calls[1].rows.affected > 0 ? coherence_raise(registry, COHERENCE_TRAITS) : OUTCOME_OK;
}

enum outcome tenant_recover(struct registry *registry, struct str name, struct guard guard)
{
	assert(db_txn_writes(registry->db));
	struct tenant tenant;
	enum outcome outcome = tenant_lock(registry, name, &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenant_expired(registry, &tenant))
		return registry_fail_no_tenant(registry, name);
	if (tenant.deleted_us == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "tenant \"%.*s\" is not deleted: there is nothing to recover",
			STR_ARG(name));
	outcome = tenant_check(registry, &tenant, guard);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenant.deleted_us = tenant.purge_us = 0;
	outcome = mark(registry, &tenant);
	if (outcome != OUTCOME_NO_CONTENT)
		return outcome;
	// Behind mark(): the revision of definitions is raised before that of traits is locked, as in every transaction that does
	// both.
	outcome = show_hidden(registry, &tenant);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}
