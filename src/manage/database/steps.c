// SPDX-License-Identifier: Apache-2.0
// The steps of a schema file: cuts it into them, and runs them so that nobody who serves the registry meanwhile waits for long.
#include "base/base.h"

#include "base/clock.h"
#include "base/digest.h"
#include "manage/database/nodes.h"
#include "manage/database/steps.h"
#include "sql/schema.h"

enum {
	MAX_STEPS = 100,
	PATIENCE_MS = 250,          // how long a statement waits for a table; who comes later waits as long
	TRY_FOR_S = 600,            // then a step that is in the way of others all the time gives up,
	LEAST_TRIES = 5,            // but not before so many tries: one may last longer, and wait for the table at its end
	FIRST_SIZE = 256, LAST_SIZE = 4096, // ids of a batch
	SHORT_US = 20000, LONG_US = 60000,  // a batch that takes less, or more, is followed by a larger, or smaller, one
	TELL_EACH_S = 10,
	MANY_ROWS = 20000, // indexes of so many may take longer to build than all writers of a cluster may wait
};

// ---- the form of a file

// The word at the beginning of *text, which is taken off.
static struct str take_word(struct str *text)
{
	struct str line = str_trim(*text);
	size_t end = str_find(line, ' ', 0);
	*text = str_part(line, end, line.n);
	return str_part(line, 0, end);
}

static bool kind_of(struct str word, enum step_kind *kind)
{
	static const char *const words[] = { [STEP_TABLES] = "step", [STEP_INDEX] = "index", [STEP_ONCE] = "once", [STEP_BATCHES] = "batches" };
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (str_eq_c(word, words[i])) {
			*kind = (enum step_kind)i;
			return true;
		}
	}
	return false;
}

// Names stand in SQL text, and so must not need quotes.
static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", name.p[i]) == NULL)
			return false;
	}
	return name.n > 0 && name.n <= 64;
}

// What follows "-- @" in a line. False: it is none of the directives.
static bool read_directive(struct str line, struct steps *steps)
{
	struct str word = take_word(&line);
	if (str_eq_c(word, "oldest"))
		return str_to_u64(take_word(&line), &steps->oldest);
	struct step step = { .text = STR_NONE };
	if (!kind_of(word, &step.kind) || steps->n == MAX_STEPS)
		return false;
	step.name = take_word(&line);
	step.table = take_word(&line);
	bool has_table = step.kind == STEP_INDEX || step.kind == STEP_BATCHES;
	for (size_t i = 0; i < steps->n; i++) {
		if (str_eq(steps->steps[i].name, step.name))
			return false;
	}
	if (!is_name(step.name) || (has_table ? !is_name(step.table) : step.table.n > 0))
		return false;
	steps->steps[steps->n++] = step;
	return true;
}

int steps_read(struct manage *manage, const struct schema_file *file, struct steps *steps)
{
	struct str text = file->online;
	*steps = (struct steps){ .steps = POOL_ARRAY(manage->pool, struct step, MAX_STEPS) };
	for (size_t at = 0, begin = 0; at < text.n;) {
		size_t end = str_find(text, '\n', at);
		struct str line = str_part(text, at, end);
		at = end < text.n ? end + 1 : text.n;
		if (str_starts(line, STR("-- @"))) {
			if (!read_directive(str_part(line, 4, line.n), steps))
				return manage_fail(EX_CONFIG, "%.*s: \"%.*s\" begins no step", STR_ARG(file->name), STR_ARG(line));
			begin = at;
		}
		if (steps->n > 0)
			steps->steps[steps->n - 1].text = str_part(text, begin, at);
	}
	if (steps->n == 0)
		steps->steps[steps->n++] = (struct step){ STEP_TABLES, STR("all"), STR(""), text };
	return EX_OK;
}

const struct step *steps_find(const struct steps *steps, const char *name)
{
	for (size_t i = 0; i < steps->n; i++) {
		if (str_eq_c(steps->steps[i].name, name))
			return &steps->steps[i];
	}
	return NULL;
}

// ---- running

