// SPDX-License-Identifier: Apache-2.0
// bare-move FROM TO TIMES: moves all resources of one tenant to the other, and back, and so on: the locks and the
// statements that change anything of registry/move/run.c. Prints the seconds of each.
#include "base/base.h"

#include "bare.h"

#define OF_SOURCE "r.tenant_id = ? AND r.live = 1"

static const char q_lock[] = "SELECT id FROM tenants WHERE id IN (?, ?) ORDER BY id FOR UPDATE NOWAIT";
static const char q_log[] =
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, "
	"name, revision, etag_before, etag_after) SELECT ?, ?, 'bench', 'moved', ?, r.tenant_id, r.id, r.uid, r.type_id, "
	"r.namespace, r.name, r.revision + 1, r.etag, r.etag FROM resources r WHERE " OF_SOURCE;
static const char q_retire[] =
	"DELETE f FROM forwards f JOIN resources r ON r.type_id = f.type_id AND r.namespace = f.namespace AND "
	"r.name = f.name WHERE f.tenant_id = ? AND " OF_SOURCE;
static const char q_forward[] =
	"INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) SELECT r.tenant_id, r.type_id, "
	"r.namespace, r.name, r.id, ? FROM resources r WHERE " OF_SOURCE
	" ON DUPLICATE KEY UPDATE resource_id = VALUES(resource_id), moved_at = VALUES(moved_at)";
static const char q_move[] =
	"UPDATE resources r SET r.tenant_id = ?, r.revision = r.revision + 1, r.changed = (SELECT x.id FROM changes x "
	"WHERE x.resource_id = r.id ORDER BY x.id DESC LIMIT 1) WHERE " OF_SOURCE;
static const char q_down[] = "UPDATE tenant_counts SET resources = resources - ? WHERE tenant_id = ?";
static const char q_up[] = "UPDATE tenant_counts SET resources = resources + ? WHERE tenant_id = ?";
static const char q_record[] =
	"INSERT INTO moves (uid, source_id, dest_id, state, actor, resources, created_at, finished_at) "
	"VALUES (?, ?, ?, 'done', 'bench', ?, ?, ?)";

struct move {
	MYSQL *mysql;
	uint64_t source, dest, count;
	uint8_t uid[16];
	MYSQL_TIME now;
	MYSQL_STMT *locks[1], *changes[4], *counts[2], *record[1];
};

static void prepare(struct move *move)
{
	MYSQL_BIND source = bare_u(&move->source), dest = bare_u(&move->dest), count = bare_u(&move->count);
	MYSQL_BIND uid = bare_bytes(move->uid, sizeof(move->uid)), now = bare_time(&move->now);

	move->locks[0] = bare_prepare(move->mysql, q_lock, (MYSQL_BIND[]){ source, dest });
	move->changes[0] = bare_prepare(move->mysql, q_log, (MYSQL_BIND[]){ uid, now, dest, source });
	move->changes[1] = bare_prepare(move->mysql, q_retire, (MYSQL_BIND[]){ dest, source });
	move->changes[2] = bare_prepare(move->mysql, q_forward, (MYSQL_BIND[]){ now, source });
	move->changes[3] = bare_prepare(move->mysql, q_move, (MYSQL_BIND[]){ dest, source });
	move->counts[0] = bare_prepare(move->mysql, q_down, (MYSQL_BIND[]){ count, source });
	move->counts[1] = bare_prepare(move->mysql, q_up, (MYSQL_BIND[]){ count, dest });
	move->record[0] = bare_prepare(move->mysql, q_record, (MYSQL_BIND[]){ uid, source, dest, count, now, now });
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
	struct move move = { .mysql = bare_connect() };

	if (argc != 4)
		die("usage: bare-move FROM TO TIMES");
	srandom((unsigned)time(NULL) ^ (unsigned)clock());
	move.source = bare_tenant(move.mysql, argv[1]);
	move.dest = bare_tenant(move.mysql, argv[2]);
	prepare(&move);
	bare_query(move.mysql, "SET autocommit = 0");
	for (unsigned i = bench_number(argv[3], 1000); i > 0; i--) {
		double began = bench_seconds();
		run(&move);
		printf("%.6f\n", bench_seconds() - began);
		if (move.count == 0)
			die("nothing was there to move");
		uint64_t kept = move.source;
		move.source = move.dest;
		move.dest = kept;
	}
	return 0;
}
