// SPDX-License-Identifier: Apache-2.0
// floor-select SOCKET WORKERS [BYTES TENANT NAME]: answers every request with the body of one row, found by its primary key; or,
// with the address of a config map in the namespace default, by the statement that Tenure sends for its GET (resource_get of
// sql/statements/resources.sql), so that what remains between the two is the price of Tenure's own work. The row's body is then
// shorter than what Tenure makes of it, and BYTES are answered.
#include "base/base.h"

#include "bare.h"
#include "floor.h"
#include "sql/resources.h"

enum { MAX_COLUMNS = 32 };

static const char q_body[] = "SELECT body FROM bench.bodies WHERE id = ?";
static const struct db_query *const get = &sql_resource_get_query;
static char **address; // tenant, name; NULL: by primary key
static size_t least_bytes;

struct reader {
	MYSQL_STMT *stmt;
	uint64_t id;
	char space[8];
	size_t body_column;
	MYSQL_BIND out[MAX_COLUMNS];
	unsigned long n[MAX_COLUMNS];
	uint64_t numbers[MAX_COLUMNS];
	MYSQL_TIME times[MAX_COLUMNS];
	my_bool null[MAX_COLUMNS];
	char values[MAX_COLUMNS][FLOOR_MAX_COLUMN];
};

static size_t column_of_body(void)
{
	size_t at = 0, body = 0;

	while (db_statements[at].query != get)
		at++;
	while (strcmp(db_statements[at].out_names[body], "r.body") != 0)
		body++;
	return body;
}

static void prepare(struct reader *reader, MYSQL *mysql)
{
	MYSQL_BIND id = bare_u(&reader->id);

	reader->id = 1;
	if (address == NULL) {
		reader->stmt = bare_prepare(mysql, q_body, &id);
		return;
	}
	if (get->n_out > MAX_COLUMNS)
		die("%s has too many columns", get->name);
	(void)snprintf(reader->space, sizeof(reader->space), "default");
	reader->id = bare_number(mysql, "SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'");
	reader->body_column = column_of_body();
	reader->stmt = BARE_PREPARE(mysql, get, { "type_id", id }, { "namespace", bare_text(reader->space) },
		{ "name", bare_text(address[1]) }, { "tenant", bare_text(address[0]) });
}

static MYSQL_BIND column(struct reader *reader, size_t i)
{
	switch (address != NULL ? get->out_fields[i].type : DB_BYTES) {
	case DB_UINT:
	case DB_INT:
		return bare_u(&reader->numbers[i]);
	case DB_TIME:
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
	for (size_t i = 0; i < (address != NULL ? get->n_out : 1); i++) {
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
