// SPDX-License-Identifier: Apache-2.0
// floor-insert SOCKET WORKERS: answers every request after one row was inserted and committed.
#include "base/base.h"

#include "bare.h"
#include "floor.h"

static const char q_insert[] = "INSERT INTO bench.inserted (body) VALUES (?)";

struct writer {
	MYSQL_STMT *stmt;
	char body[64];
	MYSQL_BIND in[1];
};

static void *writer_open(void)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (writer == NULL)
		die("no memory");
	(void)snprintf(writer->body, sizeof(writer->body), "by process %ld", (long)getpid());
	writer->in[0] = bare_text(writer->body);
	writer->stmt = bare_prepare(bare_connect(), q_insert, writer->in);
	return writer;
}

static void answer(void *arg, FCGX_Request *request)
{
	struct writer *writer = arg;

	if (mysql_stmt_execute(writer->stmt) != 0)
		die("%s", mysql_stmt_error(writer->stmt));
	floor_answer(request, "", 0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: floor-insert SOCKET WORKERS");
	return floor_serve(argv[1], bench_number(argv[2], FLOOR_MAX_WORKERS), writer_open, answer);
}
