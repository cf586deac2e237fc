// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/metrics.h"

static_assert((int)OUTCOME__COUNT <= (int)METRICS_OUTCOMES, "each outcome has a counter");

const int64_t metrics_bounds_us[METRICS_BUCKETS] = {
	250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 5000000,
};

struct metrics *metrics_area(const struct shared *shared)
{
	return shared_area(shared, SHARED_METRICS, sizeof(struct metrics));
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	if (n > 0)
		(void)atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void metrics_add(const struct shared *shared, enum metrics_counter counter, uint64_t n)
{
	assert(counter < METRICS__COUNTERS);
	if (shared != NULL)
		add(&metrics_area(shared)->counters[counter], n);
}

void metrics_add_own(const struct shared *shared, const uint64_t now[METRICS__OWN], uint64_t added[METRICS__OWN])
{
	if (shared == NULL)
		return;
	struct metrics *metrics = metrics_area(shared);
	for (size_t i = 0; i < METRICS__OWN; i++) {
		add(&metrics->counters[i], now[i] - added[i]);
		added[i] = now[i];
	}
}

// ---- rows

// Takes a free row for the key, or finds the one that has it. stride: bytes from one row's key to the next one's.
static size_t find_row(_Atomic uint64_t *first, size_t stride, size_t n, uint64_t key)
{
	for (size_t i = 0; i < n; i++) {
		_Atomic uint64_t *at = (_Atomic uint64_t *)(void *)((char *)first + i * stride);
		uint64_t has = atomic_load_explicit(at, memory_order_relaxed);

		if (has == 0 && atomic_compare_exchange_strong(at, &has, key))
			return i;
		if (has == key)
			return i;
	}
	return n;
}

// A process that took the row and was killed may not have come to this, so each that finds it does it again.
static void write_name(_Atomic uint64_t name[METRICS_NAME / sizeof(uint64_t)], struct str text)
{
	uint64_t words[METRICS_NAME / sizeof(uint64_t)] = { 0 };

	memcpy(words, text.p, text.n < METRICS_NAME ? text.n : METRICS_NAME - 1);
	for (size_t i = 0; i < COUNT_OF(words); i++)
		atomic_store_explicit(&name[i], words[i], memory_order_relaxed);
}

static uint16_t find_route(const struct shared *shared, const char *text)
{
	struct metrics *metrics = metrics_area(shared);
	size_t row = find_row(&metrics->routes[0].key, sizeof(metrics->routes[0]), METRICS_ROUTES - 1, shared_hash(shared, str_c(text)));
	struct metrics_route *route = &metrics->routes[row]; // the last one is for all that find no row

	if (row == METRICS_ROUTES - 1) {
		text = "other";
		atomic_store_explicit(&route->key, 1, memory_order_relaxed);
	}
	write_name(route->name, str_c(text));
	return (uint16_t)row;
}

static uint16_t find_dialect(const struct shared *shared, const char *name)
{
	struct metrics *metrics = metrics_area(shared);
	size_t row = find_row(&metrics->dialects[0].key, sizeof(metrics->dialects[0]), METRICS_DIALECTS - 1,
		shared_hash(shared, str_c(name)));
	struct metrics_dialect *dialect = &metrics->dialects[row];

	if (row == METRICS_DIALECTS - 1) {
		name = "other";
		atomic_store_explicit(&dialect->key, 1, memory_order_relaxed);
	}
	write_name(dialect->name, str_c(name));
	return (uint16_t)row;
}

// ---- requests

static void count_time(struct metrics_times *times, int64_t us)
{
	size_t i = 0;

	us = us > 0 ? us : 0;
	while (i < METRICS_BUCKETS && us > metrics_bounds_us[i])
		i++;
	if (i < METRICS_BUCKETS)
		add(&times->buckets[i], 1);
	add(&times->n, 1);
	add(&times->sum_us, (uint64_t)us);
}

// Writes "DIALECT ID", cut to what a row has room for.
static void join_name(char name[METRICS_NAME], const char *dialect, const char *id)
{
	size_t n = strnlen(dialect, METRICS_NAME - 2), rest = METRICS_NAME - 2 - n, m = strnlen(id, rest);

	memcpy(name, dialect, n);
	name[n] = ' ';
	memcpy(name + n + 1, id, m);
	name[n + 1 + m] = '\0';
}

// The place of the method in rows->known.
static size_t find_known(const struct shared *shared, struct metrics_rows *rows, const struct metrics_of_request *request)
{
	const void *method = request->method != NULL ? request->method : request->dialect;
	size_t at = ((uintptr_t)method >> 4) % METRICS_KNOWN;
	char name[METRICS_NAME];

	while (rows->known[at].method != method && rows->known[at].method != NULL)
		at = (at + 1) % METRICS_KNOWN;
	if (rows->known[at].method == method)
		return at;
	if (rows->n == METRICS_KNOWN / 2) { // more methods than the shared memory has rows: begin anew, so that a place is always free
		memset(rows->known, 0, sizeof(rows->known));
		rows->n = 0;
	}
	join_name(name, request->dialect, request->id);
	rows->known[at].route = find_route(shared, name);
	rows->known[at].dialect = find_dialect(shared, request->dialect);
	rows->known[at].method = method;
	rows->n++;
	return at;
}

void metrics_request(const struct shared *shared, struct metrics_rows *rows, const struct metrics_of_request *request)
{
	if (shared == NULL)
		return;
	if (rows->file != shared_file(shared)) { // the rows of the file before are not those of this one
		memset(rows, 0, sizeof(*rows));
		rows->file = shared_file(shared);
	}
	size_t at = find_known(shared, rows, request);
	struct metrics *metrics = metrics_area(shared);
	struct metrics_route *route = &metrics->routes[rows->known[at].route];
	int class = request->status / 100;
	add(&route->by_class[class >= 1 && class < METRICS_CLASSES ? class : 0], 1);
	count_time(&route->times, request->us);
	add(&metrics->dialects[rows->known[at].dialect].by_outcome[request->outcome], 1);
}

// ---- processes, gauges

void metrics_process(const struct shared *shared, enum metrics_kind kind, uint32_t value)
{
	assert(kind <= METRICS_WATCH);
	if (shared == NULL || shared_slot(shared) == SHARED_NONE)
		return;
	struct metrics_process *process = &metrics_area(shared)->processes[shared_slot(shared)];
	atomic_store_explicit(&process->kind, kind, memory_order_relaxed);
	atomic_store_explicit(&process->value, value, memory_order_relaxed);
	atomic_store_explicit(&process->mark, shared_self(shared), memory_order_relaxed);
}

void metrics_process_value(const struct shared *shared, uint32_t value)
{
	unsigned slot = shared != NULL ? shared_slot(shared) : SHARED_NONE;

	if (slot != SHARED_NONE)
		atomic_store_explicit(&metrics_area(shared)->processes[slot].value, value, memory_order_relaxed);
}

void metrics_observe(const struct shared *shared, const int64_t gauges[METRICS__GAUGES], int64_t now_us)
{
	if (shared == NULL)
		return;
	struct metrics *metrics = metrics_area(shared);
	for (size_t i = 0; i < METRICS__GAUGES; i++)
		atomic_store_explicit(&metrics->gauges[i], gauges[i], memory_order_relaxed);
	atomic_store(&metrics->gauges_at_us, now_us);
}

void metrics_observe_nothing(const struct shared *shared, int64_t now_us)
{
	if (shared == NULL)
		return;
	struct metrics *metrics = metrics_area(shared);
	atomic_store_explicit(&metrics->gauges[METRICS_DATABASE_ANSWERS], 0, memory_order_relaxed);
	atomic_store(&metrics->gauges_at_us, now_us);
}
