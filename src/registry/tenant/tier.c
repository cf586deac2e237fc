// SPDX-License-Identifier: Apache-2.0
// Tiers, as operators manage them by API. tenure-manage changes them, too, by single statements of sql/statements/tiers.sql.
#include "base/base.h"

#include "registry/tenant/tier.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "registry/tenant/tenant.h"
#include "repr/json/doc.h"
#include "sql/tiers.h"

// ---- etags

// A hash without a key: whoever sees a tier's etag sees the tier. So no new key (registry/tags/keys.h) changes it. Two halves,
// because etags have 64 bytes. What was changed has the time in it, so that the etag is new if the content is an earlier one; no
// text of a tier without a time begins like one with it.
static void set_etag(struct registry *registry, struct tier *tier)
{
	struct buf text = buf_new(registry->pool, 256);

	for (unsigned half = 0; half < 2; half++) {
		text.n = 0;
		buf_addf(&text, "tier %u", half);
		if (tier->changed_us != 0)
			buf_addf(&text, "@%llu", (unsigned long long)tier->changed_us);
		buf_addf(&text, ":%llu:%zu:", (unsigned long long)tier->id, tier->name.n);
		buf_add(&text, tier->name);
		if (tier->has_limit)
			buf_addf(&text, ":%llu:", (unsigned long long)tier->max_resources);
		else
			BUF_LIT(&text, "::");
		buf_add(&text, tier->description);
		digest_sha256(buf_str(&text), tier->etag + half * DIGEST_SHA256);
	}
}

// ---- reading

static struct tier tier_of_columns(struct registry *registry, const struct sql_tier *row)
{
	struct tier tier = {
		.id = row->id,
		.name = row->name,
		.has_limit = !row->max_resources_is_null,
		.max_resources = row->max_resources_is_null ? 0 : row->max_resources,
		.description = row->description,
		.changed_us = row->changed_at_is_null ? 0 : row->changed_at,
	};

	set_etag(registry, &tier);
	return tier;
}

static enum outcome fail_no_tier(struct registry *registry, struct str name)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no tier \"%.*s\": GET /v2.0/all/tiers lists them", STR_ARG(name));
}

enum outcome tier_list(struct registry *registry, struct str marker, uint64_t limit, struct tier_page *page)
{
	const struct sql_tier_page in = { .marker = marker.p != NULL ? marker : STR(""), .limit = limit + 1 };
	struct db_rows rows;

	assert(limit > 0);
	enum db_result result = sql_tier_page_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->more = rows.n > limit;
	page->n = page->more ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(registry->pool, struct tier, page->n);
	for (size_t i = 0; i < page->n; i++)
		page->list[i] = tier_of_columns(registry, &sql_tier_page_row(&rows, i)->t);
	return OUTCOME_OK;
}

static enum outcome count_tenants(struct registry *registry, uint64_t id, uint64_t *tenants)
{
	struct db_rows rows;
	enum db_result result = sql_tier_tenants_run(registry->db, registry->pool, &(struct sql_tier_tenants){ .id = id }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*tenants = sql_tier_tenants_row(&rows, 0)->n;
	return OUTCOME_OK;
}

enum outcome tier_get(struct registry *registry, struct str name, struct tier *tier, uint64_t *tenants)
{
	struct db_rows rows;
	enum db_result result = sql_tier_read_run(registry->db, registry->pool, &(struct sql_tier_read){ .name = name }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_no_tier(registry, name);
	*tier = tier_of_columns(registry, &sql_tier_read_row(&rows, 0)->t);
	return count_tenants(registry, tier->id, tenants);
}

// ---- writing

// Locks the tenant "system" (*owner), so that changes of tiers have one order, then the tier, and checks the precondition.
// *there: the tier exists, and *tier is its present state.
static enum outcome begin(struct registry *registry, struct str name, struct guard guard, struct tenant *owner, struct tier *tier, bool *there)
{
	struct db_rows rows;
	enum outcome outcome = tenant_lock_live(registry, STR(TENANT_SYSTEM), owner);

	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = sql_tier_lock_run(registry->db, registry->pool, &(struct sql_tier_lock){ .name = name }, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*there = rows.n > 0;
	if (!*there)
		return guard_check(guard, NULL);
	*tier = tier_of_columns(registry, &sql_tier_lock_row(&rows, 0)->t);
	outcome = guard_check_required(registry, guard, owner->etag_required);
	return outcome == OUTCOME_OK ? guard_check(guard, tier->etag) : outcome;
}

static enum outcome note(struct registry *registry, const struct tenant *owner, struct str name)
{
	struct buf field = buf_new(registry->pool, 64);

