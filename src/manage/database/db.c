// SPDX-License-Identifier: Apache-2.0
// tenure-manage db init, db status, db upgrade.
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "db/settings.h"
#include "manage/database/database.h"
#include "manage/database/os_traits.h"
#include "manage/database/schema.h"
#include "registry/core/context.h"
#include "registry/registry.h"
#include "registry/upkeep/cluster.h"
#include "registry/type/builtin_types.h"
#include "server/setup/host.h"
#include "sql/schema.h"

enum { KEY_BYTES = 32 };

// The name of a database as GRANT takes it: in backquotes, with those inside doubled. It is a pattern there, also within
// backquotes: what has a meaning in it gets a backslash.
static struct str quote_pattern(struct pool *pool, const char *name)
{
	struct buf out = buf_new(pool, 0);
	buf_addc(&out, '`');
	for (const char *p = name; *p != '\0'; p++) {
		if (*p == '`')
			buf_addc(&out, '`');
		else if (*p == '_' || *p == '%' || *p == '\\')
			buf_addc(&out, '\\');
		buf_addc(&out, *p);
	}
	buf_addc(&out, '`');
	return buf_str(&out);
}

// The text as a string literal.
static struct str quote_text(struct pool *pool, const char *text)
{
	struct buf out = buf_new(pool, 0);
	buf_addc(&out, '\'');
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '\'' || *p == '\\')
			buf_addc(&out, '\\');
		buf_addc(&out, *p);
	}
	buf_addc(&out, '\'');
	return buf_str(&out);
}

static struct str create_database(struct manage *manage)
{
	const struct str name = str_c(db_settings(manage->config)->name);
	return sql_schema_create_database_text(manage->pool, &(struct sql_schema_create_database){ .name = { &name, 1 } });
}

// 'user'@'host' for GRANT, each quoted as a literal.
static struct str account(struct manage *manage, const char *user)
{
	const struct db_settings *c = db_settings(manage->config);
	const char *host = manage_option(manage, "--from");
	if (host == NULL)
		host = c->host[0] == '\0' || strcmp(c->host, "localhost") == 0 ? "localhost" : "%";
	struct str who = quote_text(manage->pool, user), where = quote_text(manage->pool, host);
	return str_printf(manage->pool, "%.*s@%.*s", STR_ARG(who), STR_ARG(where));
}

static void print_grant(struct manage *manage, const char *rights, const char *user)
{
	struct str name = quote_pattern(manage->pool, db_settings(manage->config)->name), who = account(manage, user);
	printf("CREATE USER IF NOT EXISTS %.*s IDENTIFIED BY '********';\n", STR_ARG(who));
	printf("GRANT %s ON %.*s.* TO %.*s;\n", rights, STR_ARG(name), STR_ARG(who));
}

static int print_grants(struct manage *manage)
{
	const struct db_settings *c = db_settings(manage->config);
	struct str create = create_database(manage);
	printf("-- To be run by the database's administrator; put real passwords in place of the stars.\n");
	printf("%.*s", STR_ARG(create));
	printf("-- The application reads and writes rows and can alter no table.\n");
	print_grant(manage, "SELECT, INSERT, UPDATE, DELETE", c->user);
	if (c->admin_user[0] == '\0' || strcmp(c->admin_user, c->user) == 0) {
		printf("-- admin_user is not set: tenure-manage needs a user of its own that may alter tables.\n");
	} else if (strcmp(c->admin_user, "root") == 0) {
		printf("-- tenure-manage makes, upgrades and empties tables as root, who may do that already.\n");
	} else {
		printf("-- tenure-manage makes, upgrades and empties tables.\n");
		print_grant(manage, "ALL PRIVILEGES", c->admin_user);
	}
	return EX_OK;
}

