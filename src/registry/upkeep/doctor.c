// SPDX-License-Identifier: Apache-2.0
// The list of invariants, and the checks that are one statement each (sql/statements/doctor.sql).
#include "base/base.h"

#include "registry/upkeep/doctor.h"

#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/trait/catalogue.h"
#include "registry/upkeep/doctor_internal.h"
#include "sql/doctor.h"

// A check of one invariant.
struct check {
	const char *invariant;
	enum outcome (*examine)(struct examination *examination, const struct check *check);
	// by_statement: what finds the rows that break the invariant, and what repairs them if that needs no guessing.
	enum sql_doctor_finding finding;
	bool mends;
	enum sql_doctor_repair repair;
	// by_walk: reads all rows.
	enum outcome (*walk)(struct examination *examination);
};

static enum outcome by_statement(struct examination *examination, const struct check *check)
{
	struct registry *registry = examination->registry;
	struct db_rows rows;
	enum db_result result = sql_doctor_find_run(registry->db, registry->pool, check->finding, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	examination->found = sql_doctor_find_row(&rows, 0)->n;
	examination->example = str_cstr(registry->pool, sql_doctor_find_row(&rows, 0)->example);
	if (!examination->fix || examination->found == 0 || !check->mends)
		return OUTCOME_OK;
	result = sql_doctor_repair_all_run(registry->db, registry->pool, check->repair, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed = rows.affected;
	return OUTCOME_OK;
}

static enum outcome by_walk(struct examination *examination, const struct check *check)
{
	return check->walk(examination);
}

// Workers that cache a tenant's annotations, which decide what definitions it has, read them again.
static enum outcome tenant_depth(struct examination *examination, const struct check *check)
{
	enum outcome outcome = doctor_check_tenant_depth(examination);

	(void)check;
	return outcome == OUTCOME_OK && examination->fixed > 0 ? coherence_raise(examination->registry, COHERENCE_TYPES) : outcome;
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
	struct db_rows rows;
	enum db_result result = sql_doctor_wrong_counts_run(registry->db, registry->pool, &rows);

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
	struct db_rows rows;
	enum db_result result = sql_doctor_find_counts_run(registry->db, registry->pool, &rows);

	(void)check;
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->found = sql_doctor_find_counts_row(&rows, 0)->n;
	examination->example = str_cstr(registry->pool, sql_doctor_find_counts_row(&rows, 0)->example);
	return examination->fix && examination->found > 0 ? mend_counts(examination) : OUTCOME_OK;
}

// ---- the list

#define FINDS(what) by_statement, .finding = SQL_DOCTOR_FINDING_##what
#define MENDS(what) by_statement, .finding = SQL_DOCTOR_FINDING_##what, .mends = true, .repair = SQL_DOCTOR_REPAIR_##what
#define WALKS(function) by_walk, .walk = (function)

static const struct check checks[] = {
	// First: what such programs wrote is mended by others below.
	{ "no program begins to serve that is too old for the schema", MENDS(EARLY_PROGRAMS) },
	// Before the others, since these query the database for members of documents.
	{ "what the database searches stands before what is nested too deep for it", WALKS(doctor_check_depth) },
	{ "each resource's document is JSON objects", WALKS(doctor_check_documents) },
	{ "each tenant's metadata and object are JSON objects", WALKS(doctor_check_tenant_documents) },
	{ "each resource's tenant exists", FINDS(TENANT) },
	{ "each change's fields are JSON", FINDS(CHANGE_FIELDS) },
	{ "each resource's type exists", FINDS(TYPE) },
	{ "each tenant's tier exists", FINDS(TIER) },
	{ "no tenant has a reserved name", FINDS(RESERVED_NAME) },
	{ "no token is of a tenant of a reserved name", FINDS(RESERVED_TOKEN) },
	{ "each tenant has its namespace default", FINDS(DEFAULT_NAMESPACE) },
	{ "the system space is there", FINDS(SYSTEM_SPACE) },
	{ "what the database searches in a Tenant object stands before what is nested too deep", .examine = tenant_depth },
	{ "each resource in a namespace has that namespace", FINDS(NAMESPACE) },
	{ "what is deleted has a purge time, what lives has none", FINDS(PURGE_TIME) },
	{ "a resource is locked when its metadata says so", MENDS(LOCK) },
	{ "each forward leads to a resource", MENDS(FORWARD_TO_NOTHING) },
	{ "no forward stands at a live resource's address", MENDS(FORWARD_COVERED) },
	{ "each resource's revision is that of its last change", FINDS(REVISION) },
	{ "each resource knows its last change", MENDS(LAST_CHANGE_ID) },
	{ "the change log's horizon is known", MENDS(HORIZON_ROW) },
	{ "the change log's horizon is below the ids to come", FINDS(HORIZON_IDS) },
	{ "all who write the change log can see each other", FINDS(WRITER) },
	{ "each definition's type exists", FINDS(DEFINITION_TYPE) },
	{ "what waits for its finalizers has some", FINDS(FINALIZERS) },
	{ "each namespace that is being emptied waits for that", MENDS(NAMESPACE_DELETION) },
	{ "each key is that of a resource", MENDS(KEY_OF_NOTHING) },
	{ "each list of traits is in order", FINDS(TRAIT_ORDER) },
	{ "each trait that is stored is listed", MENDS(TRAIT_UNLISTED) },
	{ "each trait that is listed is stored", MENDS(TRAIT_WITHOUT_ROW) },
	{ "each provider stands in its parent's tree", MENDS(TREE_OF_PARENT) },
	{ "each generation is that of a resource", MENDS(GENERATION) },
	{ "each inventory is that of a resource", MENDS(INVENTORY) },
	{ "each aggregate is one of a resource", MENDS(AGGREGATE) },
	{ "each inventory's class exists", FINDS(INVENTORY_CLASS) },
	{ "each inventory's capacity is that of its numbers", MENDS(CAPACITY) },
	{ "what is used of each inventory is the sum of its allocations", MENDS(USED) },
	{ "no class is hidden that a live provider has", MENDS(HIDDEN_CLASS) },
	{ "each allocation is of an inventory", FINDS(ALLOCATION_INVENTORY) },
	{ "each allocation has a consumer", FINDS(ALLOCATION_CONSUMER) },
	{ "each consumer has allocations", MENDS(CONSUMER) },
	{ "each node and its allocation name each other", FINDS(NODE_ALLOCATION) },
	{ "each waiting move's tenants exist", FINDS(MOVE_TENANTS) },
	{ "no trait is hidden that a live resource has", hidden_traits, .finding = SQL_DOCTOR_FINDING_HIDDEN_TRAIT, .mends = true,
		.repair = SQL_DOCTOR_REPAIR_HIDDEN_TRAIT },
	{ "each tenant's count is that of its resources", .examine = counts },
	{ "each resource's etag, size and lanes are those of its content", WALKS(doctor_check_hashes) },
	{ "each resource has the lookup keys and the place in a tree that its document says", WALKS(doctor_check_relations) },
	// After the repair of roots.
	{ "each tree lives under its top, in one tenant", FINDS(TREE) },
	{ "each tenant's etag is that of its content", WALKS(doctor_check_tenants) },
};

enum outcome doctor(struct registry *registry, bool fix,
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example), void *arg)
{
	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		struct examination examination = { .registry = registry, .fix = fix };
		enum outcome outcome = checks[i].examine(&examination, &checks[i]);

		if (outcome != OUTCOME_OK)
			return outcome;
		report(arg, checks[i].invariant, examination.found, examination.fixed,
			examination.example != NULL ? examination.example : "");
	}
	return OUTCOME_OK;
}