	BUF_LIT(&field, "/tiers");
	pointer_add_token(&field, name);
	return tenant_log_beside(registry, owner, buf_str(&field));
}

static bool same_content(const struct tier *a, const struct tier *b)
{
	return a->has_limit == b->has_limit && (!a->has_limit || a->max_resources == b->max_resources) &&
		str_eq(a->description, b->description);
}

static enum db_result create(struct registry *registry, struct tier *tier)
{
	const struct sql_tier_insert in = {
		.name = tier->name,
		.max_resources_is_null = !tier->has_limit,
		.max_resources = tier->max_resources,
		.description = tier->description,
		.changed_at = tier->changed_us,
	};
	struct db_rows rows;
	enum db_result result = sql_tier_insert_run(registry->db, registry->pool, &in, &rows);

	if (result == DB_OK)
		tier->id = rows.insert_id;
	return result;
}

static enum db_result replace(struct registry *registry, const struct tier *tier)
{
	const struct sql_tier_update in = {
		.id = tier->id,
		.max_resources_is_null = !tier->has_limit,
		.max_resources = tier->max_resources,
		.description = tier->description,
		.changed_at = tier->changed_us,
	};

	return sql_tier_update_run(registry->db, registry->pool, &in, NULL);
}

enum outcome tier_put(struct registry *registry, const struct tier *content, struct guard guard, struct tier *tier)
{
	assert(db_txn_writes(registry->db));
	assert(content->has_limit || content->max_resources == 0);
	struct tenant owner;
	bool there;
	enum outcome outcome = begin(registry, content->name, guard, &owner, tier, &there);
	if (outcome != OUTCOME_OK || (there && same_content(tier, content)))
		return outcome;
	const struct tier before = there ? *tier : (struct tier){ .id = 0 };
	*tier = *content;
	tier->id = before.id;
	// Later than before, even if the clock went back.
	tier->changed_us = before.changed_us < registry->stamp_us ? registry->stamp_us : before.changed_us + 1;
	enum db_result result = there ? replace(registry, tier) : create(registry, tier);
	if (result == DB_DUPLICATE) {
		// tenure-manage, which takes no lock, has made it since begin() looked: the next run finds it.
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (result != DB_OK)
		return registry_db_failed(result);
	set_etag(registry, tier);
	outcome = note(registry, &owner, tier->name);
	return outcome == OUTCOME_OK && !there ? OUTCOME_CREATED : outcome;
}

// Says why a tier can't be deleted whose tenants the statement found.
static enum outcome fail_used(struct registry *registry, const struct tier *tier)
{
	uint64_t tenants;
	enum outcome outcome = count_tenants(registry, tier->id, &tenants);

	if (outcome != OUTCOME_OK)
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT,
		"tier \"%.*s\" has %llu tenant%s, of which some may be deleted and recoverable: put them into another tier first, or wait until "
		"they are purged", STR_ARG(tier->name), (unsigned long long)tenants, tenants == 1 ? "" : "s");
}

enum outcome tier_delete(struct registry *registry, struct str name, struct guard guard)
{
	assert(db_txn_writes(registry->db));
	struct tenant owner;
	struct tier tier;
	struct db_rows rows;
	bool there;
	enum outcome outcome = begin(registry, name, guard, &owner, &tier, &there);

	if (outcome == OUTCOME_OK && !there)
		return fail_no_tier(registry, name);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (str_eq_c(name, registry->settings->default_tier))
		return registry_fail(registry, OUTCOME_CONFLICT, "tier \"%.*s\" is what new tenants get (setting default_tier)", STR_ARG(name));
	enum db_result result = sql_tier_delete_run(registry->db, registry->pool, &(struct sql_tier_delete){ .name = name }, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.affected == 0)
		return fail_used(registry, &tier);
	outcome = note(registry, &owner, name);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}
