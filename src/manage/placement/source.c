// SPDX-License-Identifier: Apache-2.0
// Reads Placement's database by batches, checks each row, and makes records of them.
#include "base/base.h"

#include "manage/placement/source.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/placement/inventory_internal.h"
#include "registry/placement/resource_class.h"
#include "registry/trait/trait.h"
#include "sql/placement_db.h"

enum { NAMES_AT_ONCE = 1000, NAME_LONGEST = 200 };

// ---- single values

// Only the form that clients use for it everywhere: an address that Placement served must lead to the same thing here.
static bool take_uuid(struct transfer *transfer, struct str text, struct uuid *uid)
{
	struct pool *pool = transfer->registry->pool;

	return text.p != NULL && text.n == UUID_LENGTH && uuid_parse(text, uid) && str_eq(uuid_str(pool, *uid), text);
}

static bool has_nul(struct str text)
{
	return memchr(text.p, '\0', text.n) != NULL;
}

// Will the registry have a class, or a trait, of that name?
static bool class_is_known(const struct transfer *transfer, struct str name)
{
	return resource_class_is_custom(name) || name_set_has(&transfer->classes, name);
}

static bool trait_is_known(const struct transfer *transfer, struct str name)
{
	return trait_is_custom(name) || name_set_has(&transfer->traits, name);
}

// ---- providers

struct tree_batch {
	struct transfer *transfer;
	bool exports; // as in the pass
	const struct db_rows *providers, *inventories, *aggregates, *traits;
	struct provider_record *records; // as many as providers has rows
	bool *bad;
	uint8_t *reached; // 0: unknown; 1: its parents lead to the root; 2: they don't
	size_t *parents; // index of the parent; n: none in this batch
};

static const struct sql_placement_providers_row *provider_row(const struct tree_batch *batch, size_t i)
{
	return sql_placement_providers_row(batch->providers, i);
}

// Reports a fault of the i-th provider of the batch, which is left out.
PRINTF_LIKE(3, 4)
static void fault(struct tree_batch *batch, size_t i, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str text = str_vprintf(batch->transfer->registry->pool, format, args);
	va_end(args);
	struct str uuid = provider_row(batch, i)->uuid;
	transfer_problem(batch->transfer, "provider %.*s %.*s", STR_ARG(uuid), STR_ARG(text));
	batch->bad[i] = true;
}

static void take_provider(struct tree_batch *batch, size_t i)
{
	const struct sql_placement_providers_row *row = provider_row(batch, i);
	struct provider_record *record = &batch->records[i];

	if (!take_uuid(batch->transfer, row->uuid, &record->uid))
		fault(batch, i, "(id %lld): its uuid is malformed: expected 36 characters of lower-case hex digits and hyphens",
			(long long)row->id);
	if (row->name.p == NULL || row->name.n == 0)
		fault(batch, i, "has no name");
	else if (str_utf8_length(row->name) > NAME_LONGEST || (has_nul(row->name) && !batch->exports))
		fault(batch, i, "has a name that is not 1 to %d characters without NUL", NAME_LONGEST);
	if (!row->generation_is_null && row->generation < 0)
		fault(batch, i, "has generation %lld", (long long)row->generation);
	if (!row->parent_id_is_null && row->parent.p == NULL)
		fault(batch, i, "has parent id %lld, which does not exist", (long long)row->parent_id);
	if (row->root.p == NULL)
		fault(batch, i, "has root id %lld, which does not exist", (long long)row->root_id);
	record->name = row->name;
	record->generation = row->generation_is_null || row->generation < 0 ? 0 : (uint64_t)row->generation;
	// A malformed one is reported where that provider comes itself.
	record->has_parent = row->parent.p != NULL && uuid_parse(row->parent, &record->parent);
	if (row->root.p == NULL || !uuid_parse(row->root, &record->root))
		record->root = record->uid;
}

// How many rows from at on are of that provider: all rows come in the order of the providers.
#define ROWS_OF(count, rows, row_of, at, id)                                                   \
	do {                                                                                   \
		(count) = 0;                                                                   \
		while ((at) + (count) < (rows)->n && row_of((rows), (at) + (count))->provider == (id)) \
			(count)++;                                                             \
	} while (0)

