// SPDX-License-Identifier: Apache-2.0
// Where Placement's database is, and whether it is one.
#include "base/base.h"

#include <errno.h>

#include "base/buf.h"
#include "base/pool.h"
#include "db/db.h"
#include "manage/placement/source.h"
#include "sql/placement_db.h"

enum { FILE_LARGEST = 1024 * 1024, READ_TIMEOUT_S = 86400, LOCK_WAIT_S = 50 };

// ---- the file

static const char *read_file(struct pool *pool, const char *path, struct str *content)
{
	struct buf buf = buf_new(pool, 4096);
	char part[4096];
	size_t n = 0;
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return str_printf(pool, "can't open %s: %s", path, strerror(errno)).p;
	while (buf.n <= FILE_LARGEST && (n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&buf, str_n(part, n));
	int error = ferror(file) != 0 ? errno : 0;
	fclose(file);
	if (error != 0)
		return str_printf(pool, "can't read %s: %s", path, strerror(error)).p;
	*content = buf_str(&buf);
	return buf.n > FILE_LARGEST ? str_printf(pool, "%s is no configuration file: it is too large", path).p : NULL;
}

// A value as oslo.config reads it: without one pair of quotes around it, and with "$$" or "\$" for "$".
static struct str read_value(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, text.n + 1);

	text = str_trim(text);
	if (text.n > 1 && (text.p[0] == '"' || text.p[0] == '\'') && text.p[text.n - 1] == text.p[0])
		text = str_part(text, 1, text.n - 1);
	for (size_t i = 0; i < text.n; i++) {
		bool escapes = text.p[i] == '$' || text.p[i] == '\\';

		if (escapes && i + 1 < text.n && text.p[i + 1] == '$')
			i++;
		buf_addc(&out, text.p[i]);
	}
	return buf_str(&out);
}

// The value of connection in [placement_database], behind the first "=" or ":"; the last one counts, as oslo.config has it. p
// NULL: there is none.
static struct str find_connection(struct pool *pool, struct str text)
{
	struct str line, found = STR_NONE;
	bool here = false;

	while (str_split(&text, '\n', &line)) {
		line = str_trim(line);
		size_t equals = str_find(line, '=', 0), colon = str_find(line, ':', 0), end = equals < colon ? equals : colon;

		if (str_starts(line, STR("[")))
			here = str_eq(line, STR("[placement_database]"));
		if (here && end < line.n && str_eq(str_trim(str_part(line, 0, end)), STR("connection")))
			found = read_value(pool, str_part(line, end + 1, line.n));
	}
	return found;
}

// Copies a part that is not encoded. NULL: it holds NUL.
static const char *plain(struct pool *pool, struct str text)
{
	return str_find(text, '\0', 0) == text.n ? str_cstr(pool, text) : NULL;
}

// Percent-decodes as urllib.parse.unquote() of Python does: a "%" that begins no escape is itself. NULL: it holds NUL.
static const char *decode(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, text.n + 1);

	for (size_t i = 0; i < text.n; i++) {
		int high = text.p[i] == '%' && i + 2 < text.n ? str_hex_digit(text.p[i + 1]) : -1;
		int low = high >= 0 ? str_hex_digit(text.p[i + 2]) : -1;

		if (low >= 0) {
			buf_addc(&out, (char)(unsigned char)(high << 4 | low));
			i += 2;
		} else {
			buf_addc(&out, text.p[i]);
		}
	}
	return plain(pool, buf_str(&out));
}

// The value of an option behind "?", in which a "+" stands for a blank, as parse_qsl() reads it. NULL: it holds NUL.
static const char *decode_value(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, text.n + 1);

	for (size_t i = 0; i < text.n; i++)
		buf_addc(&out, text.p[i] == '+' ? ' ' : text.p[i]);
	return decode(pool, buf_str(&out));
}

