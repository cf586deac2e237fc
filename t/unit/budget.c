// SPDX-License-Identifier: Apache-2.0
// What a request may take: the guard is returned to from within an allocation, and nothing is lost on the way.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "repr/json/doc.h"
#include "repr/patch/json_patch.h"
#include "tap.h"

enum { MEMORY = 4 << 20 };

static int released;

static void note(void *arg)
{
	UNUSED(arg);
	released++;
}

struct work {
	struct pool *pool;
	size_t step;
	bool finished, was_over;
	enum budget_end inner;
};

static void take_all(void *arg)
{
	struct work *work = arg;

	pool_cleanup(work->pool, note, NULL);
	for (size_t taken = 0; taken < 4 * MEMORY; taken += work->step)
		memset(pool_alloc(work->pool, work->step), 1, work->step);
	work->finished = true;
}

static enum budget_end run(void (*fn)(void *), struct work *work, size_t memory, int64_t cpu_us)
{
	struct pool_mark mark = pool_mark(work->pool);

	budget_grant(memory, cpu_us);
	enum budget_end end = budget_guard(fn, work);
	budget_end();
	pool_rewind(work->pool, mark);
	return end;
}

// The system refuses memory amid the work, in one of four places.
static void starve(void *arg)
{
	struct work *work = arg;

	pool_cleanup(work->pool, note, NULL);
	if (work->step == 1)
		budget_defer();
	if (work->step == 2) {
		budget_defer();
		budget_pause();
	}
	budget_starve();
	(void)pool_alloc(work->pool, 16);
	work->was_over = budget_is_over();
	if (work->step == 2)
		budget_resume();
	if (work->step == 1 || work->step == 2)
		budget_release();
	work->finished = true;
}

static void starving(struct pool *pool)
{
	struct work work = { .pool = pool, .step = 0 };

	released = 0;
	ok(run(starve, &work, MEMORY, 0) == BUDGET_STARVED && !work.finished, "without memory of the system, the next step of work ends it");
	is_int(released, 1, "cleanups ran");
	work.step = 1;
	ok(run(starve, &work, MEMORY, 0) == BUDGET_STARVED && work.was_over && !work.finished, "what defers the end goes on until it is released");
	work.step = 2;
	ok(run(starve, &work, MEMORY, 0) == BUDGET_KEPT && !work.was_over && work.finished, "what does not count is not ended");
	work.step = 3;
	work.finished = false;
	ok(budget_guard(starve, &work) == BUDGET_KEPT && work.finished, "nor what was granted nothing");
	work.step = 0;
	ok(run(starve, &work, MEMORY, 0) == BUDGET_STARVED, "and it is ended again");
	pool_clear(pool);
}

static void memory(struct pool *pool)
{
	static const size_t steps[] = { 16, 1000, 100000, 3 * MEMORY };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct work work = { .pool = pool, .step = steps[i] };
		released = 0;
		ok(run(take_all, &work, MEMORY, 0) == BUDGET_MEMORY && !work.finished, "too much, %zu bytes at a time", steps[i]);
		ok(pool_peak(pool) <= MEMORY + MEMORY / 8, "and no more was taken than granted");
		is_int(released, 1, "cleanups ran");
		work.finished = false;
		ok(run(take_all, &work, 16 * MEMORY, 0) == BUDGET_KEPT && work.finished, "enough is granted");
		pool_clear(pool);
	}
	struct work work = { .pool = pool, .step = 1000 };
	take_all(&work);
	ok(work.finished, "without a grant there is no limit");
	pool_clear(pool);
}

static void charge_all(void *arg)
{
	struct work *work = arg;

	for (int i = 0; i < 100; i++)
		pool_charge(work->pool, MEMORY / 50);
	work->finished = true;
}

static void charge_and_rewind(void *arg)
{
	struct work *work = arg;

	for (int i = 0; i < 100; i++) {
		struct pool_mark mark = pool_mark(work->pool);
		pool_charge(work->pool, MEMORY / 2);
		pool_rewind(work->pool, mark);
	}
	work->finished = true;
}

static void charges(struct pool *pool)
{
	struct work work = { .pool = pool };

	ok(run(charge_all, &work, MEMORY, 0) == BUDGET_MEMORY && !work.finished, "what is charged counts");
	ok(run(charge_and_rewind, &work, MEMORY, 0) == BUDGET_KEPT && work.finished, "until it is given back");
}

static void loop(void *arg)
{
	struct work *work = arg;

	for (uint64_t i = 0; i < UINT64_C(100000000000); i++)
		budget_work(1);
	work->finished = true;
}