static bool in_range(int64_t value, int64_t least)
{
	return value >= least && value <= INVENTORY_MAX;
}

static void take_inventory(struct tree_batch *batch, size_t i, const struct sql_placement_inventories_row *row)
{
	struct provider_record *record = &batch->records[i];
	char *end = NULL;
	double ratio = strtod(str_cstr(batch->transfer->registry->pool, row->ratio), &end);
	uint64_t used = 0;

	if (row->class.p == NULL)
		fault(batch, i, "has inventory of a class that does not exist");
	else if (!class_is_known(batch->transfer, row->class))
		fault(batch, i, "has inventory of class %.*s, which is neither a standard one of this release nor CUSTOM_…",
			STR_ARG(row->class));
	for (size_t k = 0; k < record->n_inventories && row->class.p != NULL; k++) {
		if (str_eq(record->inventories[k].class, row->class))
			fault(batch, i, "has two inventories of %.*s", STR_ARG(row->class));
	}
	if (!in_range(row->total, 1) || !in_range(row->reserved, 0) || !in_range(row->min_unit, 1) ||
		!in_range(row->max_unit, 1) || !in_range(row->step_size, 1) || row->reserved > row->total ||
		!(ratio >= 0 && ratio <= 3.40282e+38) || *end != '\0')
		fault(batch, i,
			"has inventory of %.*s out of range: total=%lld reserved=%lld min_unit=%lld max_unit=%lld step_size=%lld "
			"allocation_ratio=%.*s",
			STR_ARG(row->class), (long long)row->total, (long long)row->reserved, (long long)row->min_unit,
			(long long)row->max_unit, (long long)row->step_size, STR_ARG(row->ratio));
	if (!str_to_u64(row->used, &used))
		fault(batch, i, "has allocations of %.*s of %.*s in all", STR_ARG(row->used), STR_ARG(row->class));
	record->inventories[record->n_inventories++] = (struct inventory){
		.class = row->class,
		.total = (uint64_t)row->total,
		.reserved = (uint64_t)row->reserved,
		.min_unit = (uint64_t)row->min_unit,
		.max_unit = (uint64_t)row->max_unit,
		.step_size = (uint64_t)row->step_size,
		.allocation_ratio = ratio,
		.used = used,
	};
}

// at: the first row of inventories, aggregates and traits that no provider has taken; it gets past those of this provider.
static void take_parts(struct tree_batch *batch, size_t i, size_t at[3])
{
	struct pool *pool = batch->transfer->registry->pool;
	struct provider_record *record = &batch->records[i];
	int64_t id = provider_row(batch, i)->id;
	size_t n;

	ROWS_OF(n, batch->inventories, sql_placement_inventories_row, at[0], id);
	record->inventories = POOL_ARRAY(pool, struct inventory, n);
	for (; n > 0; n--)
		take_inventory(batch, i, sql_placement_inventories_row(batch->inventories, at[0]++));
	ROWS_OF(n, batch->aggregates, sql_placement_aggregates_row, at[1], id);
	record->aggregates = POOL_ARRAY(pool, struct uuid, n);
	for (; n > 0; n--) {
		struct str aggregate = sql_placement_aggregates_row(batch->aggregates, at[1]++)->aggregate;

		if (aggregate.p == NULL)
			fault(batch, i, "is in an aggregate that does not exist");
		else if (!take_uuid(batch->transfer, aggregate, &record->aggregates[record->n_aggregates++]))
			fault(batch, i, "is in an aggregate with the malformed uuid \"%.*s\"", STR_ARG(aggregate));
	}
	ROWS_OF(n, batch->traits, sql_placement_traits_row, at[2], id);
	record->traits = POOL_ARRAY(pool, struct str, n);
	for (; n > 0; n--) {
		struct str trait = sql_placement_traits_row(batch->traits, at[2]++)->trait;

		if (trait.p == NULL)
			fault(batch, i, "has a trait that does not exist");
		else if (!trait_is_known(batch->transfer, trait))
			fault(batch, i, "has trait %.*s, which is neither in the catalogue (`tenure-manage os-traits sync`) nor "
					"CUSTOM_…", STR_ARG(trait));
		else
			record->traits[record->n_traits++] = trait;
	}
}

