// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "manage/placement/transfer.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/visible.h"
#include "db/db.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/registry.h"
#include "registry/tags/keys.h"
#include "sql/schema.h"
#include "sql/transfer.h"

enum { BAR = 40, REDRAW_US = 200000, NAMES_AT_ONCE = 1000 };

// ---- messages

// Erases the bar, so that a line can be printed in its place.
static void clear_bar(struct transfer *transfer)
{
	if (!transfer->progress_in_lines && transfer->drawn_us != 0)
		fputs("\r\033[K", stderr);
	transfer->drawn_us = 0;
}

// prefix: what the line begins with.
static void print_line(struct transfer *transfer, FILE *out, const char *prefix, const char *format, va_list args)
{
	struct pool *pool = transfer->registry->pool;
	struct pool_mark mark = pool_mark(pool);
	struct str line = visible_text(pool, str_vprintf(pool, format, args));

	clear_bar(transfer);
	fprintf(out, "%s%.*s\n", prefix, STR_ARG(line));
	pool_rewind(pool, mark);
}

void transfer_problem(struct transfer *transfer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(transfer, stderr, "tenure-manage: ", format, args);
	va_end(args);
	transfer->problems++;
}

void transfer_note(struct transfer *transfer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(transfer, stderr, "tenure-manage: note: ", format, args);
	va_end(args);
}

void transfer_list(struct transfer *transfer, const char *format, ...)
{
	va_list args;

	if (!transfer->list)
		return;
	va_start(args, format);
	print_line(transfer, stdout, "", format, args);
	va_end(args);
}

bool transfer_fail(struct transfer *transfer, int code, const char *format, ...)
{
	va_list args;

	if (transfer->code != EX_OK)
		return false;
	va_start(args, format);
	print_line(transfer, stderr, "tenure-manage: ", format, args);
	va_end(args);
	transfer->code = code;
	return false;
}

bool transfer_lost(struct transfer *transfer, enum db_result result)
{
	const char *why = db_error(transfer->foreign);

	return transfer_fail(transfer, result == DB_ERROR ? EX_SOFTWARE : EX_TEMPFAIL, "Placement's database: %s",
		why != NULL && *why != '\0' ? why : "it is away or busy");
}

bool transfer_done(struct transfer *transfer, enum outcome outcome)
{
	struct str detail = transfer->registry->problem->detail;
	bool away = outcome == OUTCOME_UNAVAILABLE;

	if (outcome_commits(outcome))
		return true;
	transfer->away = transfer->away || away;
	if (away && transfer->in_snapshot)
		return false;
	if (detail.n == 0)
		detail = str_c(away ? "the database is away or busy: run this again" : outcome_title(outcome));
	return transfer_fail(transfer, away ? EX_TEMPFAIL : outcome == OUTCOME_INTERNAL ? EX_SOFTWARE : EX_DATAERR, "%.*s",
		STR_ARG(detail));
}

// ---- what was transferred before

static bool read_remembered(struct transfer *transfer, struct str *value)
{
	const struct sql_setting_get in = { .name = STR("placement_import") };
	struct db_rows rows;
	enum db_result result = sql_setting_get_run(transfer->notes, transfer->registry->pool, &in, &rows);

	if (result != DB_OK)
		return transfer_done(transfer, registry_db_failed(result));
	*value = rows.n == 1 ? sql_setting_get_row(&rows, 0)->value : STR("");
	return true;
}

bool transfer_recall(struct transfer *transfer, const struct transfer_digest *digest, bool *same, bool *any)
{
	struct str value;

	if (!read_remembered(transfer, &value))
		return false;
	*same = false;
	*any = value.n >= sizeof(*digest);
	for (size_t at = 0; at + sizeof(*digest) <= value.n; at += sizeof(*digest))
		*same = *same || memcmp(value.p + at, digest, sizeof(*digest)) == 0;
	return true;
}

bool transfer_remember(struct transfer *transfer, const struct transfer_digest *digest)
{
	struct pool *pool = transfer->registry->pool;
	struct buf value = buf_new(pool, TRANSFER_REMEMBERED * sizeof(*digest));
	struct str before;

	if (!read_remembered(transfer, &before))
		return false;
	buf_add(&value, str_n((const char *)digest, sizeof(*digest)));
	for (size_t at = 0; at + sizeof(*digest) <= before.n && value.n < TRANSFER_REMEMBERED * sizeof(*digest);
		at += sizeof(*digest)) {
		if (memcmp(before.p + at, digest, sizeof(*digest)) != 0)
			buf_add(&value, str_n(before.p + at, sizeof(*digest)));
	}
	const struct sql_transfer_remember in = { .value = buf_str(&value) };
	enum db_result result = sql_transfer_remember_run(transfer->notes, pool, &in, NULL);
	return result == DB_OK || transfer_done(transfer, registry_db_failed(result));
}

// ---- transactions of ours

struct write {
	struct registry *registry;
	enum outcome (*fn)(struct registry *registry, void *arg);
	void *arg;
	enum outcome outcome;
};

