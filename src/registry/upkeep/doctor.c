// SPDX-License-Identifier: Apache-2.0
// The list of invariants, and the checks that are one statement each (sql/statements/doctor.sql).
#include "base/base.h"

#include "registry/upkeep/doctor.h"

#include <errno.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/trait/catalogue.h"
#include "registry/upkeep/doctor_internal.h"
#include "sql/cluster.h"
#include "sql/doctor.h"
#include "sql/schema.h"

enum {
	SLICE = 5000,          // rows of a slice
	SLICE_OF_TENANTS = 500, // each with the count of its resources
	SAVE_US = 1000000,     // the position is stored once in so many microseconds
	POSITION_MAX = 1024,   // bytes of settings.value: room for all checks, with 17 bytes each
	COUNT_MAX = 0xFFFFFF,
};

// A check of one invariant.
struct check {
	const char *invariant;
	// The table whose slices it goes through; SQL_DOCTOR_SLICES_OF__N: it is one statement for the whole.
	enum sql_doctor_slices_of slices_of;
	enum outcome (*examine)(struct examination *examination, const struct check *check);
	// by_statement: what finds the rows that break the invariant, and what repairs them if that needs no guessing.
	enum sql_doctor_finding finding;
	bool mends;
	enum sql_doctor_repair repair;
	// by_row: finding, and which column of the rows that break the invariant is computed anew.
	enum sql_doctor_wrong_row column;
	// by_walk: the function that reads the rows of the slice one by one and checks them.
	enum outcome (*walk)(struct examination *examination);
};

// Adds what a statement has found. Of a long name as many bytes are kept as fit, and no part of a character.
static void note_findings(struct examination *examination, uint64_t n, struct str example)
{
	examination->found += n;
	if (n == 0 || examination->example[0] != '\0')
		return;
	struct str kept = str_utf8_head(example, DOCTOR_EXAMPLE_MAX - 1);
	memcpy(examination->example, kept.p, kept.n);
	examination->example[kept.n] = '\0';
}

// Counts and names the rows of the slice that break the invariant. *n: how many these are.
static enum outcome find(struct examination *examination, const struct check *check, uint64_t *n)
{
	struct registry *registry = examination->registry;
	const struct sql_doctor_find in = { .after = examination->after, .upto = examination->upto };
	struct db_rows rows;
	enum db_result result = sql_doctor_find_run(registry->db, registry->pool, check->finding, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = sql_doctor_find_row(&rows, 0)->n;
	note_findings(examination, *n, sql_doctor_find_row(&rows, 0)->example);
	return OUTCOME_OK;
}

static enum outcome by_statement(struct examination *examination, const struct check *check)
{
	struct registry *registry = examination->registry;
	const struct sql_doctor_repair_slice repair = { .after = examination->after, .upto = examination->upto };
	struct db_rows rows;
	uint64_t n;
	enum outcome outcome = find(examination, check, &n);

	if (outcome != OUTCOME_OK || !examination->fix || n == 0 || !check->mends)
		return outcome;
	enum db_result result = sql_doctor_repair_slice_run(registry->db, registry->pool, check->repair, &repair, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += rows.affected;
	return OUTCOME_OK;
}

// ---- columns that are computed from rows of another table: repaired row by row, each under its lock

// The cases of these choices have the same order.
static_assert((int)SQL_DOCTOR_ROW__N == (int)SQL_DOCTOR_WRONG_ROW__N && (int)SQL_DOCTOR_ROW_USED == (int)SQL_DOCTOR_WRONG_ROW_USED &&
	(int)SQL_DOCTOR_ROW_REPAIR__N == (int)SQL_DOCTOR_WRONG_ROW__N && (int)SQL_DOCTOR_ROW_REPAIR_USED == (int)SQL_DOCTOR_WRONG_ROW_USED,
	"columns");

struct row_repair {
	struct registry *registry;
	enum sql_doctor_wrong_row column;
	uint64_t id, class_id;
};

static enum db_verdict repair_row(void *arg)
{
	const struct row_repair *repair = arg;
	struct registry *registry = repair->registry;
	const struct sql_doctor_lock_row lock = { .id = repair->id, .class_id = repair->class_id };
	const struct sql_doctor_repair_row in = { .id = repair->id, .class_id = repair->class_id };
	struct db_call calls[] = {
		sql_doctor_lock_row_call(registry->pool, (enum sql_doctor_row)repair->column, &lock),
		sql_doctor_repair_row_call(registry->pool, (enum sql_doctor_row_repair)repair->column, &in),
	};

