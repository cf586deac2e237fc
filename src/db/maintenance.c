// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "db/db_internal.h"
#include "db/maintenance.h"
#include "sql/maintenance.h"

void db_heed_maintenance(struct db *db, bool heed)
{
	assert(db->state == TXN_OUTSIDE);
	db->heeds = heed;
}

unsigned db_maintenance_s(const struct db *db)
{
	return db->refused_s;
}

// ---- the row

// Takes a number and the blank behind it off the text.
static bool take_number(struct str *text, uint64_t *number)
{
	size_t n = str_find(*text, ' ', 0);

	if (n == text->n || !str_to_u64(str_part(*text, 0, n), number))
		return false;
	*text = str_part(*text, n + 1, text->n);
	return true;
}

// A row is on, whatever it says: somebody who wrote it by hand meant that.
static struct db_maintenance read_value(struct str value)
{
	struct db_maintenance is = { .on = true, .retry_s = 1 };
	uint64_t retry, since;

	if (take_number(&value, &retry) && take_number(&value, &since)) {
		is.retry_s = retry == 0 || retry > DB_MAINTENANCE_RETRY ? 1 : (unsigned)retry;
		is.since_us = since > INT64_MAX ? 0 : (int64_t)since;
		is.reason = value;
	}
	return is;
}

// ---- in front of a transaction

struct db_call db_maintenance_gate(void)
{
	return (struct db_call){ .query = &sql_maintenance_gate_query };
}

bool db_maintenance_is_gate(const struct db_call *call)
{
	assert(call->query != NULL);
	return call->query == &sql_maintenance_gate_query;
}

bool db_maintenance_refuses(struct db *db, const struct db_call *gate)
{
	const struct sql_maintenance_gate_row *row = gate->rows.n > 0 ? sql_maintenance_gate_row(&gate->rows, 0) : NULL;

	assert(db_maintenance_is_gate(gate) && db->heeds);
	if (row == NULL || row->value.p == NULL)
		return false;
	const struct db_maintenance is = read_value(row->value);
	const struct str why = is.reason.n > 0 ? is.reason : STR("the operator is maintaining the registry");
	db->refused_s = is.retry_s;
	(void)snprintf(db->refusal, sizeof(db->refusal), "no changes are made at the moment: %.*s", STR_ARG(why));
	db->error_number = 0;
	(void)snprintf(db->error, sizeof(db->error), "maintenance");
	return true;
}

// ---- the operator's

enum db_result db_maintenance_read(struct db *db, struct pool *pool, struct db_maintenance *maintenance)
{
	struct db_rows rows;
	enum db_result result = sql_maintenance_read_run(db, pool, &rows);

	*maintenance = (struct db_maintenance){ .on = false };
	if (result == DB_OK && rows.n > 0)
		*maintenance = read_value(sql_maintenance_read_row(&rows, 0)->value);
	return result;
}

// A transaction of one statement.
struct step {
	struct db *db;
	struct pool *pool;
	struct db_call call;
};

static enum db_verdict run_step(void *arg)
{
	struct step *step = arg;

	return db_run_call(step->db, step->pool, &step->call) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum db_result run(struct step *step)
{
	enum db_result result = db_txn_run(step->db, DB_WRITE, NULL, run_step, step);

	return result == DB_OK ? step->call.result : result;
}

static struct pool *new_pool(void)
{
	return pool_new_or_end();
}

enum db_result db_maintenance_begin(struct db *db, const struct db_maintenance *maintenance)
{
	struct step step = { .db = db, .pool = new_pool() };

	assert(maintenance->retry_s > 0 && maintenance->since_us >= 0 && maintenance->reason.n <= DB_MAINTENANCE_REASON);
	const struct sql_maintenance_begin in = { .value = str_printf(step.pool, "%u %lld %.*s", maintenance->retry_s,
		(long long)maintenance->since_us, STR_ARG(maintenance->reason)) };
	step.call = sql_maintenance_begin_call(step.pool, &in);
	enum db_result result = run(&step);
	pool_free(&step.pool);
	return result;
}

static enum db_verdict look(void *arg)
{
	struct step *step = arg;

	// What waits is no reason to run again: the caller decides that.
	step->call.result = db_batch_run(step->db, step->pool, &step->call, 1);
	return DB_ROLLBACK;
}

enum db_result db_maintenance_await(struct db *db)
{
	struct step step = { .db = db, .pool = new_pool() };

	step.call = sql_maintenance_await_call(step.pool);
	enum db_result result = db_txn_run(db, DB_WRITE, NULL, look, &step);
	result = result == DB_OK ? step.call.result : result;
	pool_free(&step.pool);
	return result;
}

enum db_result db_maintenance_end(struct db *db, bool *was)
{
	struct step step = { .db = db, .pool = new_pool() };

	step.call = sql_maintenance_end_call(step.pool);
	enum db_result result = run(&step);
	*was = result == DB_OK && step.call.rows.affected > 0;
	pool_free(&step.pool);
	return result;
}