// ---- trees: the parents of each provider lead to its root, without a loop

struct by_id {
	int64_t id;
	size_t at;
};

static int compare_ids(const void *a, const void *b)
{
	int64_t x = ((const struct by_id *)a)->id, y = ((const struct by_id *)b)->id;

	return x < y ? -1 : x > y;
}

static void find_parents(struct tree_batch *batch, size_t n)
{
	struct by_id *sorted = POOL_ARRAY(batch->transfer->registry->pool, struct by_id, n);

	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct by_id){ provider_row(batch, i)->id, i };
	qsort(sorted, n, sizeof(*sorted), compare_ids);
	for (size_t i = 0; i < n; i++) {
		const struct sql_placement_providers_row *row = provider_row(batch, i);
		const struct by_id key = { .id = row->parent_id };
		const struct by_id *hit = row->parent_id_is_null ? NULL : bsearch(&key, sorted, n, sizeof(*sorted), compare_ids);

		batch->parents[i] = hit != NULL ? hit->at : n;
	}
}

// Follows the parents of provider i until one whose way is known, and notes the same for all on the way. A mark of 3 means: on
// this way.
static void follow_parents(struct tree_batch *batch, size_t i, size_t n)
{
	uint8_t found = 0;
	size_t at = i;

	while (found == 0) {
		const struct sql_placement_providers_row *row = provider_row(batch, at);
		size_t parent = batch->parents[at];

		batch->reached[at] = 3;
		if (row->parent_id_is_null)
			found = row->root_id == row->id ? 1 : 2;
		else if (parent == n || provider_row(batch, parent)->root_id != row->root_id || batch->reached[parent] == 3)
			found = 2;
		else if (batch->reached[parent] != 0)
			found = batch->reached[parent];
		else
			at = parent;
	}
	for (at = i; at < n && batch->reached[at] == 3; at = batch->parents[at])
		batch->reached[at] = found;
}

static void check_trees(struct tree_batch *batch, size_t n)
{
	find_parents(batch, n);
	for (size_t i = 0; i < n; i++) {
		if (batch->reached[i] == 0)
			follow_parents(batch, i, n);
		if (batch->reached[i] != 1 && provider_row(batch, i)->root.p != NULL) {
			struct str root = provider_row(batch, i)->root;
			fault(batch, i, "is in no tree: its parents don't lead to its root %.*s, or form a loop", STR_ARG(root));
		}
	}
}

static void note_overfull(struct source_pass *pass, const struct provider_record *record)
{
	for (size_t k = 0; k < record->n_inventories; k++) {
		const struct inventory *inventory = &record->inventories[k];
		int64_t capacity = inventory_capacity(inventory);

		if (inventory->used <= INT64_MAX && (int64_t)inventory->used <= capacity)
			continue;
		pass->counts.overfull++;
		if (pass->notes_idle)
			transfer_note(pass->transfer, "provider %.*s: %llu of %.*s are used, more than its capacity of %lld",
				UUID_ARG(pass->transfer->registry->pool, record->uid),
				(unsigned long long)inventory->used, STR_ARG(inventory->class), (long long)capacity);
	}
}

static bool give_providers(struct source_pass *pass, struct tree_batch *batch)
{
	struct transfer *transfer = pass->transfer;
	size_t n = batch->providers->n, good = 0;
	size_t at[3] = { 0 };

	batch->records = POOL_ARRAY(transfer->registry->pool, struct provider_record, n);
	batch->bad = POOL_ARRAY(transfer->registry->pool, bool, n);
	batch->reached = POOL_ARRAY(transfer->registry->pool, uint8_t, n);
	batch->parents = POOL_ARRAY(transfer->registry->pool, size_t, n);
	for (size_t i = 0; i < n; i++) {
		take_provider(batch, i);
		take_parts(batch, i, at);
		pass->counts.inventories += batch->records[i].n_inventories;
	}
	pass->counts.aggregates += at[1];
	pass->counts.traits += at[2];
	check_trees(batch, n);
	int64_t *row_ids = POOL_ARRAY(transfer->registry->pool, int64_t, n);
	for (size_t i = 0; i < n; i++) {
		if (batch->bad[i])
			continue;
		note_overfull(pass, &batch->records[i]);
		row_ids[good] = provider_row(batch, i)->id;
		batch->records[good++] = batch->records[i];
	}
	pass->counts.providers += n;
	transfer_advance(transfer, n);
	return good == 0 || pass->providers == NULL || pass->providers(pass, batch->records, row_ids, good);
}