	return db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls)) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome by_row(struct examination *examination, const struct check *check)
{
	struct registry *registry = examination->registry;
	const struct sql_doctor_wrong_rows in = { .after = examination->after, .upto = examination->upto };
	struct db_rows rows;
	uint64_t n;
	enum outcome outcome = find(examination, check, &n);

	if (outcome != OUTCOME_OK || !examination->fix || n == 0)
		return outcome;
	enum db_result result = sql_doctor_wrong_rows_run(registry->db, registry->pool, check->column, &in, &rows);
	struct pool_mark mark = pool_mark(registry->pool);
	for (size_t i = 0; result == DB_OK && i < rows.n; i++) {
		const struct sql_doctor_wrong_rows_row *row = sql_doctor_wrong_rows_row(&rows, i);
		struct uuid uid = uuid_new();
		struct row_repair repair = { registry, check->column, row->id, row->class_id };
		result = db_txn_run(registry->db, DB_WRITE, &uid, repair_row, &repair);
		examination->fixed += result == DB_OK;
		pool_rewind(registry->pool, mark);
	}
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome by_walk(struct examination *examination, const struct check *check)
{
	return check->walk(examination);
}

// Workers that cache a tenant's annotations, which decide what definitions it has, read them again.
static enum outcome tenant_depth(struct examination *examination, const struct check *check)
{
	uint64_t before = examination->fixed;
	enum outcome outcome = doctor_check_tenant_depth(examination);

	UNUSED(check);
	return outcome == OUTCOME_OK && examination->fixed > before ? coherence_raise(examination->registry, COHERENCE_TYPES) : outcome;
}

static enum outcome hidden_traits(struct examination *examination, const struct check *check)
{
	enum outcome outcome = by_statement(examination, check);

	// Makes workers read the catalogue of traits again, even if nothing was repaired.
	return outcome == OUTCOME_OK && examination->fix ? coherence_raise(examination->registry, COHERENCE_TRAITS) : outcome;
}

// ---- counts: repaired tenant by tenant, under a lock that keeps the tenant's writers away

struct recount {
	struct registry *registry;
	uint64_t tenant_id;
};

static enum db_verdict recount_one(void *arg)
{
	const struct recount *recount = arg;
	struct registry *registry = recount->registry;
	const struct sql_doctor_lock_tenant lock = { .id = recount->tenant_id };
	const struct sql_doctor_recount in = { .tenant_id = recount->tenant_id };
	struct db_call calls[] = {
		sql_doctor_lock_tenant_call(registry->pool, &lock),
		sql_doctor_recount_call(registry->pool, &in),
	};

	return db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls)) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome mend_counts(struct examination *examination)
{
	struct registry *registry = examination->registry;
	const struct sql_doctor_wrong_counts in = { .after = examination->after, .upto = examination->upto };
	struct db_rows rows;
	enum db_result result = sql_doctor_wrong_counts_run(registry->db, registry->pool, &in, &rows);

	for (size_t i = 0; result == DB_OK && i < rows.n; i++) {
		struct uuid uid = uuid_new();
		struct recount recount = { registry, sql_doctor_wrong_counts_row(&rows, i)->tenant_id };
		result = db_txn_run(registry->db, DB_WRITE, &uid, recount_one, &recount);
		examination->fixed += result == DB_OK;
	}
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome counts(struct examination *examination, const struct check *check)
{
	struct registry *registry = examination->registry;
	const struct sql_doctor_find_counts in = { .after = examination->after, .upto = examination->upto };
	struct db_rows rows;
	enum db_result result = sql_doctor_find_counts_run(registry->db, registry->pool, &in, &rows);

	UNUSED(check);
	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t n = sql_doctor_find_counts_row(&rows, 0)->n;
	note_findings(examination, n, sql_doctor_find_counts_row(&rows, 0)->example);
	return examination->fix && n > 0 ? mend_counts(examination) : OUTCOME_OK;
}

// ---- the list

#define OF(table) .slices_of = SQL_DOCTOR_SLICES_OF_##table
#define OF_ALL .slices_of = SQL_DOCTOR_SLICES_OF__N
#define FINDS(what) .examine = by_statement, .finding = SQL_DOCTOR_FINDING_##what
#define MENDS(what) .examine = by_statement, .finding = SQL_DOCTOR_FINDING_##what, .mends = true, .repair = SQL_DOCTOR_REPAIR_##what
#define MENDS_ROWS(what) .examine = by_row, .finding = SQL_DOCTOR_FINDING_##what, .column = SQL_DOCTOR_WRONG_ROW_##what
#define WALKS(function) .examine = by_walk, .walk = (function)

// Checks of the same table that stand together are made slice by slice, in this order, so that the table is read once. A position
// that is stored names checks by their numbers here, and counts them.
static const struct check checks[] = {
	// First: what such programs wrote is mended by others below.
	{ "no program begins to serve that is too old for the schema", OF_ALL, MENDS(EARLY_PROGRAMS) },
	{ "no tenant has a reserved name", OF_ALL, FINDS(RESERVED_NAME) },
	{ "no token is of a tenant of a reserved name", OF_ALL, FINDS(RESERVED_TOKEN) },
	{ "the system space is there", OF_ALL, FINDS(SYSTEM_SPACE) },
	{ "the change log's horizon is known", OF_ALL, MENDS(HORIZON_ROW) },
	{ "the change log's horizon is below the ids to come", OF_ALL, FINDS(HORIZON_IDS) },
	{ "all who write the change log can see each other", OF_ALL, FINDS(WRITER) },
	{ "each namespace that is being emptied waits for that", OF_ALL, MENDS(NAMESPACE_DELETION) },
	{ "each namespace that was merged, and the other one, exist", OF_ALL, MENDS(MERGED_NAMESPACE) },
	{ "each waiting move's tenants exist", OF_ALL, FINDS(MOVE_TENANTS) },
	{ "the row that says which host sends to webhooks is there", OF_ALL, MENDS(WEBHOOK_LEASE) },
	{ "each webhook's tenant exists", OF_ALL, MENDS(WEBHOOK_TENANT) },
	{ "it is known how far each webhook is", OF_ALL, MENDS(WEBHOOK_CURSOR) },
	{ "each message is one of a webhook", OF_ALL, MENDS(WEBHOOK_MESSAGE) },
	{ "each forward leads to a resource", OF(FORWARDS), MENDS(FORWARD_TO_NOTHING) },
	{ "no forward stands at a live resource's address", OF(FORWARDS), MENDS(FORWARD_COVERED) },
	{ "each key is that of a resource", OF(KEYS), MENDS(KEY_OF_NOTHING) },
	{ "each trait that is stored is listed", OF(TRAITS), MENDS(TRAIT_UNLISTED) },
	// Before the others of resources, since these query the database for members of documents.
	{ "what the database searches stands before what is nested too deep for it", OF(RESOURCES), WALKS(doctor_check_depth) },
	{ "each resource's document is JSON objects", OF(RESOURCES), WALKS(doctor_check_documents) },
	{ "each resource's tenant exists", OF(RESOURCES), FINDS(TENANT) },
	{ "each resource's type exists", OF(RESOURCES), FINDS(TYPE) },
	{ "each resource in a namespace has that namespace", OF(RESOURCES), FINDS(NAMESPACE) },
	{ "what is deleted has a purge time, what lives has none", OF(RESOURCES), FINDS(PURGE_TIME) },
	{ "a resource is locked when its metadata says so", OF(RESOURCES), MENDS(LOCK) },
	{ "each resource's revision is that of its last change", OF(RESOURCES), FINDS(REVISION) },
	{ "each resource knows its last change", OF(RESOURCES), MENDS_ROWS(LAST_CHANGE_ID) },
	{ "each definition's type exists", OF(RESOURCES), FINDS(DEFINITION_TYPE) },
	{ "what waits for its finalizers has some", OF(RESOURCES), FINDS(FINALIZERS) },
	{ "each list of traits is in order", OF(RESOURCES), FINDS(TRAIT_ORDER) },
	{ "each trait that is listed is stored", OF(RESOURCES), MENDS(TRAIT_WITHOUT_ROW) },
	{ "each provider stands in its parent's tree", OF(RESOURCES), MENDS(TREE_OF_PARENT) },
	{ "each node and its allocation name each other", OF(RESOURCES), FINDS(NODE_ALLOCATION) },
	{ "each resource's etag, size and lanes are those of its content", OF(RESOURCES), WALKS(doctor_check_hashes) },
	{ "each resource has the lookup keys and the place in a tree that its document says", OF(RESOURCES), WALKS(doctor_check_relations) },
	// After the repair of roots.
	{ "each tree lives under its top, in one tenant", OF(RESOURCES), FINDS(TREE) },
	{ "each change's fields are JSON", OF(CHANGES), FINDS(CHANGE_FIELDS) },
	{ "each generation is that of a resource", OF(PROVIDERS), MENDS(GENERATION) },
	{ "each inventory is that of a resource", OF(INVENTORIES), MENDS(INVENTORY) },
	{ "each inventory's class exists", OF(INVENTORIES), FINDS(INVENTORY_CLASS) },
	{ "each inventory's capacity is that of its numbers", OF(INVENTORIES), MENDS(CAPACITY) },
	{ "what is used of each inventory is the sum of its allocations", OF(INVENTORIES), MENDS_ROWS(USED) },
	{ "each aggregate is one of a resource", OF(AGGREGATES), MENDS(AGGREGATE) },
	{ "each allocation is of an inventory", OF(ALLOCATIONS), FINDS(ALLOCATION_INVENTORY) },
	{ "each allocation has a consumer", OF(ALLOCATIONS), FINDS(ALLOCATION_CONSUMER) },
	{ "each consumer has allocations", OF(CONSUMERS), MENDS(CONSUMER) },
	// Few classes and traits are hidden, and each of these two asks for one resource of a hidden one.
	{ "no class is hidden that a live provider has", OF_ALL, MENDS(HIDDEN_CLASS) },
	{ "no trait is hidden that a live resource has", OF_ALL, .examine = hidden_traits, .finding = SQL_DOCTOR_FINDING_HIDDEN_TRAIT, .mends = true,
		.repair = SQL_DOCTOR_REPAIR_HIDDEN_TRAIT },
	{ "each tenant's metadata and object are JSON objects", OF(TENANTS), WALKS(doctor_check_tenant_documents) },
	{ "each tenant's tier exists", OF(TENANTS), FINDS(TIER) },
	{ "each tenant has its namespace default", OF(TENANTS), FINDS(DEFAULT_NAMESPACE) },
	{ "what the database searches in a Tenant object stands before what is nested too deep", OF(TENANTS), .examine = tenant_depth },
	{ "each tenant's count is that of its resources", OF(TENANTS), .examine = counts },
	{ "each tenant's etag is that of its content", OF(TENANTS), WALKS(doctor_check_tenants) },
};

enum { N_CHECKS = COUNT_OF(checks) };
static_assert(3 + 3 + 16 + 17 * N_CHECKS <= POSITION_MAX, "the position of a run fits (save_position())");

static const char *const names_of_tables[SQL_DOCTOR_SLICES_OF__N] = {
	[SQL_DOCTOR_SLICES_OF_RESOURCES] = "resources",
	[SQL_DOCTOR_SLICES_OF_TENANTS] = "tenants",
	[SQL_DOCTOR_SLICES_OF_CHANGES] = "changes",
	[SQL_DOCTOR_SLICES_OF_FORWARDS] = "forwards",
	[SQL_DOCTOR_SLICES_OF_KEYS] = "lookup keys",
	[SQL_DOCTOR_SLICES_OF_TRAITS] = "traits of resources",
	[SQL_DOCTOR_SLICES_OF_PROVIDERS] = "providers",
	[SQL_DOCTOR_SLICES_OF_INVENTORIES] = "inventories",
	[SQL_DOCTOR_SLICES_OF_AGGREGATES] = "aggregates",
	[SQL_DOCTOR_SLICES_OF_ALLOCATIONS] = "allocations",
	[SQL_DOCTOR_SLICES_OF_CONSUMERS] = "consumers",
};

// The cases of both choices have the same order.
static_assert((int)SQL_DOCTOR_LAST_OF__N == (int)SQL_DOCTOR_SLICES_OF__N && (int)SQL_DOCTOR_LAST_OF_TENANTS == (int)SQL_DOCTOR_SLICES_OF_TENANTS &&
	(int)SQL_DOCTOR_LAST_OF_TRAITS == (int)SQL_DOCTOR_SLICES_OF_TRAITS, "tables of slices");

// ---- a run

// Where a run is: the checks before first are done, those of its table up to the id after.
struct course {
	struct registry *registry;
	struct doctor_run *run;
	struct examination examinations[N_CHECKS];
	size_t first;
	uint64_t after;
	bool keeps_position; // in the database; else the run can't be resumed
	int64_t saved_us;
};

static unsigned long long stored_count(uint64_t n)
{
	return n < COUNT_MAX ? n : COUNT_MAX;
}

// The position as text: the number of checks, the first one that is not done, the id; and for each check that has found something
// "number=found/fixed", all in hexadecimal. A count above COUNT_MAX is stored as that, so that the text always fits.
static enum outcome save_position(struct course *course)
{
	struct registry *registry = course->registry;
	struct buf text = buf_new(registry->pool, POSITION_MAX);

	course->saved_us = clock_tick_us();
	buf_addf(&text, "%zx %zx %llx", (size_t)N_CHECKS, course->first, (unsigned long long)course->after);
	for (size_t i = 0; i < N_CHECKS; i++) {
		const struct examination *examination = &course->examinations[i];
		if (examination->found > 0)
			buf_addf(&text, " %zx=%llx/%llx", i, stored_count(examination->found), stored_count(examination->fixed));
	}
	assert(text.n <= POSITION_MAX);
	if (!course->keeps_position)
		return OUTCOME_OK;
	const struct sql_doctor_position_save in = { .position = buf_str(&text) };
	enum db_result result = sql_doctor_position_save_run(registry->db, registry->pool, &in, NULL);
	// A user who may not write there can examine all the same.
	return result == DB_OK || (result == DB_ERROR && !course->run->fix) ? OUTCOME_OK : registry_db_failed(result);
}

// Takes the next number from *text, and the character behind it if that is the expected one. False: there is none.
static bool take_number(const char **text, char behind, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*text, &end, 16);
	if (end == *text || errno != 0 || (*end != behind && *end != '\0'))
		return false;
	*text = *end == behind && behind != '\0' ? end + 1 : end;
	return true;
}

// Takes over a stored position. False: it is not one of this program, whose checks may be others; then the run begins anew.
static bool read_position(struct course *course, const char *text)
{
	uint64_t n, first, after, i, found, fixed;

	if (!take_number(&text, ' ', &n) || !take_number(&text, ' ', &first) || !take_number(&text, ' ', &after) || n != N_CHECKS ||
		first >= N_CHECKS)
		return false;
	course->first = first;
	course->after = after;
	while (*text != '\0') {
		if (!take_number(&text, '=', &i) || !take_number(&text, '/', &found) || !take_number(&text, ' ', &fixed) || i >= N_CHECKS)
			return false;
		course->examinations[i].found = found;
		course->examinations[i].fixed = fixed;
	}
	return true;
}

static enum outcome resume(struct course *course)
{
	struct registry *registry = course->registry;
	const struct sql_setting_get in = { .name = STR("doctor_position") };
	struct db_rows rows;
	enum db_result result = sql_setting_get_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	struct str position = rows.n > 0 ? sql_setting_get_row(&rows, 0)->value : STR_NONE;
	course->run->resumed = position.n > 0 && memchr(position.p, '\0', position.n) == NULL &&
		read_position(course, str_cstr(registry->pool, position));
	if (!course->run->resumed) {
		memset(course->examinations, 0, sizeof(course->examinations));
		course->first = 0;
		course->after = 0;
	}
	return OUTCOME_OK;
}

static enum outcome forget_position(const struct course *course)
{
	struct registry *registry = course->registry;

