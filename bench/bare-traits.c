// SPDX-License-Identifier: Apache-2.0
// bare-traits SECONDS CONNECTIONS [rowless]: what a PUT of ten other traits of a provider sends to the database, as
// registry/resource/traits.c and registry/placement/provider.c do it: locks in one round trip, writes in another, COMMIT in a
// third. rowless: without the twenty rows of resource_traits, so only what every change of a provider has to write. Each
// connection takes providers of its own, of those that have the traits CUSTOM_BENCH_P20 to _P29. Prints commits per second.
#include "base/base.h"

#include "bare-write.h"
#include "sql/changes.h"
#include "sql/former.h"
#include "sql/providers.h"
#include "sql/traits.h"

enum { TRAITS = 10, FEW = 16, NAME = 32 };

struct row {
	uint64_t id, bytes;
	uint8_t uid[16];
	char name[37];
	unsigned has; // which ten it has: those from P00, P10 or P20 on
};

struct traits {
	MYSQL *mysql;
	uint64_t tenant_id, type_id, revision, moves;
	struct row row, *rows;
	size_t n_rows, at, step;
	char added[FEW][NAME], removed[FEW][NAME], json[TRAITS * NAME];
	unsigned long json_n;
	uint8_t request_id[16], etag[ETAG];
	MYSQL_TIME now;
	MYSQL_STMT *locks[4], *writes[6];
	size_t n_writes;
};

static void load_rows(struct traits *traits)
{
	MYSQL_ROW columns;

	bare_query(traits->mysql, "SELECT r.id, r.uid, r.name, r.tenant_id, r.type_id, r.bytes FROM resources r JOIN resource_traits x "
		"ON x.resource_id = r.id WHERE x.trait_id = (SELECT id FROM traits WHERE name = 'CUSTOM_BENCH_P20') ORDER BY r.id");
	MYSQL_RES *result = mysql_store_result(traits->mysql);
	if (result == NULL || mysql_num_rows(result) == 0)
		die("there are no such providers");
	traits->rows = calloc((size_t)mysql_num_rows(result), sizeof(*traits->rows));
	if (traits->rows == NULL)
		die("no memory");
	while ((columns = mysql_fetch_row(result)) != NULL) {
		struct row *row = &traits->rows[traits->n_rows++];
		row->id = strtoull(columns[0], NULL, 10);
		memcpy(row->uid, columns[1], sizeof(row->uid));
		(void)snprintf(row->name, sizeof(row->name), "%s", columns[2]);
		row->has = 20;
		traits->tenant_id = strtoull(columns[3], NULL, 10);
		traits->type_id = strtoull(columns[4], NULL, 10);
		row->bytes = strtoull(columns[5], NULL, 10);
	}
	mysql_free_result(result);
	traits->n_rows -= traits->n_rows % traits->step; // so that no two connections meet at one provider
}

static MYSQL_STMT *prepare_names(struct traits *traits, const struct db_query *query, char names[FEW][NAME])
{
	struct bare_value values[1 + FEW] = { { "resource_id", bare_u(&traits->row.id) } };
	char parameters[FEW][NAME];

	for (size_t i = 0; i < FEW; i++) {
		(void)snprintf(names[i], NAME, "CUSTOM_BENCH_P00");
		(void)snprintf(parameters[i], NAME, "names[%zu].name", i);
		values[1 + i] = (struct bare_value){ parameters[i], bare_text(names[i]) };
	}
	return bare_prepare_values(traits->mysql, query, values, COUNT_OF(values));
}