static bool run_providers(struct source_pass *pass)
{
	struct transfer *transfer = pass->transfer;
	struct pool *pool = transfer->registry->pool;
	int64_t after = INT64_MIN;

	for (;;) {
		struct pool_mark mark = pool_mark(pool);
		struct db_rows rows;
		const struct sql_placement_trees range = { .after = after, .limit = TRANSFER_BATCH };
		if (sql_placement_trees_run(transfer->foreign, pool, &range, &rows) != DB_OK)
			return false;
		const struct sql_placement_trees_row *end = sql_placement_trees_row(&rows, 0);
		if (end->up_to_is_null)
			return true;
		int64_t up_to = end->up_to;
		struct db_call calls[] = {
			sql_placement_providers_call(pool, &(struct sql_placement_providers){ after, up_to }),
			sql_placement_inventories_call(pool, &(struct sql_placement_inventories){ after, up_to }),
			sql_placement_aggregates_call(pool, &(struct sql_placement_aggregates){ after, up_to }),
			sql_placement_traits_call(pool, &(struct sql_placement_traits){ after, up_to }),
		};
		if (db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls)) != DB_OK)
			return false;
		struct tree_batch batch = { .transfer = transfer, .exports = pass->exports, .providers = &calls[0].rows, .inventories = &calls[1].rows,
			.aggregates = &calls[2].rows, .traits = &calls[3].rows };
		if (!give_providers(pass, &batch))
			return false;
		pool_rewind(pool, mark);
		after = up_to;
	}
}

// ---- consumers

static int compare_allocations(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;
	int order = memcmp(x->provider.b, y->provider.b, sizeof(x->provider.b));

	return order != 0 ? order : str_cmp(x->class, y->class);
}

static bool owner_is_good(const struct source_pass *pass, struct str id)
{
	return id.p != NULL && id.n > 0 && (pass->exports || !has_nul(id)) && str_utf8_length(id) <= REGISTRY_MAX_ID;
}

// An import makes tenants of projects.
static bool project_is_good(const struct source_pass *pass, struct str id)
{
	return owner_is_good(pass, id) && (pass->exports || (registry_id_is_valid(id) && realm_reserved(id) == NULL));
}

// Returns how many faults the consumer itself has.
static unsigned check_consumer(struct source_pass *pass, const struct sql_placement_consumers_row *row, struct uuid *uid)
{
	struct transfer *transfer = pass->transfer;
	unsigned faults = 0;
	const struct str name = row->uuid;

	if (!take_uuid(transfer, row->uuid, uid)) {
		faults++;
		transfer_problem(transfer, "consumer \"%.*s\" (id %lld): its uuid is malformed: expected 36 characters of "
			"lower-case hex digits and hyphens", STR_ARG(name), (long long)row->id);
	}
	if (row->generation < 0) {
		faults++;
		transfer_problem(transfer, "consumer %.*s has generation %lld", STR_ARG(name), (long long)row->generation);
	}
	if (!project_is_good(pass, row->project)) {
		faults++;
		if (row->project.p == NULL)
			transfer_problem(transfer, "consumer %.*s is of a project that does not exist", STR_ARG(name));
		else
			transfer_problem(transfer, "consumer %.*s is of project \"%.*s\", which can be no tenant's id: those are 1 "
				"to 255 characters without \"/\" and NUL, and not \".\", \"..\", \"all\" or \"system\"",
				STR_ARG(name), STR_ARG(row->project));
	}
	if (!owner_is_good(pass, row->user)) {
		faults++;
		transfer_problem(transfer, "consumer %.*s is of a user that %s", STR_ARG(name),
			row->user.p == NULL ? "does not exist" : "has no id of 1 to 255 characters");
	}
	if (!row->type_id_is_null && (row->type.p == NULL || !trait_is_name(row->type))) {
		faults++;
		transfer_problem(transfer, "consumer %.*s is of type id %lld, which %s", STR_ARG(name), (long long)row->type_id,
			row->type.p == NULL ? "does not exist" : "has no name of 1 to 255 of A-Z, 0-9 and _");
	}
	return faults;
}