bool step_progress(struct manage *manage, const struct schema_file *file, const struct step *step, uint64_t *position, bool *done)
{
	const struct sql_schema_step in = { .version = file->version, .step = step->name };
	struct db_rows rows;
	*position = 0;
	*done = false;
	enum db_result result = sql_schema_is_booked_run(manage->db, manage->pool, &rows);
	if (result == DB_OK && sql_schema_is_booked_row(&rows, 0)->booked == 0)
		return true;
	if (result == DB_OK)
		result = sql_schema_step_run(manage->db, manage->pool, &in, &rows);
	if (result != DB_OK) {
		manage_db_fail(manage, result, "can't read how far the upgrade is");
		return false;
	}
	if (rows.n > 0) {
		*position = sql_schema_step_row(&rows, 0)->position;
		*done = sql_schema_step_row(&rows, 0)->done != 0;
	}
	return true;
}

static int64_t now_s(void)
{
	return clock_tick_us() / 1000000;
}

// Waits before another try: between half of and all of most_us, so that it does not meet the same transaction again and again.
static void pause_about(int64_t most_us)
{
	uint32_t random;
	digest_random(&random, sizeof(random));
	clock_pause_us(most_us / 2 + random % (most_us / 2 + 1));
}

static int step_failed(const struct upgrade *upgrade, enum db_result result, const struct schema_file *file, const struct step *step)
{
	struct pool *pool = upgrade->manage->pool;
	struct str what = str_printf(pool, "%.*s, step %.*s, did not go through; `tenure-manage db %s when it is run again", STR_ARG(file->name),
		STR_ARG(step->name), upgrade->fresh ? "init` begins anew" : "upgrade` goes on there");
	return manage_db_fail(upgrade->manage, result, str_cstr(pool, what));
}

// One text with what makes it a transaction that records the step. It rolls back if it fails.
static enum db_result run_transaction(struct manage *manage, const struct schema_file *file, const struct step *step, uint64_t size)
{
	struct pool *pool = pool_new_or_end();
	const struct str version = str_printf(pool, "%llu", (unsigned long long)file->version);
	const struct str ids = str_printf(pool, "%llu", (unsigned long long)size);
	const struct db_names versions = { &version, 1 }, names = { &step->name, 1 }, sizes = { &ids, 1 };
	const struct sql_schema_step_begin begin = { .version = versions, .step = names, .size = sizes };
	const struct sql_schema_step_end end = { .version = versions, .step = names };
	const struct sql_schema_batch_end batch_end = { .version = versions, .step = names };
	struct str head = sql_schema_step_begin_text(pool, &begin);
	struct str tail = step->kind == STEP_BATCHES ? sql_schema_batch_end_text(pool, &batch_end) : sql_schema_step_end_text(pool, &end);
	struct str text = str_printf(pool, "%.*s%.*s\n%.*s", STR_ARG(head), STR_ARG(step->text), STR_ARG(tail));
	enum db_result result = db_run_script(manage->db, text);
	if (result != DB_OK && result != DB_LOST)
		(void)sql_schema_step_undo_run(manage->db, pool, NULL);
	pool_free(&pool);
	return result;
}

// Repeats the transaction while rows that it needs are locked.
static enum db_result run_patiently(struct manage *manage, const struct schema_file *file, const struct step *step, uint64_t *size)
{
	for (int64_t begun_s = now_s();;) {
		enum db_result result = run_transaction(manage, file, step, *size);
		if (result != DB_RETRY || now_s() - begun_s > TRY_FOR_S)
			return result;
		*size = *size / 2 > 0 ? *size / 2 : 1;
		pause_about(50000);
	}
}

static int run_once(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	uint64_t size = 1;
	enum db_result result = run_patiently(upgrade->manage, file, step, &size);
	return result == DB_OK ? EX_OK : step_failed(upgrade, result, file, step);
}

