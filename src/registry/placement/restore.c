// SPDX-License-Identifier: Apache-2.0
// The kept texts become the sets of a write, one for each consumer, which is then prepared, checked and carried out as a reshape.
#include "base/base.h"

#include "registry/placement/restore.h"

#include "base/clock.h"
#include "db/list.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/placement/allocation_internal.h"
#include "repr/json/doc.h"
#include "repr/json/member.h"

// The part of a kept text that is about one consumer.
struct piece {
	struct uuid consumer, provider;
	const struct doc *doc;
};
struct restoring {
	struct registry *registry;
	const struct placement_restore *restore;
	struct piece *pieces; // sorted by consumer
	size_t n_pieces;
	struct allocation_set *sets;
	const struct doc **left; // of each set, its consumer's generation after the write to be taken back; NULL: it was removed
	uint64_t *generations;   // and before it
	size_t n_sets;
	struct kept_class *classes; // those of all allocations and inventories that are kept with their ids
	size_t n_classes, room;
};

static int by_consumer(const void *a, const void *b)
{
	return memcmp(&((const struct piece *)a)->consumer, &((const struct piece *)b)->consumer, sizeof(struct uuid));
}

static struct doc *kept_document(struct pool *pool, struct str text)
{
	return stored_document(pool, (struct stored_place){ .table = "former_resources", .column = "body" }, text);
}

static uint64_t number(const struct doc *doc)
{
	uint64_t value = 0;

	(void)doc_u64(doc, &value);
	return value;
}

static void read_pieces(struct restoring *all)
{
	struct pool *pool = all->registry->pool;
	const struct doc **texts = POOL_ARRAY(pool, const struct doc *, all->restore->n_allocations);
	size_t n = 0;

	for (size_t i = 0; i < all->restore->n_allocations; i++) {
		texts[i] = kept_document(pool, all->restore->allocations[i].text);
		n += doc_length(texts[i]);
	}
	all->pieces = POOL_ARRAY(pool, struct piece, n);
	for (size_t i = 0; i < all->restore->n_allocations; i++) {
		for (struct doc_iter it = doc_iter(texts[i]); doc_next(&it);) {
			struct piece *piece = &all->pieces[all->n_pieces];
			*piece = (struct piece){ .provider = all->restore->allocations[i].provider, .doc = it.value };
			all->n_pieces += uuid_parse(it.name, &piece->consumer) ? 1 : 0;
		}
	}
	if (all->n_pieces > 0)
		qsort(all->pieces, all->n_pieces, sizeof(*all->pieces), by_consumer);
}

static void add_class(struct restoring *all, struct str *name, uint64_t id)
{
	if (all->n_classes == all->room) {
		size_t room = 2 * all->room + 16;
		struct kept_class *classes = POOL_ARRAY(all->registry->pool, struct kept_class, room);
		if (all->n_classes > 0)
			memcpy(classes, all->classes, all->n_classes * sizeof(*classes));
		all->classes = classes;
		all->room = room;
	}
	all->classes[all->n_classes++] = (struct kept_class){ name, id };
}

// Makes the set of one consumer from its n pieces, which agree about the consumer itself. If they have no generation, the
// consumer did not exist before the write.
static void make_set(struct restoring *all, const struct piece *pieces, size_t n)
{
	struct pool *pool = all->registry->pool;
	const struct doc *first = pieces[0].doc;
	struct allocation_set *set = &all->sets[all->n_sets];
	struct allocation *list;
	size_t room = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		room += doc_length(doc_member(pieces[i].doc, "resources"));
	list = POOL_ARRAY(pool, struct allocation, room);
	for (size_t i = 0; i < n; i++) {
		const struct doc *ids = doc_member(pieces[i].doc, "class_ids"), *id = NULL;
		for (struct doc_iter it = doc_iter(doc_member(pieces[i].doc, "resources")); doc_next(&it); at++) {
			list[at] = (struct allocation){ pieces[i].provider, it.name, number(it.value) };
			if (doc_get(ids, it.name, &id))
				add_class(all, &list[at].class, number(id));
		}
	}
	*set = (struct allocation_set){ .consumer = pieces[0].consumer, .allocations = list, .n = at };
	if (at > 0) {
		set->project = doc_string(doc_member(first, "project_id"));
		set->user = doc_string(doc_member(first, "user_id"));
		set->type = doc_string(doc_member(first, "consumer_type"));
	}
	all->left[all->n_sets] = doc_member(first, "left");
	all->generations[all->n_sets++] = number(doc_member(first, "generation"));
}

static void make_sets(struct restoring *all)
{
	struct pool *pool = all->registry->pool;

	read_pieces(all);
	all->sets = POOL_ARRAY(pool, struct allocation_set, all->n_pieces);
	all->left = POOL_ARRAY(pool, const struct doc *, all->n_pieces);
	all->generations = POOL_ARRAY(pool, uint64_t, all->n_pieces);
	for (size_t i = 0, end = 0; i < all->n_pieces; i = end) {
		while (end < all->n_pieces && by_consumer(&all->pieces[i], &all->pieces[end]) == 0)
			end++;
		make_set(all, &all->pieces[i], end - i);
	}
}

static struct reshaped_provider *make_reshaped(struct restoring *all)
{
	const struct placement_restore *restore = all->restore;
	struct reshaped_provider *reshaped = POOL_ARRAY(all->registry->pool, struct reshaped_provider, restore->n_inventories);