static bool take_options(struct pool *pool, struct str options, struct db_settings *to)
{
	struct str option;

	while (str_split(&options, '&', &option)) {
		size_t equals = str_find(option, '=', 0);
		struct str name = str_part(option, 0, equals);
		const char *value = decode_value(pool, str_part(option, equals + 1, option.n));

		if (value == NULL)
			return false;
		if (str_eq(name, STR("unix_socket"))) {
			to->socket = value;
			to->host = "";
		}
		if (str_eq(name, STR("ssl_ca"))) {
			to->tls = "verify";
			to->tls_ca = value;
		}
	}
	return true;
}

// The length of USER[:PASSWORD], which the first "@" ends; 0: there is none. A password may hold "/", a user may not, as
// SQLAlchemy has it.
static size_t owner_length(struct str text)
{
	size_t at = str_find(text, '@', 0), colon = str_find(text, ':', 0), slash = str_find(text, '/', 0);

	return at < text.n && (at < slash || colon < slash) ? at : 0;
}

// [USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?OPTIONS]
static bool take_address(struct pool *pool, struct str text, struct db_settings *to)
{
	struct str owner = str_part(text, 0, owner_length(text));
	size_t host = owner.n > 0 ? owner.n + 1 : str_starts(text, STR("@")) ? 1 : 0;
	size_t slash = str_find(text, '/', host), question = str_find(text, '?', slash), colon = str_find(owner, ':', 0);

	if (slash == text.n)
		return false;
	to->user = decode(pool, str_part(owner, 0, colon));
	to->password = decode(pool, str_part(owner, colon + 1, owner.n));
	bool no_port = slash > host && text.p[slash - 1] == ':'; // "HOST:", which SQLAlchemy takes for HOST
	to->host = plain(pool, str_part(text, host, slash - no_port));
	to->name = plain(pool, str_part(text, slash + 1, question));
	if (to->user == NULL || to->password == NULL || to->host == NULL || to->name == NULL ||
		to->name[0] == '\0')
		return false;
	// Placement's driver connects to these by TCP, ours would take the unix socket and ignore the port.
	struct str name = str_part(str_c(to->host), 0, str_find(str_c(to->host), ':', 0));
	if (name.n == 0 || str_eq(name, STR("localhost")))
		to->host = str_printf(pool, "127.0.0.1%s", to->host + name.n).p;
	return db_is_host(str_c(to->host)) && take_options(pool, str_part(text, question + 1, text.n), to);
}

const char *source_read_config(struct pool *pool, const char *path, const struct db_settings *ours, struct db_settings *to)
{
	struct str text = STR_NONE;
	const char *why = read_file(pool, path, &text);

	*to = *ours;
	to->socket = to->admin_user = to->admin_password = "";
	to->tls = "off";
	to->tls_ca = to->tls_cert = to->tls_key = "";
	to->port = 3306;
	to->read_timeout = READ_TIMEOUT_S;
	to->lock_wait = LOCK_WAIT_S;
	if (why != NULL)
		return why;
	struct str connection = find_connection(pool, text);
	if (connection.p == NULL)
		return str_printf(pool, "%s has no option \"connection\" in a section [placement_database]", path).p;
	size_t colon = str_find(connection, ':', 0);
	struct str scheme = str_part(connection, 0, colon);
	bool mysql = str_eq(scheme, STR("mysql")) || str_starts(scheme, STR("mysql+"));
	if (!mysql || !str_starts(str_part(connection, colon, connection.n), STR("://")))
		return str_printf(pool, "%s: the connection is to no MySQL or MariaDB server: got \"%.*s:…\", expected "
			"mysql+pymysql://USER:PASSWORD@HOST/DATABASE", path, STR_HEAD_ARG(scheme, 32)).p;
	if (!take_address(pool, str_part(connection, colon + 3, connection.n), to))
		return str_printf(pool, "%s: the connection is not of the form mysql+pymysql://USER:PASSWORD@HOST[:PORT]/DATABASE",
			path).p;
	return NULL;
}

// ---- is it a database of Placement?

