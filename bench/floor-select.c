// SPDX-License-Identifier: Apache-2.0
// floor-select SOCKET WORKERS: answers every request with the body of one row, found by its primary key.
#include "base/base.h"

#include "bare.h"
#include "floor.h"

struct reader {
	MYSQL_STMT *stmt;
	uint64_t id;
	char body[FLOOR_MAX_BODY];
	unsigned long n;
	MYSQL_BIND in, out;
};

static void *reader_open(void)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		die("no memory");
	reader->id = 1;
	reader->in = bare_u(&reader->id);
	reader->out = bare_bytes(reader->body, sizeof(reader->body));
	reader->out.length = &reader->n;
	reader->stmt = bare_prepare(bare_connect(), "SELECT body FROM bench.bodies WHERE id = ?", &reader->in);
	if (mysql_stmt_bind_result(reader->stmt, &reader->out) != 0)
		die("%s", mysql_stmt_error(reader->stmt));
	return reader;
}

static void answer(void *arg, FCGX_Request *request)
{
	struct reader *reader = arg;

	if (mysql_stmt_execute(reader->stmt) != 0 || mysql_stmt_fetch(reader->stmt) != 0 ||
		mysql_stmt_free_result(reader->stmt) != 0)
		die("%s", mysql_stmt_error(reader->stmt));
	floor_answer(request, reader->body, (size_t)reader->n);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: floor-select SOCKET WORKERS");
	return floor_serve(argv[1], bench_number(argv[2], FLOOR_MAX_WORKERS), reader_open, answer);
}