	for (size_t i = 0; i < restore->n_inventories; i++) {
		struct inventory *list;
		size_t n = inventory_list_of_text(all->registry->pool, restore->inventories[i].text, &list);
		for (size_t k = 0; k < n; k++) {
			if (list[k].class_id != 0)
				add_class(all, &list[k].class, list[k].class_id);
		}
		reshaped[i] = (struct reshaped_provider){
			.provider = restore->inventories[i].provider, .any_generation = true, .inventories = list, .n = n,
		};
	}
	return reshaped;
}

// Is the consumer as the write left it? Each write sets the time and raises the generation. The generation of a consumer that an
// undo made again is at least the id of one of the undo's changes.
static bool is_as_left(const struct restoring *all, size_t i, const struct known *known)
{
	const struct placement_restore *restore = all->restore;
	uint64_t left = number(all->left[i]);

	if (all->left[i] == NULL || !known->there)
		return all->left[i] == NULL && !known->there;
	if (known->updated_us != restore->at_us)
		return false;
	return left == KEPT_RENEWED ? known->generation >= restore->first : known->generation == left;
}

static enum outcome check_consumers(const struct restoring *all, const struct allocation_write *write)
{
	struct registry *registry = all->registry;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < write->n; i++) {
		const struct known *known = &write->known[i];
		struct buf at = buf_new(registry->pool, 32);

		if (is_as_left(all, i, known))
			continue;
		if (known->there)
			clock_add_rfc3339(&at, known->updated_us);
		outcome = !known->there ? registry_fail(registry, OUTCOME_STALE, "all its allocations were removed since: take that back first")
					: registry_fail(registry, OUTCOME_STALE, "its allocations were written at %.*s: take that back first",
						  STR_ARG(at));
		outcome = allocation_write_refuse(write, &write->sets[i].consumer, NULL, outcome);
	}
	return outcome;
}

enum outcome placement_restore(struct registry *registry, const struct placement_restore *restore)
{
	struct restoring all = { .registry = registry, .restore = restore };
	struct allocation_refusals refusals = { .take = restore->refuse, .arg = restore->arg };

	assert(db_txn_writes(registry->db));
	make_sets(&all);
	struct allocation_write write = {
		.registry = registry,
		.sets = all.sets,
		.n = all.n_sets,
		.reshaped = make_reshaped(&all),
		.n_reshaped = restore->n_inventories,
		.renewed = all.generations,
		.refusals = &refusals,
	};
	enum outcome outcome = provider_name_kept_classes(registry, all.classes, all.n_classes);
	if (outcome == OUTCOME_CONFLICT)
		return allocation_write_refuse(&write, NULL, NULL, outcome);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_prepare(&write);
	if (outcome == OUTCOME_OK)
		outcome = check_consumers(&all, &write);
	if (outcome == OUTCOME_OK)
		outcome = allocation_write_reshape(&write);
	return outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : outcome;
}

// ---- what it would change

struct doc *allocations_replaced_doc(struct registry *registry, struct str text)
{
	static const char *const names[] = { "project_id", "user_id", "consumer_type", "resources" };
	struct pool *pool = registry->pool;
	struct doc *all = doc_new_object(pool);

	for (struct doc_iter it = doc_iter(kept_document(pool, text)); doc_next(&it);) {
		struct doc *one = doc_new_object(pool);
		if (doc_length(doc_member(it.value, "resources")) == 0)
			continue;
		for (size_t i = 0; i < COUNT_OF(names); i++)
			doc_set(one, str_c(names[i]), doc_copy(pool, doc_member(it.value, names[i])));
		doc_set(all, it.name, one);
	}
	return all;
}

static struct str consumers_of_text(struct pool *pool, struct str text)
{
	struct db_list list = db_list_new(pool, 64);

	for (struct doc_iter it = doc_iter(kept_document(pool, text)); doc_next(&it);) {
		struct uuid uid;
		if (uuid_parse(it.name, &uid))
			db_list_add_uuid(&list, &uid);
	}
	return db_list_end(&list);
}

enum outcome allocations_present_doc(struct registry *registry, uint64_t resource_id, struct str text, struct doc **now)
{
	struct pool *pool = registry->pool;
	const struct sql_allocations_between in = { .uids = consumers_of_text(pool, text), .resource_id = resource_id };
	struct db_rows rows;
	enum db_result result = sql_allocations_between_run(registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*now = doc_new_object(pool);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_allocations_between_row *row = sql_allocations_between_row(&rows, i);
		struct uuid uid;
		uuid_from_bytes(row->uid, &uid);
		struct str name = uuid_str(pool, uid);
		if (doc_own_member(*now, name) == NULL) {
			struct doc *one = doc_new_object(pool);
			doc_set_str(pool, one, "project_id", row->project);
			doc_set_str(pool, one, "user_id", row->user);
			doc_set_str(pool, one, "consumer_type", row->type);
			doc_set(one, STR("resources"), doc_new_object(pool));
			doc_set(*now, name, one);
		}
		struct doc *resources = doc_own_member(doc_own_member(*now, name), STR("resources"));
		doc_set(resources, row->class, doc_new_u64(pool, row->used));
	}
	return OUTCOME_OK;
}