// What the statements of placement_db.sql use. types: only from 6.0 on.
static const struct {
	const char *table, *columns;
	bool types;
} needed[] = {
	{ "alembic_version", "version_num", false },
	{ "allocations", "id,resource_provider_id,consumer_id,resource_class_id,used,created_at,updated_at", false },
	{ "consumers", "id,uuid,project_id,user_id,generation,created_at,updated_at", false },
	{ "consumers", "consumer_type_id", true },
	{ "consumer_types", "id,name,created_at", true },
	{ "inventories",
		"id,resource_provider_id,resource_class_id,total,reserved,min_unit,max_unit,step_size,allocation_ratio,created_at,"
		"updated_at", false },
	{ "placement_aggregates", "id,uuid,created_at", false },
	{ "projects", "id,external_id,created_at", false },
	{ "resource_classes", "id,name,created_at", false },
	{ "resource_provider_aggregates", "resource_provider_id,aggregate_id,created_at", false },
	{ "resource_provider_traits", "resource_provider_id,trait_id,created_at", false },
	{ "resource_providers", "id,uuid,name,generation,root_provider_id,parent_provider_id,created_at,updated_at", false },
	{ "traits", "id,name,created_at", false },
	{ "users", "id,external_id,created_at", false },
};
#define LAST_WITHOUT_TYPES "b5c396305c25" // the last step of the schema of 3.0 to 5.0
#define LAST_WITH_TYPES "422ece571366"    // of 6.0 to 8.0
#define WITHOUT_INDEXES "a082b8bb98d0"    // of later ones: the same without some indexes that were not needed

static bool has_column(const struct db_rows *rows, const char *table, struct str column)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_placement_columns_row *row = sql_placement_columns_row(rows, i);

		if (str_eq_c(row->table_name, table) && str_eq_nocase(row->column_name, column))
			return true;
	}
	return false;
}

static bool check_columns(struct transfer *transfer, const struct db_rows *rows)
{
	for (size_t i = 0; i < COUNT_OF(needed); i++) {
		struct str columns = str_c(needed[i].columns), column;

		while ((!needed[i].types || transfer->has_types) && str_split(&columns, ',', &column)) {
			if (!has_column(rows, needed[i].table, column))
				return transfer_fail(transfer, EX_DATAERR,
					"this is no database of Placement from 3.0 on: it has no column %s.%.*s", needed[i].table,
					STR_ARG(column));
		}
	}
	return true;
}

static bool fail_foreign(struct transfer *transfer, struct db *foreign, enum db_result result, const char *what)
{
	const char *why = db_error(foreign);

	return transfer_fail(transfer, result == DB_LOST && !db_is_refused(foreign) ? EX_TEMPFAIL : EX_CONFIG, "%s: %s", what,
		why != NULL && *why != '\0' ? why : "the database is away or busy");
}

bool source_check(struct transfer *transfer, struct db *foreign)
{
	struct pool *pool = transfer->pool;
	struct db_rows rows, version = { .n = 0 };
	enum db_result result = db_connect(foreign);

	transfer->foreign = foreign;
	if (result != DB_OK)
		return fail_foreign(transfer, foreign, result, "can't connect to Placement's database");
	result = sql_placement_columns_run(foreign, pool, &rows);
	if (result == DB_OK && has_column(&rows, "alembic_version", STR("version_num")))
		result = sql_placement_version_run(foreign, pool, &version);
	if (result != DB_OK)
		return fail_foreign(transfer, foreign, result, "can't read Placement's database");
	if (version.n != 1)
		return transfer_fail(transfer, EX_DATAERR,
			"this is no database of Placement: it has no table alembic_version with one row");
	struct str number = sql_placement_version_row(&version, 0)->version_num;
	transfer->has_types = str_eq(number, STR(LAST_WITH_TYPES)) || str_eq(number, STR(WITHOUT_INDEXES));
	if (!transfer->has_types && !str_eq(number, STR(LAST_WITHOUT_TYPES)))
		return transfer_fail(transfer, EX_DATAERR,
			"Placement's schema is of version %.*s; expected " LAST_WITHOUT_TYPES " (3.0 to 5.0), " LAST_WITH_TYPES
			" (6.0 to 8.0) or " WITHOUT_INDEXES " (later ones): `placement-manage db sync` of one of these brings an older one "
			"there; a newer one is not known",
			STR_HEAD_ARG(number, 32));
	return check_columns(transfer, &rows);
}