// Compares two numbers of a million digits, which allocates nothing.
static void compare_long(void *arg)
{
	struct work *work = arg;
	struct buf text = buf_new(work->pool, 1 << 20);
	struct str error;
	struct doc *number;

	BUF_LIT(&text, "1.");
	for (int i = 0; i < 1000000; i++)
		buf_addc(&text, '0');
	if (!doc_parse_json(work->pool, buf_str(&text), (struct doc_limits){ 64, 0 }, &number, &error))
		bail_out("the number is none");
	const struct doc *one = doc_new_i64(work->pool, 1);
	for (int i = 0; i < 1000; i++) {
		if (doc_order_numbers(number, one) != 0)
			return;
	}
	work->finished = true;
}

static void loop_to_half(void *arg)
{
	struct work *work = arg;

	work->was_over = budget_is_half_used();
	while (!budget_is_half_used())
		budget_work(1000);
	work->finished = true;
}

static void cpu(struct pool *pool)
{
	struct work work = { .pool = pool };

	ok(run(loop, &work, 0, 20000) == BUDGET_TIME && !work.finished, "a loop is ended");
	ok(run(loop_to_half, &work, 0, 1000 * 1000) == BUDGET_KEPT && work.finished && !work.was_over, "a loop can end in time");
	ok(!budget_is_half_used(), "without a limit there is no half");
	work.finished = false;
	ok(run(compare_long, &work, 0, 20000) == BUDGET_TIME && !work.finished, "comparing long numbers is ended");
}

static void defer(void *arg)
{
	struct work *work = arg;

	budget_defer();
	budget_defer();
	for (int i = 0; i < 10; i++)
		(void)pool_alloc(work->pool, MEMORY);
	budget_release();
	work->was_over = budget_is_over();
	budget_release();
	work->finished = true;
}

static void pause_it(void *arg)
{
	struct work *work = arg;

	budget_defer();
	budget_pause();
	(void)pool_alloc(work->pool, 10 * MEMORY);
	budget_resume();
	work->was_over = budget_is_over();
	budget_release();
	(void)pool_alloc(work->pool, MEMORY / 2);
	work->finished = true;
}

static void nest(void *arg)
{
	struct work *work = arg;

	work->inner = budget_guard(take_all, work);
	budget_leave(work->inner);
}

static void deferring(struct pool *pool)
{
	struct work work = { .pool = pool };

	ok(run(defer, &work, MEMORY, 0) == BUDGET_MEMORY && work.was_over && !work.finished,
		"deferred, it is left at the last release");
	ok(run(pause_it, &work, MEMORY, 0) == BUDGET_KEPT && !work.was_over && work.finished, "paused, nothing counts");
	work = (struct work){ .pool = pool, .step = 1000 };
	ok(run(nest, &work, MEMORY, 0) == BUDGET_MEMORY && work.inner == BUDGET_MEMORY, "guards are nested");
}

// ---- a broken database

static void find_broken(void *arg)
{
	struct work *work = arg;

	budget_leave_if_broken();
	work->finished = true;
}

static void find_broken_deferred(void *arg)
{
	struct work *work = arg;

	budget_defer();
	budget_leave_if_broken();
	work->was_over = budget_is_over();
	budget_release();
	work->finished = true;
}

static void broken(struct pool *pool)
{
	struct work work = { .pool = pool };

	ok(budget_guard(find_broken, &work) == BUDGET_BROKEN && !work.finished, "the guard is left without a grant");
	ok(budget_guard(find_broken_deferred, &work) == BUDGET_BROKEN && work.was_over && !work.finished,
		"deferred, it is left at the last release");
	ok(run(find_broken, &work, MEMORY, 0) == BUDGET_BROKEN && !work.finished, "and with one");
	find_broken(&work);
	ok(work.finished, "without a guard it returns");
}

// ---- trees

static struct str many(struct pool *pool, const char *unit, size_t n)
{
	struct buf text = buf_new(pool, 0);

	buf_addc(&text, '[');
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s%s", i > 0 ? "," : "", unit);
	buf_addc(&text, ']');
	return buf_str(&text);
}

struct tree_work {
	struct pool *pool;
	struct str text;
	const struct doc *target, *patch;
	void (*fn)(struct tree_work *work);
	bool finished;
};

static const struct doc_limits limits = { 64, 0 };

static void parse(struct tree_work *work)
{
	struct str error;
	struct doc *doc;

	(void)doc_parse_json(work->pool, work->text, limits, &doc, &error);
}

static void merge(struct tree_work *work)
{
	(void)doc_merge_patch(work->pool, work->target, work->patch);
}

