// SPDX-License-Identifier: Apache-2.0
// Writes inventories. It locks the provider's row, as writers of allocations do, so the capacity cannot change meanwhile.
#include "base/base.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/placement/inventory_internal.h"
#include "registry/placement/resource_class.h"
#include "repr/json/doc.h"

#define GENERATION_CONFLICT "resource provider generation conflict"

// A change of a provider's inventories that is about to happen, under the lock of the provider's row.
struct pending_change {
	struct registry *registry;
	struct provider *provider;
	struct inventory *present; // what the provider has before the change
	uint64_t *present_ids; // the ids of their classes
	size_t n_present;
	const struct inventory_write *write; // what it will have; NULL: inventories are only deleted
	uint64_t *ids; // of the classes in write; 0: no such class
};

static struct db_call read_locked(struct pool *pool, uint64_t resource_id)
{
	return sql_inventory_list_locked_call(pool, &(struct sql_inventory_list_locked){ .resource_id = resource_id });
}

// Locks the provider and reads its inventories. conflict: the error text if the generation in guard is not the present one.
static enum outcome lock_provider(struct pending_change *change, struct registry *registry, const struct uuid *uid,
	const struct provider_guard *guard, const char *conflict, struct provider *provider)
{
	struct db_rows rows;
	enum outcome outcome = provider_lock(registry, uid, guard, conflict, provider, read_locked, &rows);

	if (outcome != OUTCOME_OK)
		return outcome;
	*change = (struct pending_change){
		.registry = registry,
		.provider = provider,
		.present = POOL_ARRAY(registry->pool, struct inventory, rows.n),
		.present_ids = POOL_ARRAY(registry->pool, uint64_t, rows.n),
		.n_present = rows.n,
	};
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_inventory *columns = &sql_inventory_list_locked_row(&rows, i)->i;

		change->present[i] = inventory_of_columns(registry->pool, columns);
		change->present_ids[i] = columns->class_id;
	}
	return OUTCOME_OK;
}

// Looks up the classes of the write. *unknown: the first one that does not exist; p NULL: none.
static enum outcome name_classes(struct pending_change *change, const struct inventory_write *write, struct str *unknown)
{
	struct pool *pool = change->registry->pool;
	struct str *names = POOL_ARRAY(pool, struct str, write->n);

	change->write = write;
	change->ids = POOL_ARRAY(pool, uint64_t, write->n);
	for (size_t i = 0; i < write->n; i++)
		names[i] = write->inventories[i].class;
	return provider_lock_classes(change->registry, names, write->n, change->ids, unknown);
}

// The provider's inventory of that class; NULL: none.
static const struct inventory *inventory_of(const struct pending_change *change, struct str class)
{
	for (size_t i = 0; i < change->n_present; i++) {
		if (str_eq(change->present[i].class, class))
			return &change->present[i];
	}
	return NULL;
}

int64_t inventory_capacity(const struct inventory *inventory)
{
	double capacity = ((double)inventory->total - (double)inventory->reserved) * inventory->allocation_ratio;

	return capacity < 9e18 ? (int64_t)capacity : INT64_C(9000000000000000000);
}

enum outcome inventory_check(struct registry *registry, const struct uuid *provider, const struct inventory *inventory,
	bool may_reserve_all, const char *what)
{
	bool fits = may_reserve_all ? inventory->reserved <= inventory->total : inventory->reserved < inventory->total;
	struct str uid = uuid_str(registry->pool, *provider);

	if (fits && (may_reserve_all || inventory_capacity(inventory) > 0))
		return OUTCOME_OK;
	if (fits)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"Unable to %s inventory for resource provider %.*s: Invalid inventory for '%.*s' on resource provider "
			"'%.*s'. Its capacity, (total - reserved) * allocation_ratio, is less than 1.",
			what, STR_ARG(uid), STR_HEAD_ARG(inventory->class, 256), STR_ARG(uid));
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
		"Unable to %s inventory for resource provider %.*s: Invalid inventory for '%.*s' on resource provider "
		"'%.*s'. The reserved value is greater than %stotal.",
		what, STR_ARG(uid), STR_HEAD_ARG(inventory->class, 256), STR_ARG(uid), may_reserve_all ? "" : "or equal to ");
}

// Checks the inventories of the write. action: "create" or "update", for error texts.
static enum outcome check_capacity(const struct pending_change *change, const char *action)
{
	const struct inventory_write *write = change->write;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n; i++)
		outcome = inventory_check(change->registry, &change->provider->resource.uid, &write->inventories[i],
			write->may_reserve_all, action);
	return outcome;
}