static unsigned take_allocations(struct transfer *transfer, const struct db_rows *rows, size_t *at, int64_t id, struct str name,
	struct consumer_record *record)
{
	unsigned faults = 0;
	size_t n = 0;

	while (*at + n < rows->n && sql_placement_allocations_row(rows, *at + n)->consumer == id)
		n++;
	record->allocations = POOL_ARRAY(transfer->registry->pool, struct allocation, n);
	record->n_allocations = n;
	for (size_t i = 0; i < n; i++) {
		const struct sql_placement_allocations_row *row = sql_placement_allocations_row(rows, (*at)++);
		struct allocation *allocation = &record->allocations[i];

		// A malformed one is reported where the provider comes itself.
		faults += uuid_parse(row->provider, &allocation->provider) ? 0 : 1;
		allocation->class = row->class;
		allocation->amount = (uint64_t)row->used;
		if (in_range(row->used, 1))
			continue;
		faults++;
		transfer_problem(transfer, "consumer %.*s uses %lld %.*s of provider %.*s; expected 1 to %d", STR_ARG(name),
			(long long)row->used, STR_ARG(row->class), STR_ARG(row->provider), INVENTORY_MAX);
	}
	if (n > 0)
		qsort(record->allocations, n, sizeof(*record->allocations), compare_allocations);
	for (size_t i = 1; i < n; i++) {
		if (compare_allocations(&record->allocations[i - 1], &record->allocations[i]) != 0)
			continue;
		faults++;
		transfer_problem(transfer, "consumer %.*s has two allocations of %.*s of provider %.*s", STR_ARG(name),
			STR_ARG(record->allocations[i].class),
			UUID_ARG(transfer->registry->pool, record->allocations[i].provider));
	}
	return faults;
}

static bool give_consumers(struct source_pass *pass, const struct db_rows *consumers, const struct db_rows *allocations)
{
	struct transfer *transfer = pass->transfer;
	struct consumer_record *records = POOL_ARRAY(transfer->registry->pool, struct consumer_record, consumers->n);
	int64_t *row_ids = POOL_ARRAY(transfer->registry->pool, int64_t, consumers->n);
	size_t at = 0, good = 0;

	for (size_t i = 0; i < consumers->n; i++) {
		const struct sql_placement_consumers_row *row = sql_placement_consumers_row(consumers, i);
		struct consumer_record *record = &records[good];

		*record = (struct consumer_record){ .consumer = { .project = row->project, .user = row->user, .type = row->type,
			.generation = row->generation > 0 ? (uint64_t)row->generation : 0 } };
		unsigned faults = check_consumer(pass, row, &record->consumer.uid);
		faults += take_allocations(transfer, allocations, &at, row->id, row->uuid, record);
		pass->counts.allocations += record->n_allocations;
		if (record->n_allocations == 0)
			pass->counts.idle++;
		row_ids[good] = row->id;
		if (faults == 0)
			good++;
	}
	pass->counts.consumers += consumers->n;
	transfer_advance(transfer, consumers->n);
	return good == 0 || pass->consumers == NULL || pass->consumers(pass, records, row_ids, good);
}

static bool run_consumers(struct source_pass *pass)
{
	struct transfer *transfer = pass->transfer;
	struct pool *pool = transfer->registry->pool;
	enum sql_placement_types types = transfer->has_types ? SQL_PLACEMENT_TYPES_KNOWN : SQL_PLACEMENT_TYPES_NONE;
	int64_t after = INT64_MIN;

	for (;;) {
		struct pool_mark mark = pool_mark(pool);
		struct db_rows rows;
		const struct sql_placement_consumer_range range = { .after = after, .limit = TRANSFER_BATCH };
		if (sql_placement_consumer_range_run(transfer->foreign, pool, &range, &rows) != DB_OK)
			return false;
		const struct sql_placement_consumer_range_row *end = sql_placement_consumer_range_row(&rows, 0);
		if (end->up_to_is_null)
			return true;
		int64_t up_to = end->up_to;
		struct db_call calls[] = {
			sql_placement_consumers_call(pool, types, &(struct sql_placement_consumers){ after, up_to }),
			sql_placement_allocations_call(pool, &(struct sql_placement_allocations){ after, up_to }),
		};
		if (db_run_batch(transfer->foreign, pool, calls, COUNT_OF(calls)) != DB_OK)
			return false;
		if (!give_consumers(pass, &calls[0].rows, &calls[1].rows))
			return false;
		pool_rewind(pool, mark);
		after = up_to;
	}
}