static void copy(struct tree_work *work)
{
	for (int i = 0; i < 40; i++)
		(void)doc_copy(work->pool, work->target);
}

static void patch(struct tree_work *work)
{
	struct str error;
	struct doc *result;

	(void)doc_json_patch(work->pool, work->target, work->patch, limits, &result, &error);
}

static void run_tree(void *arg)
{
	struct tree_work *work = arg;

	work->fn(work);
	work->finished = true;
}

static struct doc *parsed(struct pool *pool, struct str text)
{
	struct str error = STR("");
	struct doc *doc = NULL;

	if (!doc_parse_json(pool, text, limits, &doc, &error))
		diag("%.*s", STR_ARG(error));
	return doc;
}

// Under valgrind and the sanitizers this shows that nothing leaks.
static void trees(struct pool *pool)
{
	struct pool *own = pool_new();
	const struct doc *objects = parsed(own, many(own, "{\"a\":{},\"b\":[1]}", 4000));
	struct str text = many(own, "{\"a\":{}}", 50000);
	struct tree_work works[] = {
		{ .fn = parse, .text = many(own, "{}", 150000) },
		{ .fn = parse, .text = many(own, "[[]]", 100000) },
		{ .fn = parse, .text = many(own, "{\"a\":\"\\u0041 a string\"}", 50000) },
		{ .fn = parse, .text = many(own, "1.25", 120000) },
		{ .fn = copy, .target = objects },
		{ .fn = merge, .target = parsed(own, STR("{}")), .patch = parsed(own, str_printf(own, "{\"x\":%.*s}",
		STR_ARG(text))) },
		{ .fn = patch, .target = objects, .patch = parsed(own, many(own,
		"{\"op\":\"copy\",\"from\":\"\",\"path\":\"/-\"}", 4)) },
	};

	for (size_t i = 0; i < COUNT_OF(works); i++) {
		works[i].pool = pool;
		budget_grant(MEMORY, 0);
		enum budget_end end = budget_guard(run_tree, &works[i]);
		budget_end();
		ok(end == BUDGET_MEMORY && !works[i].finished, "tree %zu: more than is granted", i);
		pool_clear(pool);
		budget_grant(64 * MEMORY, 0);
		end = budget_guard(run_tree, &works[i]);
		budget_end();
		ok(end == BUDGET_KEPT && works[i].finished, "tree %zu: enough is granted", i);
		pool_clear(pool);
	}
	pool_free(&own);
}

struct reading {
	struct pool *pool;
	struct str text, error;
};

static void read_all(void *arg)
{
	struct reading *reading = arg;
	struct doc *doc;

	(void)doc_parse_json(reading->pool, reading->text, (struct doc_limits){ .depth = 10 }, &doc, &reading->error);
}

static void read_deferred(void *arg)
{
	budget_defer();
	read_all(arg);
	budget_release();
}

// Reading stops at the limit, whatever the sizes of what is read; while leaving is deferred, soon after it. At the text's end is
// a mistake that a reader reports who comes that far.
static void stops(struct pool *pool)
{
	enum { MEMBERS = 24 };

	for (int members = 0; members <= MEMBERS; members++) {
		struct pool *own = pool_new();
		struct buf unit = buf_new(own, 0);

		for (int i = 0; i < members; i++)
			buf_addf(&unit, "%s\"m%d\":1", i > 0 ? "," : "", i);
		const char *object = str_printf(own, "{%.*s}", STR_ARG(unit)).p;
		struct str text = many(own, object, (size_t)(MEMORY / (members + 1) / 10));
		struct reading reading = { .pool = pool, .text = str_printf(own, "[%.*s,!]", STR_ARG(text)) };

		budget_grant(MEMORY, 0);
		enum budget_end end = budget_guard(read_all, &reading);
		ok(end == BUDGET_MEMORY && reading.error.p == NULL && pool_peak(pool) <= MEMORY + MEMORY / 8,
			"objects of %d members: reading ends at the limit", members);
		pool_clear(pool);
		budget_grant(MEMORY, 0);
		end = budget_guard(read_deferred, &reading);
		budget_end();
		ok(end == BUDGET_MEMORY && str_eq(reading.error, STR("the document takes more memory than a request is granted")) &&
				pool_peak(pool) <= MEMORY + MEMORY / 4,
			"… and soon after it while leaving is deferred");
		pool_clear(pool);
		pool_free(&own);
	}
}

int main(void)
{
	struct pool *pool = pool_new();

	memory(pool);
	starving(pool);
	charges(pool);
	cpu(pool);
	deferring(pool);
	broken(pool);
	trees(pool);
	stops(pool);
	pool_free(&pool);
	return done_testing();
}
