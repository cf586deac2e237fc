// SPDX-License-Identifier: Apache-2.0
// floor-select SOCKET WORKERS [BYTES TENANT NAME]: answers every request with the body of one row, found by its primary
// key; or, with the address of a config map in the namespace default, by the statement that Tenure sends for its GET
// (q_get of registry/resource/resource.c), so that what remains between the two is the price of Tenure's own work. The row's
// body is then shorter than what Tenure makes of it, and BYTES are answered.
#include "base/base.h"

#include "bare.h"
#include "floor.h"

enum { MAX_COLUMNS = 18, BODY_OF_GET = 10 };

static const char q_body[] = "SELECT body FROM bench.bodies WHERE id = ?";
static const char q_get[] =
	"SELECT t.id, t.deleted_at, t.purge_at, r.id, r.uid, r.locked, r.revision, r.edits, r.etag, r.meta, r.body, "
	"r.created_at, r.updated_at, r.root, r.traits, r.changed, r.generation, r.doomed_at FROM tenants t "
	"LEFT JOIN resources r ON r.tenant_id = t.id AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live = 1 "
	"WHERE t.name = ? AND t.live = 1";
// Types of its columns: u number, t time, b bytes.
static const char get_types[] = "uttubuuubbbttbbuut";

static char **address; // tenant, name; NULL: by primary key
static size_t least_bytes;

struct reader {
	MYSQL_STMT *stmt;
	uint64_t id;
	char space[8];
	unsigned body_column;
	MYSQL_BIND in[4], out[MAX_COLUMNS];
	unsigned long n[MAX_COLUMNS];
	uint64_t numbers[MAX_COLUMNS];
	MYSQL_TIME times[MAX_COLUMNS];
	my_bool null[MAX_COLUMNS];
	char values[MAX_COLUMNS][FLOOR_MAX_COLUMN];
};

static void prepare(struct reader *reader, MYSQL *mysql)
{
	reader->id = 1;
	reader->in[0] = bare_u(&reader->id);
	if (address == NULL) {
		reader->stmt = bare_prepare(mysql, q_body, reader->in);
		return;
	}
	(void)snprintf(reader->space, sizeof(reader->space), "default");
	reader->id = bare_number(mysql, "SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'");
	reader->in[1] = bare_text(reader->space);
	reader->in[2] = bare_text(address[1]);
	reader->in[3] = bare_text(address[0]);
	reader->body_column = BODY_OF_GET;
	reader->stmt = bare_prepare(mysql, q_get, reader->in);
}

static MYSQL_BIND column(struct reader *reader, size_t i)
{
	switch (address != NULL ? get_types[i] : 'b') {
	case 'u':
		return bare_u(&reader->numbers[i]);
	case 't':
		return bare_time(&reader->times[i]);
	default:
		return bare_bytes(reader->values[i], sizeof(reader->values[i]));
	}
}

static void *reader_open(void)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		die("no memory");
	prepare(reader, bare_connect());
	for (size_t i = 0; i < MAX_COLUMNS; i++) {
		reader->out[i] = column(reader, i);
		reader->out[i].length = &reader->n[i];
		reader->out[i].is_null = &reader->null[i];
	}
	if (mysql_stmt_bind_result(reader->stmt, reader->out) != 0)
		die("%s", mysql_stmt_error(reader->stmt));
	return reader;
}

static void answer(void *arg, FCGX_Request *request)
{
	struct reader *reader = arg;

	if (mysql_stmt_execute(reader->stmt) != 0 || mysql_stmt_fetch(reader->stmt) != 0 ||
		mysql_stmt_free_result(reader->stmt) != 0)
		die("%s", mysql_stmt_error(reader->stmt));
	size_t n = (size_t)reader->n[reader->body_column];
	floor_answer(request, reader->values[reader->body_column], n > least_bytes ? n : least_bytes);
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 6)
		die("usage: floor-select SOCKET WORKERS [BYTES TENANT NAME]");
	if (argc == 6) {
		least_bytes = bench_number(argv[3], FLOOR_MAX_COLUMN);
		address = argv + 4;
	}
	return floor_serve(argv[1], bench_number(argv[2], FLOOR_MAX_WORKERS), reader_open, answer);
}