// ---- a pass

bool source_run(struct source_pass *pass, const char *label)
{
	struct transfer_counts total;

	pass->counts = (struct transfer_counts){ .providers = 0 };
	if (!source_count(pass->transfer, &total))
		return false;
	transfer_begin(pass->transfer, label, total.providers + total.consumers);
	bool good = run_providers(pass) && run_consumers(pass);
	transfer_end(pass->transfer);
	return good;
}

bool source_check_faults(struct transfer *transfer)
{
	struct pool *pool = transfer->registry->pool;

	for (enum sql_placement_fault which = 0; which < SQL_PLACEMENT_FAULT__N; which++) {
		struct sql_placement_faults in = { .after = INT64_MIN, .limit = NAMES_AT_ONCE };
		struct db_rows rows;

		do {
			struct pool_mark mark = pool_mark(pool);
			if (sql_placement_faults_run(transfer->foreign, pool, which, &in, &rows) != DB_OK)
				return false;
			for (size_t i = 0; i < rows.n; i++) {
				in.after = sql_placement_faults_row(&rows, i)->id;
				struct str fault = sql_placement_faults_row(&rows, i)->fault;
				transfer_problem(transfer, "%.*s", STR_ARG(fault));
			}
			pool_rewind(pool, mark);
		} while (rows.n == NAMES_AT_ONCE);
	}
	return true;
}

bool source_count(struct transfer *transfer, struct transfer_counts *counts)
{
	struct pool *pool = transfer->registry->pool;
	struct pool_mark mark = pool_mark(pool);
	struct db_rows rows;

	if (sql_placement_counts_run(transfer->foreign, pool, &rows) != DB_OK)
		return false;
	const struct sql_placement_counts_row *row = sql_placement_counts_row(&rows, 0);
	*counts = (struct transfer_counts){
		.providers = row->providers,
		.consumers = row->consumers,
		.allocations = row->allocations,
		.inventories = row->inventories,
		.traits = row->traits,
		.aggregates = row->aggregates,
	};
	pool_rewind(pool, mark);
	return true;
}

bool source_saw_everything(const struct transfer_counts *total, const struct transfer_counts *seen)
{
	return total->providers == seen->providers && total->consumers == seen->consumers &&
	       total->inventories == seen->inventories && total->allocations == seen->allocations &&
	       total->traits == seen->traits && total->aggregates == seen->aggregates;
}

static bool read_names(struct transfer *transfer, enum sql_placement_names_of which, struct name_set *set)
{
	struct pool *pool = transfer->registry->pool;
	struct sql_placement_names in = { .after = INT64_MIN, .limit = NAMES_AT_ONCE };
	struct db_rows rows;

	*set = (struct name_set){ .n = 0 };
	do {
		struct pool_mark mark = pool_mark(pool);
		if (sql_placement_names_run(transfer->foreign, pool, which, &in, &rows) != DB_OK)
			return false;
		for (size_t i = 0; i < rows.n; i++) {
			in.after = sql_placement_names_row(&rows, i)->id;
			name_set_add(transfer->pool, set, sql_placement_names_row(&rows, i)->name, in.after);
		}
		pool_rewind(pool, mark);
	} while (rows.n == NAMES_AT_ONCE);
	name_set_sort(set);
	return true;
}

bool source_read_names(struct transfer *transfer, struct name_set *classes, struct name_set *traits)
{
	return read_names(transfer, SQL_PLACEMENT_NAMES_OF_CLASSES, classes) &&
	       read_names(transfer, SQL_PLACEMENT_NAMES_OF_TRAITS, traits);
}
