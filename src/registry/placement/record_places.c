// SPDX-License-Identifier: Apache-2.0
// The places of new providers: a tree belongs to one tenant, so what comes to a tree that is there already belongs to its tenant.
#include "base/base.h"

#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/placement/provider.h"
#include "registry/placement/record_internal.h"
#include "registry/type/tree.h"
#include "sql/transfer.h"

// bsearch() by the first member, which is the uid or id.
static_assert(offsetof(struct provider_above, uid) == 0, "what is above begins with its uid");
static_assert(offsetof(struct provider_owner, id) == 0, "an owner begins with its id");

static int compare_uids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct provider_above *find_above(const struct provider_places *places, const struct uuid *uid)
{
	return places->n_above > 0 ? bsearch(uid, places->above, places->n_above, sizeof(*places->above), compare_uids) : NULL;
}

static void add_above(struct provider_places *places, const struct uuid *own, size_t n, const struct uuid *uid, const struct uuid *root)
{
	if (bsearch(uid, own, n, sizeof(*own), compare_uids) == NULL)
		places->above[places->n_above++] = (struct provider_above){ .uid = *uid, .root = *root };
}

// Lists the roots and parents of the records that are no records themselves, each once.
static void list_above(struct registry *registry, const struct provider_record *list, size_t n, struct provider_places *places)
{
	struct uuid *own = POOL_ARRAY(registry->pool, struct uuid, n);
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		own[i] = list[i].uid;
	qsort(own, n, sizeof(*own), compare_uids);
	places->above = POOL_ARRAY(registry->pool, struct provider_above, 2 * n);
	for (size_t i = 0; i < n; i++) {
		add_above(places, own, n, &list[i].root, &list[i].root);
		if (list[i].has_parent)
			add_above(places, own, n, &list[i].parent, &list[i].root);
	}
	if (places->n_above > 0)
		qsort(places->above, places->n_above, sizeof(*places->above), compare_uids);
	for (size_t i = 0; i < places->n_above; i++) {
		if (i == 0 || !uuid_eq(places->above[i].uid, places->above[kept - 1].uid))
			places->above[kept++] = places->above[i];
	}
	places->n_above = kept;
}

static enum outcome read_above(struct registry *registry, struct provider_places *places)
{
	struct db_list uids = db_list_new(registry->pool, 40 * places->n_above);
	struct db_rows rows;

	for (size_t i = 0; i < places->n_above; i++)
		db_list_add_uuid(&uids, &places->above[i].uid);
	if (places->n_above == 0)
		return OUTCOME_OK;
	const struct sql_transfer_above in = { .uids = db_list_end(&uids), .type_id = provider_type(registry)->id };
	enum db_result result = sql_transfer_above_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_transfer_above_row *row = sql_transfer_above_row(&rows, i);
		struct uuid uid;

		uuid_from_bytes(row->uid, &uid);
		struct provider_above *above = find_above(places, &uid);
		assert(above != NULL);
		above->id = row->id;
		above->tenant_id = row->tenant_id;
		above->tenant = row->tenant;
	}
	return OUTCOME_OK;
}

static enum outcome find_system(struct registry *registry, uint64_t *id)
{
	struct db_rows rows;
	enum db_result result = sql_transfer_tenant_run(registry->db, registry->pool,
		&(struct sql_transfer_tenant){ .name = STR(TENANT_SYSTEM) }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail_no_tenant(registry, STR(TENANT_SYSTEM));
	*id = sql_transfer_tenant_row(&rows, 0)->id;
	return OUTCOME_OK;
}

// Sets owners and owner_of. system_id: of the tenant that gets new trees.
static void choose_owners(struct registry *registry, const struct provider_record *list, size_t n, uint64_t system_id,
	struct provider_places *places)
{
	const struct provider_owner of_new_trees = { .id = system_id, .name = STR(TENANT_SYSTEM) };
	struct provider_owner *all = POOL_ARRAY(registry->pool, struct provider_owner, n), *sorted = POOL_ARRAY(registry->pool, struct provider_owner, n);

