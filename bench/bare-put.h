// SPDX-License-Identifier: Apache-2.0
// What a PUT of a config map, or a PATCH of a node, that exists sends to the database, as registry/resource/write.c does it:
// locks in one round trip, writes in another, COMMIT in a third. t/016-build-bench.t compares both.
#ifndef TENURE_BENCH_BARE_PUT_H
#define TENURE_BENCH_BARE_PUT_H

#include "bare-write.h"
#include "sql/changes.h"
#include "sql/former.h"

enum { MAX_BODY = 8192, DIGITS = 20 };

struct row {
	uint64_t id;
	uint8_t uid[16];
	char name[40];
};

struct put {
	MYSQL *mysql;
	bool nodes;
	uint64_t tenant_id, type_id, space_type_id, locked, bytes, revision, moves;
	char tenant[256], space[8], meta[3], verb[8], actor[8], fields[32], selectable[1], body[MAX_BODY];
	char *digits; // where in the body the counter is
	struct row row;
	uint8_t request_id[16], etag[ETAG], root[20]; // root: the type's id, the first byte the highest, and the uid
	MYSQL_TIME now;
	MYSQL_STMT *locks[4], *writes[3];
	struct row *rows;
	size_t n_locks, at, step, n_rows;
};

static void row_from(struct row *row, MYSQL_ROW columns)
{
	row->id = strtoull(columns[0], NULL, 10);
	memcpy(row->uid, columns[1], sizeof(row->uid));
	(void)snprintf(row->name, sizeof(row->name), "%s", columns[2]);
}

static MYSQL_RES *rows_of(struct put *put, const char *columns, const char *rest)
{
	char sql[256];

	(void)snprintf(sql, sizeof(sql), "SELECT %s FROM resources WHERE tenant_id = %llu AND type_id = %llu AND live = 1 %s",
		columns, (unsigned long long)put->tenant_id, (unsigned long long)put->type_id, rest);
	bare_query(put->mysql, sql);
	MYSQL_RES *result = mysql_store_result(put->mysql);
	if (result == NULL || mysql_num_rows(result) == 0)
		die("the tenant has nothing of that type");
	return result;
}

static void load_rows(struct put *put)
{
	MYSQL_RES *result = rows_of(put, "id, uid, name", "ORDER BY id");
	MYSQL_ROW columns;

	put->rows = calloc((size_t)mysql_num_rows(result), sizeof(*put->rows));
	if (put->rows == NULL)
		die("no memory");
	while ((columns = mysql_fetch_row(result)) != NULL)
		row_from(&put->rows[put->n_rows++], columns);
	mysql_free_result(result);
}

// A body as it is stored, with the counter of 20 digits that bench/run puts into each.
static void load_body(struct put *put)
{
	MYSQL_RES *result = rows_of(put, "body", "LIMIT 1");

	const char *body = mysql_fetch_row(result)[0];
	put->bytes = strlen(body);
	if (put->bytes >= sizeof(put->body))
		die("its body is too large");
	memcpy(put->body, body, put->bytes + 1);
	mysql_free_result(result);
	for (put->digits = put->body; strspn(put->digits, "0123456789") < DIGITS; put->digits++) {
		if (*put->digits == '\0')
			die("its body has no counter of %d digits", DIGITS);
	}
}

static MYSQL_BIND name_bind(struct put *put)
{
	MYSQL_BIND bind = bare_text(put->row.name);

	bind.buffer_length = (unsigned long)strlen(put->rows[0].name);
	return bind;
}

static void prepare_locks(struct put *put)
{
	MYSQL_BIND tenant = bare_text(put->tenant), space = bare_text(put->space), type = bare_u(&put->type_id);
	MYSQL_BIND spaces = bare_u(&put->space_type_id), name = name_bind(put);
	MYSQL_BIND uid = bare_bytes(put->row.uid, sizeof(put->row.uid));

	if (put->nodes)
		bare_locks_of_uid(put->mysql, uid, type, put->locks);
	else
		bare_locks_of_address(put->mysql, tenant, spaces, space, type, name, put->locks);
	put->n_locks = put->nodes ? 3 : 4;
}

