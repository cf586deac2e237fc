// SPDX-License-Identifier: Apache-2.0
// tenure-manage maintenance: stops all changes while reads go on, and allows them again.
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "db/maintenance.h"
#include "manage/commands.h"

enum {
	RETRY_S = 60,         // what clients are told if nothing else is wanted
	PATIENCE_TRIES = 900, // for transactions in flight; each try waits a second
	TELL_AT = 2,          // the try after which the user is told what is waited for
};

static bool is_clean(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return false;
	}
	return text.n <= DB_MAINTENANCE_REASON && str_utf8_ok(text, NULL);
}

// Waits until no transaction goes on that began before.
static int await_others(struct manage *manage)
{
	for (int i = 0; i < PATIENCE_TRIES; i++) {
		enum db_result result = db_maintenance_await(manage->db);
		if (result == DB_OK)
			return EX_OK;
		if (result != DB_RETRY)
			return manage_db_fail(manage, result, "new changes are refused, but it is not known whether earlier ones have ended");
		if (i + 1 == TELL_AT)
			fprintf(stderr, "tenure-manage: new changes are refused; waiting for the end of those that began before\n");
	}
	return manage_fail(EX_TEMPFAIL, "new changes are refused, but one that began before still goes on: run this again");
}

int command_maintenance_on(struct manage *manage)
{
	const char *reason = manage_option(manage, "--reason"), *retry = manage_option(manage, "--retry-after");
	struct db_maintenance wanted = { .on = true, .retry_s = RETRY_S, .since_us = clock_now_us(), .reason = str_c(reason) }, is;
	int64_t retry_us;

	if (!is_clean(wanted.reason))
		return manage_fail(EX_USAGE, "--reason is up to %d bytes of UTF-8 without control characters", DB_MAINTENANCE_REASON);
	if (retry != NULL && (!manage_duration_parse(str_c(retry), &retry_us) || retry_us / 1000000 > DB_MAINTENANCE_RETRY))
		return manage_fail(EX_USAGE, "--retry-after \"%s\": a number of seconds, or with a unit: 90, 15m, 2h; 30d at most", retry);
	if (retry != NULL)
		wanted.retry_s = (unsigned)(retry_us / 1000000);
	enum db_result result = db_maintenance_read(manage->db, manage->pool, &is);
	if (result == DB_OK && is.on && is.since_us > 0)
		wanted.since_us = is.since_us;
	if (result == DB_OK)
		result = db_maintenance_begin(manage->db, &wanted);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't begin maintenance");
	return await_others(manage);
}

int command_maintenance_off(struct manage *manage)
{
	bool was;
	enum db_result result = db_maintenance_end(manage->db, &was);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't end maintenance");
	if (!was)
		fprintf(stderr, "tenure-manage: changes were not stopped\n");
	return EX_OK;
}

static void print_since(FILE *out, struct manage *manage, const struct db_maintenance *is)
{
	struct buf since = buf_new(manage->pool, 32);

	clock_add_rfc3339(&since, is->since_us);
	fprintf(out, "since %.*s, Retry-After %u%s%.*s\n", STR_ARG(since), is->retry_s, is->reason.n > 0 ? ": " : "",
		STR_ARG(is->reason));
}

int command_maintenance_status(struct manage *manage)
{
	struct db_maintenance is;
	enum db_result result = db_maintenance_read(manage->db, manage->pool, &is);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the settings");
	printf("%s", is.on ? "on " : "off\n");
	if (is.on)
		print_since(stdout, manage, &is);
	return EX_OK;
}

void manage_warn_of_maintenance(struct manage *manage)
{
	struct db_maintenance is;

	if (db_maintenance_read(manage->db, manage->pool, &is) != DB_OK || !is.on)
		return;
	fprintf(stderr, "tenure-manage: warning: changes are stopped for maintenance ");
	print_since(stderr, manage, &is);
}