// Locks the provider, reads its inventories, and checks those of the write. action: as in check_capacity(). *unknown: the first
// class of the write that does not exist; p NULL: none. The caller reports that one: so a wrong inventory is reported first, as
// in OpenStack's service.
static enum outcome begin_write(struct pending_change *change, struct registry *registry, const struct uuid *uid,
	const struct inventory_write *write, const char *action, struct provider *provider, struct str *unknown)
{
	enum outcome outcome = lock_provider(change, registry, uid, &write->guard, GENERATION_CONFLICT, provider);

	if (outcome == OUTCOME_OK)
		outcome = name_classes(change, write, unknown);
	return outcome == OUTCOME_OK ? check_capacity(change, action) : outcome;
}

// Logs that an inventory now has less capacity than is allocated: the operator has to know.
static void warn_of_overuse(const struct pending_change *change, const struct inventory *inventory)
{
	const struct inventory *before = inventory_of(change, inventory->class);
	int64_t capacity = inventory_capacity(inventory);

	if (before != NULL && before->used > 0 && capacity < (int64_t)before->used)
		log_warning("provider %.*s has a capacity of %lld of %.*s now, and %llu of it are allocated",
			UUID_ARG(change->registry->pool, change->provider->resource.uid),
			(long long)capacity, STR_ARG(inventory->class), (unsigned long long)before->used);
}

static struct sql_inventory_put put_of(const struct pending_change *change, size_t i)
{
	struct registry *registry = change->registry;
	const struct inventory *inventory = &change->write->inventories[i];

	return (struct sql_inventory_put){
		.resource_id = change->provider->resource.id,
		.class_id = change->ids[i],
		.total = inventory->total,
		.reserved = inventory->reserved,
		.min_unit = inventory->min_unit,
		.max_unit = inventory->max_unit,
		.step_size = inventory->step_size,
		.allocation_ratio = str_printf(registry->pool, "%.17g", inventory->allocation_ratio),
		.capacity = inventory_capacity(inventory),
		.now = registry->stamp_us,
	};
}

// Inserts or updates all inventories of the write.
static enum outcome put_all(const struct pending_change *change)
{
	struct registry *registry = change->registry;
	size_t n = change->write->n;
	struct sql_inventory_put *puts = POOL_ARRAY(registry->pool, struct sql_inventory_put, n);

	for (size_t i = 0; i < n; i++) {
		warn_of_overuse(change, &change->write->inventories[i]);
		puts[i] = put_of(change, i);
	}
	enum db_result result = n > 1 ? sql_inventory_put_bulk(registry->db, registry->pool, puts, n, NULL) :
				n == 1 ? sql_inventory_put_run(registry->db, registry->pool, puts, NULL) : DB_OK;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Writes the inventories of the write (NULL: none), and deletes those of the classes in gone.
static enum outcome write_changes(const struct pending_change *change, const uint64_t *gone, size_t n_gone)
{
	struct registry *registry = change->registry;
	struct db_list ids = db_list_new(registry->pool, 64);
	struct db_call calls[PROVIDER_TOUCHES + 1];
	struct str former = inventory_list_text(registry->pool, change->present, change->n_present);
	size_t n = provider_touch(registry, change->provider, "/inventories", former, true, calls);

	for (size_t i = 0; i < n_gone; i++)
		db_list_add_u64(&ids, gone[i]);
	if (n_gone > 0)
		calls[n++] = sql_inventory_delete_call(registry->pool,
			&(struct sql_inventory_delete){ .ids = db_list_end(&ids), .resource_id = change->provider->resource.id });
	enum outcome outcome = provider_run(registry, calls, n);
	return outcome == OUTCOME_OK && change->write != NULL ? put_all(change) : outcome;
}

enum outcome inventory_add(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider)
{
	struct pending_change change;
	struct str unknown;

	assert(db_txn_writes(registry->db) && write->n == 1);
	enum outcome outcome = begin_write(&change, registry, uid, write, "create", provider, &unknown);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (unknown.p != NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"Unable to create inventory for resource provider %.*s: No such resource class %.*s.",
			UUID_ARG(registry->pool, change.provider->resource.uid), STR_ARG(unknown));
	if (inventory_of(&change, write->inventories[0].class) != NULL)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
			"Update conflict: resource provider %.*s has inventory of class %.*s already",
			UUID_ARG(registry->pool, change.provider->resource.uid),
			STR_ARG(write->inventories[0].class));
	outcome = write_changes(&change, NULL, 0);
	return outcome == OUTCOME_OK ? OUTCOME_CREATED : outcome;
}