static void prepare(struct traits *traits, bool rowless)
{
	static char empty[] = "", actor[] = "bench", verb[] = "updated", field[] = "[\"/metadata/traits\"]";
	struct row *row = &traits->row;
	MYSQL *mysql = traits->mysql;
	MYSQL_BIND uid = bare_bytes(row->uid, sizeof(row->uid)), type = bare_u(&traits->type_id), id = bare_u(&row->id);
	MYSQL_BIND revision = bare_u(&traits->revision), etag = bare_bytes(traits->etag, ETAG), now = bare_time(&traits->now);
	MYSQL_BIND request = bare_bytes(traits->request_id, sizeof(traits->request_id)), tenant = bare_u(&traits->tenant_id);
	MYSQL_BIND name = bare_bytes(row->name, sizeof(row->name) - 1), json = bare_bytes(traits->json, 0), bytes = bare_u(&row->bytes);

	json.length = &traits->json_n;
	bare_locks_of_uid(mysql, uid, type, traits->locks);
	traits->locks[3] = BARE_PREPARE(mysql, &sql_provider_generation_by_uid_query, { "uid", uid }, { "type_id", type });
	traits->writes[traits->n_writes++] = BARE_PREPARE(mysql, &sql_change_insert_query[SQL_CHANGE_OF_KNOWN], { "request_id", request },
		{ "now", now }, { "actor", bare_text(actor) }, { "verb", bare_text(verb) }, { "tenant_id", tenant }, { "resource_id", id },
		{ "uid", uid }, { "type_id", type }, { "namespace", bare_text(empty) }, { "name", name }, { "revision", revision },
		{ "etag_before", etag }, { "etag_after", etag }, { "fields", bare_text(field) }, { "moves", bare_u(&traits->moves) },
		{ "selectable_before", bare_text(empty) }, { "bytes_before", bytes }, { "bytes_after", bytes });
	traits->writes[traits->n_writes++] = BARE_PREPARE(mysql, &sql_former_keep_resource_query, { "resource_id", id });
	traits->writes[traits->n_writes++] = BARE_PREPARE(mysql, &sql_trait_update_resource_query, { "traits", json },
		{ "revision", revision }, { "edits", revision }, { "etag", etag }, { "updated_at", now }, { "id", id });
	if (!rowless) {
		traits->writes[traits->n_writes++] = prepare_names(traits, &sql_trait_attach_few_query, traits->added);
		traits->writes[traits->n_writes++] = prepare_names(traits, &sql_trait_detach_few_query, traits->removed);
	}
	traits->writes[traits->n_writes++] = BARE_PREPARE(mysql, &sql_provider_raise_query, { "resource_id", id });
}

// The ten names from that number on; the last again where there is room for more.
static void name_them(char names[FEW][NAME], unsigned from)
{
	for (unsigned i = 0; i < FEW; i++)
		(void)snprintf(names[i], NAME, "CUSTOM_BENCH_P%02u", from + (i < TRAITS ? i : TRAITS - 1));
}

static void traits_next(void *arg)
{
	struct traits *traits = arg;
	struct row *row = &traits->rows[traits->at % traits->n_rows];
	unsigned next = row->has == 0 ? 10 : 0;

	traits->row = *row;
	traits->now = bare_now();
	traits->revision++;
	name_them(traits->added, next);
	name_them(traits->removed, row->has);
	traits->json_n = 0;
	for (size_t i = 0; i < TRAITS; i++)
		traits->json_n += (unsigned long)snprintf(traits->json + traits->json_n, sizeof(traits->json) - traits->json_n,
			"%s\"%s\"%s", i == 0 ? "[" : ",", traits->added[i], i == TRAITS - 1 ? "]" : "");
	bare_random(traits->etag, ETAG);
	memcpy(traits->request_id, traits->etag, sizeof(traits->request_id));
	bare_batch(traits->mysql, traits->locks, COUNT_OF(traits->locks));
	bare_batch(traits->mysql, traits->writes, traits->n_writes);
	bare_query(traits->mysql, "COMMIT");
	row->has = next;
	traits->at += traits->step;
}

static struct traits *traits_open(unsigned first, unsigned step, bool rowless)
{
	struct traits *traits = calloc(1, sizeof(*traits));

	if (traits == NULL)
		die("no memory");
	*traits = (struct traits){ .mysql = bare_connect(), .at = first, .step = step, .revision = (uint64_t)time(NULL) };
	load_rows(traits);
	prepare(traits, rowless);
	bare_query(traits->mysql, "SET autocommit = 0");
	return traits;
}

int main(int argc, char **argv)
{
	void *clients[BARE_MAX_CLIENTS];

	if (argc != 3 && !(argc == 4 && strcmp(argv[3], "rowless") == 0))
		die("usage: bare-traits SECONDS CONNECTIONS [rowless]");
	unsigned seconds = bench_number(argv[1], 3600), n = bench_number(argv[2], BARE_MAX_CLIENTS);
	for (unsigned i = 0; i < n; i++)
		clients[i] = traits_open(i, n, argc == 4);
	printf("%.1f\n", bare_race(clients, n, seconds, traits_next));
	return 0;
}