static void prepare_writes(struct put *put)
{
	MYSQL_BIND tenant = bare_u(&put->tenant_id), type = bare_u(&put->type_id), id = bare_u(&put->row.id);
	MYSQL_BIND locked = bare_u(&put->locked), bytes = bare_u(&put->bytes), revision = bare_u(&put->revision);
	MYSQL_BIND etag = bare_bytes(put->etag, ETAG), meta = bare_text(put->meta), now = bare_time(&put->now);
	MYSQL_BIND body = bare_bytes(put->body, put->bytes), request = bare_bytes(put->request_id, sizeof(put->request_id));
	MYSQL_BIND uid = bare_bytes(put->row.uid, sizeof(put->row.uid)), verb = bare_text(put->verb);
	MYSQL_BIND actor = bare_text(put->actor), space = bare_text(put->space), name = name_bind(put);
	MYSQL_BIND fields = bare_text(put->fields), moves = bare_u(&put->moves), selectable = bare_text(put->selectable);
	MYSQL_BIND root = put->nodes ? bare_bytes(put->root, sizeof(put->root)) : bare_null();

	put->writes[0] = BARE_PREPARE(put->mysql, &sql_change_insert_query[SQL_CHANGE_OF_KNOWN], { "request_id", request }, { "now", now },
		{ "actor", actor }, { "verb", verb }, { "tenant_id", tenant }, { "resource_id", id }, { "uid", uid }, { "type_id", type },
		{ "namespace", space }, { "name", name }, { "revision", revision }, { "etag_before", etag }, { "etag_after", etag },
		{ "fields", fields }, { "moves", moves }, { "selectable_before", selectable }, { "bytes_before", bytes }, { "bytes_after", bytes });
	put->writes[1] = BARE_PREPARE(put->mysql, &sql_former_keep_resource_query, { "resource_id", id });
	put->writes[2] = BARE_PREPARE(put->mysql, &sql_resource_update_query, { "locked", locked }, { "bytes", bytes },
		{ "revision", revision }, { "edits", revision }, { "etag", etag }, { "meta", meta }, { "body", body }, { "updated_at", now },
		{ "root", root }, { "generation", revision }, { "id", id });
}

// Takes the resources first, first + step, … of the tenant. nodes: nodes, else config maps.
static inline struct put *put_open(const char *tenant, bool nodes, size_t first, size_t step)
{
	struct put *put = calloc(1, sizeof(*put));

	if (put == NULL)
		die("no memory");
	*put = (struct put){ .mysql = bare_connect(), .nodes = nodes, .at = first, .step = step, .meta = "{}",
		.verb = "updated", .actor = "bench", .revision = (uint64_t)time(NULL) };
	(void)snprintf(put->tenant, sizeof(put->tenant), "%s", tenant);
	(void)snprintf(put->space, sizeof(put->space), "%s", nodes ? "" : "default");
	(void)snprintf(put->fields, sizeof(put->fields), "[\"/%s\"]", nodes ? "extra/n" : "data/text");
	put->tenant_id = bare_tenant(put->mysql, tenant);
	put->type_id = bare_number(put->mysql, nodes ?
		"SELECT id FROM types WHERE group_name = 'baremetal.openstack.org' AND plural = 'nodes'" :
		"SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'");
	for (size_t i = 0; i < 4; i++)
		put->root[i] = (uint8_t)(put->type_id >> (24 - 8 * i));
	put->space_type_id = bare_number(put->mysql, "SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces'");
	load_rows(put);
	put->n_rows -= put->n_rows % step; // so that no two connections meet at one row
	load_body(put);
	prepare_locks(put);
	prepare_writes(put);
	bare_query(put->mysql, "SET autocommit = 0");
	return put;
}

static inline void put_one(struct put *put, size_t at)
{
	char counter[DIGITS + 1];

	put->row = put->rows[at];
	memcpy(put->root + 4, put->row.uid, sizeof(put->row.uid));
	put->now = bare_now();
	put->revision++;
	(void)snprintf(counter, sizeof(counter), "%0*llu", DIGITS, (unsigned long long)put->revision);
	memcpy(put->digits, counter, DIGITS);
	bare_random(put->etag, ETAG);
	memcpy(put->request_id, put->etag, sizeof(put->request_id));
	bare_batch(put->mysql, put->locks, put->n_locks);
	bare_batch(put->mysql, put->writes, COUNT_OF(put->writes));
	bare_query(put->mysql, "COMMIT");
}

// The next of its resources.
static inline void put_next(struct put *put)
{
	put_one(put, put->at % put->n_rows);
	put->at += put->step;
}

#endif
