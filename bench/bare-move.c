// SPDX-License-Identifier: Apache-2.0
// bare-move FROM TO TIMES: moves all resources of one tenant to the other, and back, and so on: the locks and the
// statements that change anything of registry/move/run.c. Prints the seconds of each.
#include "base/base.h"

#include "bare-write.h"
#include "sql/changes.h"
#include "sql/moves.h"

struct side {
	uint64_t id;
	char name[256];
	unsigned long name_n;
};

struct move {
	MYSQL *mysql;
	struct side source, dest;
	uint64_t count, most, words;
	uint8_t uid[16];
	MYSQL_TIME now;
	MYSQL_STMT *locks[2], *changes[4], *counts[2], *record[1];
};

static struct side side_open(MYSQL *mysql, const char *tenant)
{
	struct side side = { .id = bare_tenant(mysql, tenant), .name_n = strlen(tenant) };

	(void)snprintf(side.name, sizeof(side.name), "%s", tenant);
	return side;
}

// The two tenants change places, so the name's length is read each time.
static MYSQL_BIND name_of(struct side *side)
{
	MYSQL_BIND bind = bare_bytes(side->name, sizeof(side->name));

	bind.buffer_type = MYSQL_TYPE_STRING;
	bind.length = &side->name_n;
	return bind;
}

static void prepare(struct move *move)
{
	static char state[] = "done", actor[] = "bench";
	MYSQL *mysql = move->mysql;
	MYSQL_BIND source = bare_u(&move->source.id), dest = bare_u(&move->dest.id), count = bare_u(&move->count);
	MYSQL_BIND uid = bare_bytes(move->uid, sizeof(move->uid)), now = bare_time(&move->now), by = bare_text(actor);

	move->locks[0] = bare_gate(mysql);
	move->locks[1] = BARE_PREPARE(mysql, &sql_move_lock_tenants_query[SQL_WAIT_NOT],
		{ "source", name_of(&move->source) }, { "dest", name_of(&move->dest) });
	move->changes[0] = BARE_PREPARE(mysql, &sql_move_retire_forwards_query[SQL_MOVE_SET_ALL],
		{ "dest_id", dest }, { "set.tenant_id", source });
	move->changes[1] = BARE_PREPARE(mysql, &sql_move_forward_query[SQL_MOVE_SET_ALL],
		{ "request_id", uid }, { "now", now }, { "set.tenant_id", source });
	move->changes[2] = BARE_PREPARE(mysql, &sql_change_insert_moved_query[SQL_MOVE_SET_ALL], { "request_id", uid },
		{ "now", now }, { "actor", by }, { "dest_id", dest }, { "set.tenant_id", source });
	move->changes[3] = BARE_PREPARE(mysql, &sql_move_resources_query[SQL_MOVE_SET_ALL],
		{ "dest_id", dest }, { "set.tenant_id", source });
	move->counts[0] = BARE_PREPARE(mysql, &sql_count_down_query, { "tenant_id", source }, { "n", count });
	move->counts[1] = BARE_PREPARE(mysql, &sql_count_up_query,
		{ "tenant_id", dest }, { "n", count }, { "most", bare_u(&move->most) });
	move->record[0] = BARE_PREPARE(mysql, &sql_move_insert_query, { "uid", uid }, { "source_id", source }, { "dest_id", dest },
		{ "resource_id", bare_null() }, { "state", bare_text(state) }, { "if_match", bare_null() }, { "words", bare_u(&move->words) },
		{ "actor", by }, { "resources", count }, { "created_at", now }, { "finished_at", now });
}

static void run(struct move *move)
{
	move->now = bare_now();
	for (size_t i = 0; i < sizeof(move->uid); i++)
		move->uid[i] = (uint8_t)random();
	bare_batch(move->mysql, move->locks, COUNT_OF(move->locks));
	bare_batch(move->mysql, move->changes, COUNT_OF(move->changes));
	move->count = mysql_stmt_affected_rows(move->changes[3]);
	bare_batch(move->mysql, move->counts, COUNT_OF(move->counts));
	bare_batch(move->mysql, move->record, COUNT_OF(move->record));
	bare_query(move->mysql, "COMMIT");
}

int main(int argc, char **argv)
{
	struct move move = { .mysql = bare_connect(), .most = INT64_MAX, .words = 2 };

	if (argc != 4)
		die("usage: bare-move FROM TO TIMES");
	srandom((unsigned)time(NULL) ^ (unsigned)clock());
	move.source = side_open(move.mysql, argv[1]);
	move.dest = side_open(move.mysql, argv[2]);
	prepare(&move);
	bare_query(move.mysql, "SET autocommit = 0");
	for (unsigned i = bench_number(argv[3], 1000); i > 0; i--) {
		double began = bench_seconds();
		run(&move);
		printf("%.6f\n", bench_seconds() - began);
		if (move.count == 0)
			die("nothing was there to move");
		struct side kept = move.source;
		move.source = move.dest;
		move.dest = kept;
	}
	return 0;
}