// After each batch it pauses for half as long as that took, so that the database has time for others.
static int run_batches(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	struct manage *manage = upgrade->manage;
	uint64_t size = FIRST_SIZE, position = 0;
	int64_t told_s = now_s();
	for (bool done = false; !done;) {
		struct pool_mark mark = pool_mark(manage->pool);
		int64_t begun_us = clock_tick_us();
		enum db_result result = run_patiently(manage, file, step, &size);
		if (result != DB_OK)
			return step_failed(upgrade, result, file, step);
		int64_t took_us = clock_tick_us() - begun_us;
		if (took_us < SHORT_US && size < LAST_SIZE)
			size *= 2;
		else if (took_us > LONG_US && size > 1)
			size /= 2;
		if (!step_progress(manage, file, step, &position, &done))
			return EX_TEMPFAIL;
		pool_rewind(manage->pool, mark);
		if (!done && now_s() - told_s >= TELL_EACH_S) {
			printf("  %.*s: up to id %llu\n", STR_ARG(step->name), (unsigned long long)position);
			fflush(stdout);
			told_s = now_s();
		}
		if (!done)
			clock_pause_us(took_us / 2);
	}
	return EX_OK;
}

// Repeats the statement while transactions that last longer hold the table.
static enum db_result run_statement(struct db *db, struct db *guard, struct str statement)
{
	int64_t told_s = 0, pause = 200000, begun_s = now_s();
	for (unsigned tries = 1;; tries++) {
		enum db_result result = db_run_guarded(db, guard, statement, PATIENCE_MS);
		if (result != DB_RETRY || (tries >= LEAST_TRIES && now_s() - begun_s > TRY_FOR_S))
			return result;
		if (told_s == 0 || now_s() - told_s >= TELL_EACH_S) {
			printf("  a transaction holds the table: waiting until it ends\n");
			fflush(stdout);
			told_s = now_s();
		}
		pause_about(pause);
		pause = pause < 3000000 ? pause * 2 : pause;
	}
}

static int run_statements(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	struct str rest = step->text, statement;
	while (db_script_next(&rest, &statement)) {
		enum db_result result = run_statement(upgrade->manage->db, upgrade->guard, statement);
		if (result != DB_OK)
			return step_failed(upgrade, result, file, step);
	}
	return EX_OK;
}

int step_rows(struct manage *manage, const struct step *step, uint64_t *n)
{
	const struct sql_schema_rows in = { .name = step->table };
	struct db_rows rows;
	enum db_result result = sql_schema_rows_run(manage->db, manage->pool, &in, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't ask how many rows there are");
	*n = sql_schema_rows_row(&rows, 0)->n;
	return EX_OK;
}

// What is unique is so by what all nodes agree on: such a key they get at once.
static bool makes_unique(const struct step *step)
{
	return memmem(step->text.p, step->text.n, "UNIQUE", strlen("UNIQUE")) != NULL;
}

// On a cluster of Galera on one node after the other, where that matters.
static int run_index(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	uint64_t n;
	int code = step_rows(upgrade->manage, step, &n);
	if (code == EX_OK && n >= MANY_ROWS && !makes_unique(step) && upgrade->nodes == NULL)
		upgrade->nodes = nodes_open(upgrade->manage);
	if (code != EX_OK)
		return code;
	if (n < MANY_ROWS || makes_unique(step) || upgrade->nodes == NULL)
		return run_statements(upgrade, file, step);
	return nodes_build(upgrade->nodes, upgrade->manage, &upgrade->guard, step->text, run_statement);
}

// Records that a step of tables is done.
static int mark_done(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	const struct step mark = { STEP_ONCE, step->name, STR(""), STR("") };
	return run_once(upgrade, file, &mark);
}

int step_run(struct upgrade *upgrade, const struct schema_file *file, const struct step *step)
{
	uint64_t position;
	bool done;
	if (!step_progress(upgrade->manage, file, step, &position, &done))
		return EX_TEMPFAIL;
	if (done)
		return EX_OK;
	if (step->kind == STEP_ONCE)
		return run_once(upgrade, file, step);
	if (step->kind == STEP_BATCHES)
		return run_batches(upgrade, file, step);
	int code = step->kind == STEP_INDEX ? run_index(upgrade, file, step) : run_statements(upgrade, file, step);
	return code == EX_OK ? mark_done(upgrade, file, step) : code;
}