// Creates the database if it does not exist. The connection for that uses information_schema, which every server has and every
// user may open.
static int ensure_database(struct manage *manage)
{
	struct db_settings outside = *db_settings(manage->config);
	outside.name = "information_schema";
	manage->db = manage_db_open(manage, &outside, DB_OPERATOR);
	struct db_rows rows;
	const struct sql_schema_database in = { .name = str_c(db_settings(manage->config)->name) };
	enum db_result result = db_connect(manage->db);
	if (result != DB_OK) {
		int refused = manage_connect_fail(manage, result);
		db_close(&manage->db);
		return refused;
	}
	int code = EX_OK;
	result = sql_schema_database_run(manage->db, manage->pool, &in, &rows);
	if (result != DB_OK) {
		code = manage_db_fail(manage, result, "can't ask for the databases");
	} else if (sql_schema_database_row(&rows, 0)->n == 0) {
		result = db_run_script(manage->db, create_database(manage));
		if (result != DB_OK) {
			manage_db_fail(manage, result, "there is no such database, and it can't be made");
			code = manage_fail(EX_NOPERM, "`tenure-manage db init --print-grants` prints what the database's "
				"administrator has to run");
		}
	}
	db_close(&manage->db);
	return code;
}

static int make_key(struct manage *manage, const char *name)
{
	uint8_t key[KEY_BYTES];
	digest_random(key, sizeof(key));
	const struct sql_setting_insert in = { .name = str_c(name), .value = str_n((const char *)key, sizeof(key)) };
	enum db_result result = sql_setting_insert_run(manage->db, manage->pool, &in, NULL);
	digest_wipe(key, sizeof(key));
	return result == DB_OK || result == DB_DUPLICATE ? EX_OK : manage_db_fail(manage, result, "can't store a key");
}

static int refuse_newer(int code, const struct schema_files *files, uint64_t version)
{
	return manage_fail(code, "the database is newer (version %llu) than this program's files (%llu): install the release that upgraded it",
		(unsigned long long)version, (unsigned long long)files->latest);
}

static int refuse_damaged(void)
{
	return manage_fail(EX_DATAERR, "no version of the schema is recorded, though there are rows in it: restore your dump");
}

// The only server that takes changes, where none is a node of Galera.
static bool find_primary(const struct cluster *cluster, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (node->answers && node->galera)
			return false;
		if (!cluster_is_usable(node))
			continue;
		*at = i;
		n++;
	}
	return n == 1;
}

// On several servers whose writer was never appointed, appoints it: the first node of Galera that can be it, or the primary.
static int appoint_writer(struct manage *manage)
{
	struct cluster_memory memory = { 0 };
	struct str reason, why = STR("");
	size_t via, target;

	if (db_hosts(db_settings(manage->config)) < 2)
		return EX_OK;
	struct cluster *cluster = cluster_open(db_settings(manage->config), DB_OPERATOR);
	cluster_look(cluster);
	const struct cluster_writer *writer = cluster_writer(cluster);
	bool never = writer != NULL && writer->epoch == 0;
	int code = EX_OK;

	// A point of time so late that no patience is needed: there was no writer whose reads could go on.
	(void)(never && cluster_must_switch(cluster, &memory, 1, &via, &target, &reason));
	bool found = never && find_primary(cluster, &via);
	if (found)
		target = via;
	if (found || (never && cluster_must_switch(cluster, &memory, INT64_MAX, &via, &target, &reason))) {
		enum cluster_outcome outcome = cluster_switch(cluster, via, cluster->nodes[target].name, STR("the registry was made"), &why);
		if (outcome == CLUSTER_DONE)
			printf("writer: %.*s\n", STR_ARG(cluster->nodes[target].name));
		else if (outcome == CLUSTER_FAILED)
			code = manage_fail(EX_TEMPFAIL, "no writer was appointed: %.*s; run `tenure-manage cluster switch NODE`", STR_ARG(why));
	}
	cluster_close(&cluster);
	return code;
}

// Adds the rows that the registry needs in the tables that the schema files create: the catalogue of traits, the built-in types
// and the system space; then appoints the writer of a cluster that has none. Schema files of an older release lack columns for
// these: then it adds nothing. With those of a later one it adds the traits alone.
static int fill_in(struct manage *manage, const struct schema_files *files, const struct trait_list *traits)
{
	int code = files->latest >= REGISTRY_SCHEMA_VERSION ? trait_list_sync(manage, traits, false) : EX_OK;
	if (code == EX_OK && files->latest == REGISTRY_SCHEMA_VERSION)
		code = manage_fill_registry(manage);
	return code == EX_OK && files->latest == REGISTRY_SCHEMA_VERSION ? appoint_writer(manage) : code;
}

