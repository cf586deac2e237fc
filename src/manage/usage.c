// SPDX-License-Identifier: Apache-2.0
// tenure-manage usage verify: counts closed periods again from the change log, and prints what differs.
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/registry.h"
#include "registry/usage/usage_verify.h"

static struct str time_text(struct pool *pool, int64_t us)
{
	struct buf text = buf_new(pool, 32);

	clock_add_rfc3339(&text, us);
	return buf_str(&text);
}

static void print_difference(void *arg, const struct usage_difference *difference)
{
	struct pool *pool = arg;
	struct pool_mark mark = pool_mark(pool);
	bool is_of_tenant = difference->tenant.p != NULL;
	struct str tenant = is_of_tenant ? table_printable(pool, difference->tenant) : STR("");
	struct str type = is_of_tenant ? table_printable(pool, difference->type) : STR("");
	struct str since = time_text(pool, difference->since_us);
	struct str until = time_text(pool, difference->until_us);

	printf("%.*s%s%.*s%s%.*s to %.*s: %s: stored %s, counted %s\n", STR_ARG(tenant), is_of_tenant ? " " : "", STR_ARG(type),
		is_of_tenant ? " " : "", STR_ARG(since), STR_ARG(until), difference->what, difference->stored, difference->counted);
	pool_rewind(pool, mark);
}

// What was verified, for people: it goes to standard error, so that standard output has differences alone.
static void tell_extent(struct manage *manage, const struct usage_verification *run)
{
	if (run->periods == 0) {
		fprintf(stderr, "tenure-manage: nothing to verify: no period was closed yet behind which the change log has all changes\n");
		return;
	}
	struct str since = time_text(manage->pool, run->since_us);
	struct str until = time_text(manage->pool, run->until_us);
	fprintf(stderr, "tenure-manage: %llu period%s from %.*s to %.*s, with %llu row%s, counted again from %s: %llu difference%s\n",
		COUNT_ARG(run->periods), STR_ARG(since), STR_ARG(until), COUNT_ARG(run->rows),
		run->from_opening ? "the opening balance" : "the balance at that time", COUNT_ARG(run->differences));
	if (run->left_out > 0)
		fprintf(stderr, "tenure-manage: left out, since deleted before that time and recovered later: %llu tenant%s\n",
			COUNT_ARG(run->left_out));
}

int command_usage_verify(struct manage *manage)
{
	struct registry_store *store = NULL;
	struct registry registry;
	enum outcome outcome = manage_begin(manage, &store, &registry);
	struct usage_verification run = { .stop = manage_stop_by_signals(), .report = print_difference, .arg = manage->pool };

	if (outcome == OUTCOME_OK)
		outcome = usage_verify(&registry, &run);
	if (outcome != OUTCOME_OK)
		manage_tell_outcome(manage, outcome);
	else if (run.stopped)
		fprintf(stderr, "tenure-manage: stopped\n");
	else if (run.overtaken)
		fprintf(stderr, "tenure-manage: what this began with was deleted meanwhile: run it again\n");
	else
		tell_extent(manage, &run);
	registry_store_free(&store);
	return outcome != OUTCOME_OK || run.stopped || run.overtaken ? EXIT_FAILED : run.differences > 0 ? EXIT_FOUND
													 : EXIT_CLEAN;
}