enum outcome inventory_change(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider)
{
	assert(db_txn_writes(registry->db) && write->n == 1);
	struct pending_change change;
	struct str class = write->inventories[0].class, unknown;
	enum outcome outcome = begin_write(&change, registry, uid, write, "update", provider, &unknown);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (unknown.p != NULL)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No such resource class %.*s.", STR_HEAD_ARG(unknown, 256));
	if (inventory_of(&change, class) == NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"No inventory record with resource class for resource provider %.*s: No inventory of class %.*s found.",
			UUID_ARG(registry->pool, change.provider->resource.uid), STR_HEAD_ARG(class, 256));
	return write_changes(&change, NULL, 0);
}

// ---- inventories that are deleted

static bool is_written(const struct pending_change *change, uint64_t id)
{
	for (size_t i = 0; change->write != NULL && i < change->write->n; i++) {
		if (change->ids[i] == id)
			return true;
	}
	return false;
}

// Finds the inventories that the write does not mention. *in_use: names of those with allocations, for a message; "": none.
static size_t find_gone(const struct pending_change *change, uint64_t *gone, struct str *in_use)
{
	struct buf names = buf_new(change->registry->pool, 64);
	size_t n = 0;

	for (size_t i = 0; i < change->n_present; i++) {
		if (is_written(change, change->present_ids[i]))
			continue;
		gone[n++] = change->present_ids[i];
		if (change->present[i].used > 0)
			buf_addf(&names, "%s%.*s", names.n > 0 ? ", " : "", STR_ARG(change->present[i].class));
	}
	*in_use = buf_str(&names);
	return n;
}

// Refuses the write if it lowers a capacity below what is allocated of it. A capacity that is too small already may be raised.
static enum outcome check_claims(const struct pending_change *change)
{
	const struct inventory_write *write = change->write;
	struct buf names = buf_new(change->registry->pool, 64);

	for (size_t i = 0; i < write->n; i++) {
		const struct inventory *before = inventory_of(change, write->inventories[i].class);
		int64_t capacity = inventory_capacity(&write->inventories[i]);
		if (before == NULL || capacity >= (int64_t)before->used || capacity >= inventory_capacity(before))
			continue;
		buf_addf(&names, "%s%.*s: %lld of %llu", names.n > 0 ? ", " : "", STR_ARG(before->class), (long long)capacity,
			(unsigned long long)before->used);
	}
	if (names.n == 0)
		return OUTCOME_OK;
	return provider_fail_coded(change->registry, OUTCOME_CONFLICT, "inventory.inuse",
		"the capacity would be less than what is allocated by now (%.*s)", STR_ARG(names));
}

enum outcome inventory_set_all(struct registry *registry, const struct uuid *uid, const struct inventory_write *write,
	struct provider *provider)
{
	struct pending_change change;
	struct str unknown, in_use;

	assert(db_txn_writes(registry->db) && (write->n == 0 || write->inventories != NULL));
	enum outcome outcome = begin_write(&change, registry, uid, write, "update", provider, &unknown);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (unknown.p != NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"Unknown resource class in inventory for resource provider %.*s: No such resource class %.*s.",
			UUID_ARG(registry->pool, change.provider->resource.uid), STR_HEAD_ARG(unknown, 256));
	uint64_t *gone = POOL_ARRAY(registry->pool, uint64_t, change.n_present);
	size_t n = find_gone(&change, gone, &in_use);
	if (in_use.n > 0)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "inventory.inuse",
			"update conflict: Inventory for '%.*s' on resource provider '%.*s' in use.", STR_ARG(in_use),
			UUID_ARG(registry->pool, change.provider->resource.uid));
	outcome = write->keeps_claims ? check_claims(&change) : OUTCOME_OK;
	return outcome == OUTCOME_OK ? write_changes(&change, gone, n) : outcome;
}

enum outcome inventory_delete(struct registry *registry, const struct uuid *uid, struct str class,
	const struct provider_guard *guard, struct provider *provider)
{
	struct pending_change change;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = lock_provider(&change, registry, uid, guard, GENERATION_CONFLICT, provider);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct inventory *present = inventory_of(&change, class);
	if (present == NULL)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No inventory of class %.*s found for delete: the resource "
			"provider has none.", STR_HEAD_ARG(class, 256));
	if (present->used > 0)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
			"Unable to delete inventory of class %.*s: Inventory for '%.*s' on resource provider '%.*s' in use.",
			STR_ARG(class), STR_ARG(class), UUID_ARG(registry->pool, change.provider->resource.uid));
	outcome = write_changes(&change, &change.present_ids[present - change.present], 1);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