static int init_schema(struct manage *manage, const struct schema_files *files, const struct trait_list *traits)
{
	enum schema_state state;
	uint64_t version;
	int code = manage_lock_schema(manage, manage->db);
	if (code != EX_OK)
		return code;
	if (!schema_ask(manage, &state, &version))
		return EX_TEMPFAIL;
	if (state == SCHEMA_BEGUN && version <= files->latest) {
		printf("dropping what an earlier db init had begun\n");
		code = schema_drop(manage, files);
		if (code != EX_OK)
			return code;
		if (!schema_ask(manage, &state, &version))
			return EX_TEMPFAIL;
	}
	if (state == SCHEMA_DAMAGED)
		return refuse_damaged();
	if (state == SCHEMA_FOREIGN)
		return manage_fail(EX_DATAERR, "database \"%s\" holds tables of something else", db_settings(manage->config)->name);
	if (state == SCHEMA_PRESENT && version < files->latest)
		return manage_fail(EX_DATAERR, "there is a schema of version %llu; `tenure-manage db upgrade` brings it to %llu",
			(unsigned long long)version, (unsigned long long)files->latest);
	if (version > files->latest)
		return refuse_newer(EX_DATAERR, files, version);
	if (state == SCHEMA_ABSENT)
		code = schema_apply(manage, files, 0, true);
	if (code == EX_OK)
		code = make_key(manage, "etag_key");
	if (code == EX_OK)
		code = make_key(manage, "state_key");
	if (code == EX_OK)
		printf("schema %s: version %llu\n", state == SCHEMA_ABSENT ? "made" : "was there already",
			(unsigned long long)(state == SCHEMA_ABSENT ? files->latest : version));
	return code == EX_OK ? fill_in(manage, files, traits) : code;
}

int command_db_init(struct manage *manage)
{
	struct schema_files files;
	struct trait_list traits;
	if (manage_option(manage, "--print-grants") != NULL)
		return print_grants(manage);
	if (manage_option(manage, "--from") != NULL)
		return manage_fail(EX_USAGE, "--from belongs to --print-grants");
	int code = schema_read(manage, &files);
	if (code == EX_OK)
		code = trait_list_read(manage, NULL, &traits);
	manage->host = host_shared_attach(manage->config);
	if (code == EX_OK)
		code = ensure_database(manage);
	if (code != EX_OK)
		return code;
	manage->db = manage_db_open(manage, db_settings(manage->config), DB_OPERATOR);
	enum db_result result = db_connect(manage->db);
	if (result != DB_OK)
		return manage_connect_fail(manage, result);
	return init_schema(manage, &files, &traits);
}

// False: it is not complete, and a message says what it lacks.
static bool is_whole(enum schema_state state)
{
	if (state == SCHEMA_DAMAGED)
		refuse_damaged();
	else if (state == SCHEMA_BEGUN)
		manage_fail(EXIT_FAILED, "the schema was begun and not finished: `tenure-manage db init` makes it anew");
	else if (state != SCHEMA_PRESENT)
		manage_fail(EXIT_FAILED, "there is no schema yet; `tenure-manage db init` makes it");
	return state == SCHEMA_PRESENT;
}

static void print_counts(struct manage *manage)
{
	struct db_rows rows;
	if (sql_registry_count_run(manage->db, manage->pool, &rows) != DB_OK)
		return;
	const struct sql_registry_count_row *n = sql_registry_count_row(&rows, 0);

	printf("tenants            %llu, and %llu deleted ones\n", (unsigned long long)n->tenants,
		(unsigned long long)n->deleted_tenants);
	printf("resources          %llu, and %llu deleted ones\n", (unsigned long long)n->resources,
		(unsigned long long)n->deleted_resources);
	printf("moves queued       %llu\n", (unsigned long long)n->queued_moves);
}

// Prints the built-in types that `db upgrade` would add, and sets *n to their number. The schema must be of the files' version.
// EX_OK, or an exit code after a message.
static int print_missing_types(struct manage *manage, size_t *n)
{
	const struct str *types;
	enum db_result result = builtin_types_missing(manage->db, manage->pool, &types, n);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't list the built-in types");
	for (size_t i = 0; i < *n; i++)
		printf("to be added        built-in type %.*s\n", STR_ARG(types[i]));
	return EX_OK;
}