static enum db_verdict run_write(void *arg)
{
	struct write *write = arg;

	registry_begin_run(write->registry);
	write->registry->lock_policy = LOCK_PATIENTLY;
	write->outcome = write->fn(write->registry, write->arg);
	return outcome_commits(write->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

bool transfer_write(struct transfer *transfer, enum outcome (*fn)(struct registry *registry, void *arg), void *arg)
{
	struct registry *registry = transfer->registry;
	struct write write = { .registry = registry, .fn = fn, .arg = arg };

	// An import may take longer than a key of etags is in use after the next one was added.
	if (!transfer_done(transfer, etag_keys_refresh(registry)))
		return false;
	registry->request_id = uuid_new();
	registry->now_us = registry->stamp_us = clock_now_us();
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &registry->request_id, run_write, &write);
	if (result == DB_OK && outcome_commits(write.outcome))
		coherence_committed(registry);
	return transfer_done(transfer, result == DB_OK ? write.outcome : registry_db_failed(result));
}

// ---- progress

static void draw(struct transfer *transfer)
{
	uint64_t total = transfer->total, done = transfer->done < total ? transfer->done : total;
	uint64_t full = total > 0 ? done * BAR / total : BAR;
	char bar[BAR + 1];

	for (uint64_t i = 0; i < BAR; i++)
		bar[i] = i < full ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s [%s] %llu/%llu", transfer->label, bar, (unsigned long long)done, (unsigned long long)total);
	fflush(stderr);
}

void transfer_begin(struct transfer *transfer, const char *label, uint64_t total)
{
	transfer->label = label;
	transfer->done = 0;
	transfer->total = total;
	transfer->drawn_us = 0;
	transfer->tenths = 0;
	transfer->progress_in_lines = isatty(STDERR_FILENO) != 1;
}

void transfer_advance(struct transfer *transfer, uint64_t n)
{
	transfer->done += n;
	unsigned tenths = transfer->total > 0 ? (unsigned)(transfer->done * 10 / transfer->total) : 10;
	int64_t now = clock_tick_us();

	if (transfer->progress_in_lines && tenths > transfer->tenths) {
		transfer->tenths = tenths;
		fprintf(stderr, "%s: %llu of %llu\n", transfer->label, (unsigned long long)transfer->done,
			(unsigned long long)transfer->total);
	} else if (!transfer->progress_in_lines && now - transfer->drawn_us >= REDRAW_US) {
		transfer->drawn_us = now;
		draw(transfer);
	}
}

void transfer_end(struct transfer *transfer)
{
	if (!transfer->progress_in_lines) {
		draw(transfer);
		fputc('\n', stderr);
	}
	transfer->drawn_us = 0;
}

// ---- names

static int compare_names(const void *a, const void *b)
{
	return str_cmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

void name_set_add(struct pool *pool, struct name_set *set, struct str text, int64_t id)
{
	if (set->n == set->room) {
		struct name *old = set->names;

		set->room = set->room > 0 ? 2 * set->room : 512;
		set->names = POOL_ARRAY(pool, struct name, set->room);
		if (set->n > 0)
			memcpy(set->names, old, set->n * sizeof(*old));
	}
	set->names[set->n++] = (struct name){ str_dup(pool, text), id };
}

void name_set_sort(struct name_set *set)
{
	if (set->n > 0)
		qsort(set->names, set->n, sizeof(*set->names), compare_names);
}

int64_t name_set_find(const struct name_set *set, struct str text)
{
	const struct name key = { .text = text };
	const struct name *hit = set->n > 0 ? bsearch(&key, set->names, set->n, sizeof(key), compare_names) : NULL;

	return hit != NULL ? hit->id : -1;
}

bool name_set_has(const struct name_set *set, struct str text)
{
	return name_set_find(set, text) >= 0;
}

static bool read_names(struct transfer *transfer, enum sql_transfer_names_of which, struct name_set *set)
{
	struct registry *registry = transfer->registry;
	struct sql_transfer_names in = { .limit = NAMES_AT_ONCE };
	struct db_rows rows;

	*set = (struct name_set){ .n = 0 };
	do {
		struct pool_mark mark = pool_mark(registry->pool);
		enum db_result result = sql_transfer_names_run(registry->db, registry->pool, which, &in, &rows);

		if (result != DB_OK)
			return transfer_done(transfer, registry_db_failed(result));
		for (size_t i = 0; i < rows.n; i++) {
			in.after = sql_transfer_names_row(&rows, i)->id;
			name_set_add(transfer->pool, set, sql_transfer_names_row(&rows, i)->name, (int64_t)in.after);
		}
		pool_rewind(registry->pool, mark);
	} while (rows.n == NAMES_AT_ONCE);
	name_set_sort(set);
	return true;
}

bool transfer_read_names(struct transfer *transfer)
{
	return read_names(transfer, SQL_TRANSFER_NAMES_OF_CLASSES, &transfer->classes) &&
	       read_names(transfer, SQL_TRANSFER_NAMES_OF_TRAITS, &transfer->traits);
}