	if (!course->keeps_position)
		return OUTCOME_OK;
	enum db_result result = sql_doctor_position_forget_run(registry->db, registry->pool, NULL);
	return result == DB_OK || (result == DB_ERROR && !course->run->fix) ? OUTCOME_OK : registry_db_failed(result);
}

// A server that is read-only can be examined, but refuses the position: that would count as if it were away.
static enum outcome look_whether_writable(struct course *course)
{
	struct registry *registry = course->registry;
	struct db_rows rows;

	course->keeps_position = true;
	if (course->run->fix)
		return OUTCOME_OK;
	enum db_result result = sql_writer_read_only_run(registry->db, registry->pool, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	course->keeps_position = sql_writer_read_only_row(&rows, 0)->read_only == 0;
	return OUTCOME_OK;
}

// Makes the checks first to last - 1, which are of one table, on the slice behind course->after that ends at upto.
static enum outcome examine_slice(struct course *course, size_t last, uint64_t upto)
{
	struct registry *registry = course->registry;
	struct pool_mark mark = pool_mark(registry->pool);
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = course->first; i < last && outcome == OUTCOME_OK; i++) {
		struct examination *examination = &course->examinations[i];
		examination->registry = registry;
		examination->fix = course->run->fix;
		examination->after = course->after;
		examination->upto = upto;
		outcome = checks[i].examine(examination, &checks[i]);
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

// Goes through a table with the checks first to last - 1, until its end, or until the run is to stop.
static enum outcome examine_table(struct course *course, size_t last)
{
	struct registry *registry = course->registry;
	struct doctor_run *run = course->run;
	enum sql_doctor_slices_of table = checks[course->first].slices_of;
	struct pool_mark mark = pool_mark(registry->pool);
	struct db_rows rows;
	enum db_result result = sql_doctor_last_run(registry->db, registry->pool, (enum sql_doctor_last_of)table, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t highest = sql_doctor_last_row(&rows, 0)->id;
	for (;;) {
		const struct sql_doctor_slice in = { .after = course->after,
			.limit = table == SQL_DOCTOR_SLICES_OF_TENANTS ? SLICE_OF_TENANTS : SLICE };
		result = sql_doctor_slice_run(registry->db, registry->pool, table, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		uint64_t upto = sql_doctor_slice_row(&rows, 0)->upto;
		if (upto == 0)
			return OUTCOME_OK;
		enum outcome outcome = examine_slice(course, last, upto);
		if (outcome != OUTCOME_OK)
			return outcome;
		course->after = upto;
		if (run->progress != NULL)
			run->progress(run->arg, names_of_tables[table], upto, highest > upto ? highest : upto);
		run->stopped = run->stop != NULL && *run->stop;
		if (run->stopped || clock_tick_us() - course->saved_us >= SAVE_US)
			outcome = save_position(course);
		if (outcome != OUTCOME_OK || run->stopped)
			return outcome;
		pool_rewind(registry->pool, mark);
	}
}

// Makes all checks that are not done yet.
static enum outcome examine_all(struct course *course)
{
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && course->first < N_CHECKS && !course->run->stopped) {
		enum sql_doctor_slices_of table = checks[course->first].slices_of;
		size_t last = course->first + 1;
		while (table != SQL_DOCTOR_SLICES_OF__N && last < N_CHECKS && checks[last].slices_of == table)
			last++;
		outcome = table == SQL_DOCTOR_SLICES_OF__N ? examine_slice(course, last, 0) : examine_table(course, last);
		if (outcome != OUTCOME_OK || course->run->stopped)
			break;
		course->first = last;
		course->after = 0;
	}
	return outcome;
}

enum outcome doctor(struct registry *registry, struct doctor_run *run)
{
	struct course *course = POOL_NEW(registry->pool, struct course);

	assert(!db_txn_writes(registry->db));
	assert(run->report != NULL);
	*course = (struct course){ .registry = registry, .run = run, .saved_us = clock_tick_us() };
	run->resumed = run->stopped = false;
	enum outcome outcome = look_whether_writable(course);
	if (outcome == OUTCOME_OK)
		outcome = run->resume ? resume(course) : forget_position(course);
	if (outcome == OUTCOME_OK)
		outcome = examine_all(course);
	if (outcome == OUTCOME_OK && !run->stopped)
		outcome = forget_position(course);
	for (size_t i = 0; outcome == OUTCOME_OK && i < N_CHECKS; i++) {
		const struct examination *examination = &course->examinations[i];
		run->report(run->arg, checks[i].invariant, examination->found, examination->fixed, examination->example);
	}
	return outcome;
}