enum outcome inventory_delete_all(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	struct provider *provider)
{
	struct pending_change change;
	struct str in_use;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = lock_provider(&change, registry, uid, guard,
		"Unable to delete inventory for the resource provider because the inventory was updated by another process. "
		"Please retry your request.",
		provider);
	if (outcome != OUTCOME_OK)
		return outcome;
	uint64_t *gone = POOL_ARRAY(registry->pool, uint64_t, change.n_present);
	size_t n = find_gone(&change, gone, &in_use);
	if (in_use.n > 0)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "inventory.inuse",
			"Unable to delete inventory for resource provider %.*s because the inventory is in use: Inventory for '%.*s' on "
			"resource provider '%.*s' in use.",
			UUID_ARG(registry->pool, change.provider->resource.uid), STR_ARG(in_use),
				UUID_ARG(registry->pool, change.provider->resource.uid));
	outcome = write_changes(&change, gone, n);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// ---- what a change replaced

struct str inventory_list_text(struct pool *pool, const struct inventory *list, size_t n)
{
	struct buf text = buf_new(pool, 160 * n + 2);

	buf_addc(&text, '{');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&text, ',');
		json_add_string(&text, list[i].class);
		BUF_LIT(&text, ":{");
		if (list[i].class_id >= RESOURCE_CLASS_MIN_CUSTOM)
			buf_addf(&text, "\"class_id\":%llu,", (unsigned long long)list[i].class_id);
		buf_addf(&text, "\"total\":%llu,\"reserved\":%llu,\"min_unit\":%llu,\"max_unit\":%llu,\"step_size\":%llu,"
			"\"allocation_ratio\":",
			(unsigned long long)list[i].total, (unsigned long long)list[i].reserved, (unsigned long long)list[i].min_unit,
			(unsigned long long)list[i].max_unit, (unsigned long long)list[i].step_size);
		inventory_add_ratio(&text, list[i].allocation_ratio);
		buf_addc(&text, '}');
	}
	buf_addc(&text, '}');
	return buf_str(&text);
}

static uint64_t number_of(const struct doc *inventory, const char *name)
{
	const struct doc *value;
	uint64_t number = 0;

	if (doc_get(inventory, str_c(name), &value))
		(void)doc_u64(value, &number);
	return number;
}

static struct inventory inventory_of_text(struct pool *pool, struct str class, const struct doc *doc)
{
	const struct doc *ratio = NULL;

	(void)doc_get(doc, STR("allocation_ratio"), &ratio);
	return (struct inventory){
		.class = class,
		.class_id = number_of(doc, "class_id"),
		.total = number_of(doc, "total"),
		.reserved = number_of(doc, "reserved"),
		.min_unit = number_of(doc, "min_unit"),
		.max_unit = number_of(doc, "max_unit"),
		.step_size = number_of(doc, "step_size"),
		.allocation_ratio = ratio != NULL ? strtod(str_cstr(pool, doc_number_text(pool, ratio)), NULL) : 1,
	};
}

size_t inventory_list_of_text(struct pool *pool, struct str text, struct inventory **list)
{
	const struct doc *doc = stored_document(pool, (struct stored_place){ .table = "former_resources", .column = "body" }, text);
	size_t n = 0;

	*list = POOL_ARRAY(pool, struct inventory, doc_length(doc));
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
		(*list)[n++] = inventory_of_text(pool, it.name, it.value);
	return n;
}

enum outcome inventory_restore(struct registry *registry, const struct uuid *uid, struct str former, struct provider *provider)
{
	struct inventory *list;
	size_t n = inventory_list_of_text(registry->pool, former, &list);
	struct kept_class *classes = POOL_ARRAY(registry->pool, struct kept_class, n);
	const struct inventory_write write = {
		.guard.guard.prevents_lost_update = true,
		.may_reserve_all = true,
		.keeps_claims = true,
		.inventories = list,
		.n = n,
	};

	assert(db_txn_writes(registry->db));
	for (size_t i = 0; i < n; i++)
		classes[i] = (struct kept_class){ &list[i].class, list[i].class_id };
	enum outcome outcome = provider_name_kept_classes(registry, classes, n);
	return outcome == OUTCOME_OK ? inventory_set_all(registry, uid, &write, provider) : outcome;
}