// May this program serve the schema, which a later release has upgraded?
static bool is_served(struct manage *manage)
{
	struct db_rows rows;

	return sql_schema_range_run(manage->db, manage->pool, &rows) == DB_OK && sql_schema_range_row(&rows, 0)->oldest <= REGISTRY_SCHEMA_VERSION;
}

int command_db_status(struct manage *manage)
{
	struct schema_files files;
	size_t n_types = 0;
	enum schema_state state;
	uint64_t version;
	if (schema_read(manage, &files) != EX_OK || !schema_ask(manage, &state, &version))
		return EXIT_FAILED;
	if (!is_whole(state))
		return EXIT_FAILED;
	printf("schema             version %llu\n", (unsigned long long)version);
	printf("files              up to version %llu\n", (unsigned long long)files.latest);
	bool newer = version > files.latest, served = newer && is_served(manage);
	printf("this program       works with version %d%s\n", REGISTRY_SCHEMA_VERSION, served ? ", and may serve this later one" : "");
	for (size_t i = 0; i < files.n; i++) {
		if (files.files[i].version > version)
			printf("to be applied      %.*s\n", STR_ARG(files.files[i].name));
	}
	int compared = schema_compare(manage, &files);
	print_counts(manage);
	if (version == files.latest && print_missing_types(manage, &n_types) != EX_OK)
		return EXIT_FAILED;
	if (files.latest != REGISTRY_SCHEMA_VERSION)
		return manage_fail(EXIT_FAILED, "the files in %s are of version %llu, and this program works with version %d: set "
			"sql_dir to the files of this release", db_settings(manage->config)->sql_dir, (unsigned long long)files.latest,
			REGISTRY_SCHEMA_VERSION);
	if (newer && !served)
		return manage_fail(EXIT_FAILED, "the database is newer than this program, which may not serve it: install the release that upgraded it");
	if (compared != EX_OK)
		return manage_fail(EXIT_FAILED, "released files never change: install those of the release again");
	return version < files.latest || n_types > 0 ? EXIT_FOUND : EXIT_CLEAN;
}

// What `db upgrade` would do, and whether it is anything: the exit code of --plan. fill_in() adds types to a schema of this
// program's version alone.
static int print_plan(struct manage *manage, const struct schema_files *files, uint64_t version)
{
	size_t n_types = 0;
	bool takes_types = version == files->latest && version == REGISTRY_SCHEMA_VERSION;

	if (takes_types && print_missing_types(manage, &n_types) != EX_OK)
		return EXIT_FAILED;
	if (n_types > 0)
		return EXIT_FOUND;
	if (schema_plan(manage, files, version) != EX_OK)
		return EXIT_FAILED;
	return version < files->latest ? EXIT_FOUND : EXIT_CLEAN;
}

int command_db_upgrade(struct manage *manage)
{
	struct schema_files files;
	struct trait_list traits;
	enum schema_state state;
	uint64_t version;
	if (schema_read(manage, &files) != EX_OK || trait_list_read(manage, NULL, &traits) != EX_OK
		|| manage_lock_schema(manage, manage->db) != EX_OK || !schema_ask(manage, &state, &version))
		return EXIT_FAILED;
	if (!is_whole(state))
		return EXIT_FAILED;
	if (version > files.latest)
		return refuse_newer(EXIT_FAILED, &files, version);
	if (schema_compare(manage, &files) != EX_OK)
		return manage_fail(EXIT_FAILED, "%s does not have the files that were released or applied: install them again; nothing was done",
			db_settings(manage->config)->sql_dir);
	if (manage_option(manage, "--plan") != NULL)
		return print_plan(manage, &files, version);
	if (schema_apply(manage, &files, version, false) != EX_OK)
		return EXIT_FAILED;
	printf("schema: version %llu\n", (unsigned long long)files.latest);
	return fill_in(manage, &files, &traits) == EX_OK ? EXIT_CLEAN : EXIT_FAILED;
}