	for (size_t i = 0; i < n; i++) {
		const struct provider_above *root = find_above(places, &list[i].root);

		all[i] = root == NULL || root->id == 0 ? of_new_trees : (struct provider_owner){ .id = root->tenant_id, .name = root->tenant };
	}
	memcpy(sorted, all, n * sizeof(*all));
	qsort(sorted, n, sizeof(*sorted), compare_ids);
	places->owners = sorted;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || sorted[i].id != sorted[places->n_owners - 1].id)
			sorted[places->n_owners++] = sorted[i];
	}
	places->owner_of = POOL_ARRAY(registry->pool, size_t, n);
	for (size_t i = 0; i < n; i++) {
		struct provider_owner *owner = bsearch(&all[i].id, sorted, places->n_owners, sizeof(*sorted), compare_ids);

		owner->n++;
		places->owner_of[i] = (size_t)(owner - sorted);
	}
}

enum outcome provider_places_find(struct registry *registry, const struct provider_record *list, size_t n,
	struct provider_places *places)
{
	uint64_t system_id = 0;

	assert(n > 0);
	*places = (struct provider_places){ .n_above = 0 };
	list_above(registry, list, n, places);
	enum outcome outcome = read_above(registry, places);
	if (outcome == OUTCOME_OK)
		outcome = find_system(registry, &system_id);
	if (outcome == OUTCOME_OK)
		choose_owners(registry, list, n, system_id, places);
	return outcome;
}

enum outcome provider_records_owners(struct registry *registry, const struct provider_record *list, size_t n,
	struct provider_owner **owners, size_t *n_owners)
{
	struct provider_places places;
	enum outcome outcome = provider_places_find(registry, list, n, &places);

	*owners = places.owners;
	*n_owners = places.n_owners;
	return outcome;
}

// ---- locks

static enum outcome lock_owner(struct registry *registry, const struct provider_owner *owner, struct locked_tenant *tenant)
{
	struct db_call lock = tenant_lock_call(registry, owner->name);
	enum outcome outcome = registry_take_locks(registry, &owner->name, 1, &lock, 1);

	if (outcome == OUTCOME_OK)
		outcome = locked_tenant_of(registry, owner->name, &lock, tenant);
	if (outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE || (outcome == OUTCOME_OK && tenant->id != owner->id))
		return record_fail_changed(registry, "a tenant that has one of the trees was deleted");
	return outcome == OUTCOME_OK && tenant->ends ? tenant_fail_ending(registry, owner->name) : outcome;
}

// Is a row that was just locked where the records and the earlier look at it have it?
static bool is_in_place(const struct provider_places *places, const struct sql_load_lock_above_row *row)
{
	struct uuid uid, root;

	uuid_from_bytes(row->uid, &uid);
	const struct provider_above *above = find_above(places, &uid);
	return above != NULL && row->tenant_id == above->tenant_id && tree_root(row->root, &root) && uuid_eq(root, above->root);
}

static enum outcome lock_above(struct registry *registry, const struct provider_places *places)
{
	uint64_t *ids = POOL_ARRAY(registry->pool, uint64_t, places->n_above);
	struct db_rows rows;
	bool good = true;

	if (places->n_above == 0)
		return OUTCOME_OK;
	for (size_t i = 0; i < places->n_above; i++)
		ids[i] = places->above[i].id;
	const struct sql_load_lock_above in = { .ids = db_list_of_id_set(registry->pool, ids, places->n_above) };
	enum db_result result = sql_load_lock_above_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++)
		good = good && is_in_place(places, sql_load_lock_above_row(&rows, i));
	return good && rows.n == places->n_above ? OUTCOME_OK : record_fail_changed(registry, "a provider's parent is not there, or in another tree");
}

enum outcome provider_places_lock(struct registry *registry, struct provider_places *places)
{
	enum outcome outcome = OUTCOME_OK;

	assert(db_txn_writes(registry->db) && places->n_owners > 0);
	places->tenants = POOL_ARRAY(registry->pool, struct locked_tenant, places->n_owners);
	for (size_t i = 0; outcome == OUTCOME_OK && i < places->n_owners; i++)
		outcome = lock_owner(registry, &places->owners[i], &places->tenants[i]);
	return outcome == OUTCOME_OK ? lock_above(registry, places) : outcome;
}
