// SPDX-License-Identifier: Apache-2.0
// Takes back changes of a provider's inventories and aggregates. They stand in tables of their own, and a change of them replaces
// all that the provider has there.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "base/pool.h"
#include "registry/core/stored.h"
#include "registry/placement/aggregate.h"
#include "registry/placement/inventory.h"
#include "registry/placement/restore.h"
#include "repr/json/doc.h"

enum beside undo_beside_of(struct registry *registry, uint64_t type_id, struct str fields)
{
	static const char *const known[] = {
		[BESIDE_INVENTORIES] = "[\"/inventories\"]",
		[BESIDE_AGGREGATES] = "[\"/aggregates\"]",
		[BESIDE_ALLOCATIONS] = "[\"/allocations\"]",
	};

	for (enum beside beside = BESIDE_INVENTORIES; beside < COUNT_OF(known); beside++)
		if (str_eq_c(fields, known[beside]))
			return type_id == provider_type(registry)->id ? beside : BESIDE_NONE;
	return BESIDE_NONE;
}

enum beside undo_beside(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	return row->type_id_is_null ? BESIDE_NONE : undo_beside_of(undo->registry, row->type_id, row->fields);
}

struct str undo_beside_name(enum beside beside)
{
	static const char *const names[] = { [BESIDE_INVENTORIES] = "inventories", [BESIDE_AGGREGATES] = "aggregates",
		[BESIDE_ALLOCATIONS] = "allocations" };

	assert(beside != BESIDE_NONE && beside < COUNT_OF(names));
	return str_c(names[beside]);
}

struct taken {
	struct inventory *list;
	size_t n, room;
	struct pool *pool;
};

static void take(void *arg, const struct inventory *inventory, struct pool *pool)
{
	struct taken *taken = arg;

	UNUSED(pool);
	if (taken->n == taken->room) {
		size_t room = taken->room * 2 + 8;
		struct inventory *list = POOL_ARRAY(taken->pool, struct inventory, room);
		if (taken->n > 0)
			memcpy(list, taken->list, taken->n * sizeof(*list));
		taken->list = list;
		taken->room = room;
	}
	taken->list[taken->n] = *inventory;
	taken->list[taken->n].class_id = 0; // it is not shown
	taken->list[taken->n++].class = str_dup(taken->pool, inventory->class);
}

enum outcome undo_beside_present(struct registry *registry, enum beside beside, const struct uuid *uid, struct str *text)
{
	struct taken taken = { .pool = registry->pool };
	const struct inventory_taker taker = { take, &taken };
	struct provider provider;
	struct uuid *aggregates;
	size_t n;
	enum outcome outcome;

	if (beside == BESIDE_INVENTORIES) {
		outcome = inventory_list(registry, uid, &provider, &taker);
		*text = inventory_list_text(registry->pool, taken.list, taken.n);
		return outcome;
	}
	outcome = aggregate_list(registry, uid, &provider, &aggregates, &n);
	if (outcome == OUTCOME_OK)
		*text = aggregate_list_text(registry->pool, aggregates, n);
	return outcome;
}

const struct doc *undo_beside_replaced(struct registry *registry, enum beside beside, uint64_t change_id, struct str text)
{
	const struct stored_place place = { .table = "former_resources", .column = "body", .id = change_id };

	assert(beside == BESIDE_INVENTORIES || beside == BESIDE_AGGREGATES);
	struct doc *doc = stored_document(registry->pool, place, text);
	for (struct doc_iter it = doc_iter(doc); beside == BESIDE_INVENTORIES && doc_next(&it);) {
		if (doc_kind(it.value) == DOC_OBJECT)
			doc_remove(doc_own_member(doc, it.name), STR("class_id"));
	}
	return doc;
}

// Of the consumers that the request concerned: a provider may have thousands.
static enum outcome read_allocations(struct undo *undo, const struct sql_undo_rows_row *row, struct undo_item *item)
{
	struct doc *now;
	enum outcome outcome = allocations_present_doc(undo->registry, row->resource_id, row->former_body, &now);

	if (outcome != OUTCOME_OK)
		return outcome;
	item->beside_now = now;
	item->beside_restored = allocations_replaced_doc(undo->registry, row->former_body);
	return OUTCOME_OK;
}

enum outcome undo_read_beside(struct undo *undo, const struct sql_undo_rows_row *row, struct undo_item *item)
{
	const struct stored_place place = { .table = "former_resources", .column = "body", .id = row->id };
	struct pool *pool = undo->registry->pool;
	enum beside beside = undo_beside(undo, row);
	struct str text;

	item->beside = undo_beside_name(beside);
	item->restored.state = FORMER_UNKNOWN;
	if (beside == BESIDE_ALLOCATIONS)
		return row->former_locked_is_null ? OUTCOME_OK : read_allocations(undo, row, item);
	if (!row->former_locked_is_null)
		item->beside_restored = undo_beside_replaced(undo->registry, beside, row->id, row->former_body);
	if (row->live_is_null)
		return OUTCOME_OK;
	enum outcome outcome = undo_beside_present(undo->registry, beside, &item->uid, &text);
	if (outcome == OUTCOME_OK)
		item->beside_now = stored_document(pool, place, text);
	if (outcome == OUTCOME_NOT_FOUND) // deleted, which find_changed() notes
		return OUTCOME_OK;
	return outcome;
}

enum outcome undo_restore_beside(struct undo *undo, const struct sql_undo_rows_row *row)
{
	struct str path = undo_path(undo, row);
	struct provider provider;
	struct uuid uid;

	assert(undo_beside(undo, row) != BESIDE_ALLOCATIONS);
	if (row->former_locked_is_null) {
		undo_block(undo, path, "not-kept", STR("what the update replaced is not kept, or no longer: see content_retention"));
		return OUTCOME_OK;
	}
	if (row->live_is_null || row->owner_id != undo->tenant.id) // find_changed() has noted that
		return OUTCOME_OK;
	uuid_from_bytes(row->uid, &uid);
	enum outcome outcome = undo_beside(undo, row) == BESIDE_INVENTORIES ?
				       inventory_restore(undo->registry, &uid, row->former_body, &provider) :
				       aggregate_restore(undo->registry, &uid, row->former_body, &provider);
	return outcome == OUTCOME_OK ? outcome : undo_block_by(undo, path, outcome);
}
