// SPDX-License-Identifier: Apache-2.0
// Tables: their columns, and the rows that objects give.
#include "base/base.h"

#include "api/documents.h"
#include "api/spaces/answer/table_internal.h"
#include "base/clock.h"
#include "base/pool.h"

// ---- ages

struct str table_age(struct pool *pool, int64_t seconds)
{
	long long minutes = seconds / 60, hours = seconds / 3600, days = seconds / 86400;

	// Clocks of client and server may differ by a second.
	if (seconds < -1)
		return STR("<invalid>");
	if (seconds < 120)
		return str_printf(pool, "%llds", seconds < 0 ? 0 : (long long)seconds);
	if (minutes < 10)
		return seconds % 60 == 0 ? str_printf(pool, "%lldm", minutes)
			: str_printf(pool, "%lldm%llds", minutes, (long long)(seconds % 60));
	if (minutes < 180)
		return str_printf(pool, "%lldm", minutes);
	if (hours < 8)
		return minutes % 60 == 0 ? str_printf(pool, "%lldh", hours)
			: str_printf(pool, "%lldh%lldm", hours, minutes % 60);
	if (hours < 48)
		return str_printf(pool, "%lldh", hours);
	if (days < 8)
		return hours % 24 == 0 ? str_printf(pool, "%lldd", days) : str_printf(pool, "%lldd%lldh", days, hours % 24);
	if (days < 365 * 2)
		return str_printf(pool, "%lldd", days);
	if (days < 365 * 8)
		return days % 365 == 0 ? str_printf(pool, "%lldy", days / 365)
			: str_printf(pool, "%lldy%lldd", days / 365, days % 365);
	return str_printf(pool, "%lldy", days / 365);
}

static bool read_number(struct str text, size_t from, size_t n, int *value)
{
	uint64_t digits;

	if (from + n > text.n || !str_to_u64(str_part(text, from, from + n), &digits))
		return false;
	*value = (int)digits;
	return true;
}

// Parses "2026-11-21T05:24:00Z", also with a fraction or another time zone, into seconds since 1970.
static bool parse_time(struct str text, int64_t *seconds)
{
	struct tm tm = { .tm_isdst = 0 };
	int zone_hours = 0, zone_minutes = 0;
	size_t at = 19;

	if (!read_number(text, 0, 4, &tm.tm_year) || !read_number(text, 5, 2, &tm.tm_mon) ||
		!read_number(text, 8, 2, &tm.tm_mday) || !read_number(text, 11, 2, &tm.tm_hour) ||
		!read_number(text, 14, 2, &tm.tm_min) || !read_number(text, 17, 2, &tm.tm_sec))
		return false;
	if (text.p[4] != '-' || text.p[7] != '-' || text.p[10] != 'T' || text.p[13] != ':' || text.p[16] != ':')
		return false;
	if (at < text.n && text.p[at] == '.') {
		for (at++; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++)
			;
	}
	if (at == text.n)
		return false;
	bool utc = text.p[at] == 'Z' && at + 1 == text.n;
	if (!utc && (text.n != at + 6 || text.p[at + 3] != ':' || !read_number(text, at + 1, 2, &zone_hours) ||
		!read_number(text, at + 4, 2, &zone_minutes)))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	int64_t zone = (zone_hours * 60 + zone_minutes) * 60;
	*seconds = (int64_t)timegm(&tm) - (utc ? 0 : text.p[at] == '-' ? -zone : zone);
	return true;
}

struct str age_since(const struct row *row, const struct doc *time)
{
	int64_t then;

	if (doc_kind(time) != DOC_STRING)
		return STR("<unknown>");
	if (!parse_time(doc_string(time), &then))
		return STR("<invalid>");
	return table_age(row->pool, row->now_us / 1000000 - then);
}

// ---- cells of custom columns

static void add_string_cell(struct row *row, const struct doc *value)
{
	struct buf text;

	if (doc_kind(value) == DOC_STRING) {
		json_add_string(row->out, doc_string(value));
		return;
	}
	text = buf_new(row->pool, 64);
	doc_write_json(value, &text);
	json_add_string(row->out, buf_str(&text));
}

// Appends a number as an integer: truncated, and limited to 64 bits.
static void add_integer_cell(struct row *row, const struct doc *value)
{
	int64_t i;
	uint64_t u;
	double d;

	if (doc_i64(value, &i))
		buf_add_i64(row->out, i);
	else if (doc_u64(value, &u))
		buf_add_u64(row->out, u);
	else if (doc_double(value, &d) && d > -9e18 && d < 9e18)
		buf_add_i64(row->out, (int64_t)d);
	else
		BUF_LIT(row->out, "null");
}

void cell_of_path(struct row *row, const struct column *column)
{
	size_t n = 0;
	const struct doc *const *values = column->path == NULL ? NULL
		: jsonpath_find(row->pool, column->path, row->object, &row->looks, &n);
	const struct doc *value = n > 0 ? values[0] : NULL; // of several values the first
	enum doc_kind kind = doc_kind(value);

	if (kind == DOC_NULL)
		BUF_LIT(row->out, "null");
	else if (str_eq(column->type, STR("string")))
		add_string_cell(row, value);
	else if (str_eq(column->type, STR("date")) && kind == DOC_STRING)
		json_add_string(row->out, age_since(row, value));
	else if (str_eq(column->type, STR("integer")) && kind == DOC_NUMBER)
		add_integer_cell(row, value);
	else if ((str_eq(column->type, STR("number")) && kind == DOC_NUMBER) ||
		(str_eq(column->type, STR("boolean")) && kind == DOC_BOOL))
		doc_write_json(value, row->out);
	else
		BUF_LIT(row->out, "null"); // the value has another type than the column
}

// ---- columns

static const struct column name_column = {
	.name = STR_INIT("Name"), .type = STR_INIT("string"), .format = STR_INIT("name"), .cell = cell_of_name,
	.description = STR_INIT("Name must be unique within a namespace, and can't be changed."),
};
static const struct column age_column = {
	.name = STR_INIT("Age"), .type = STR_INIT("string"), .cell = cell_of_age,
	.description = STR_INIT("When the object was created."),
};

// A column whose path is invalid has no values; such paths are reported when a definition is written.
static struct column custom_column(struct pool *pool, const struct definition_column *given)
{
	struct column column = {
		.name = given->name, .type = given->type, .format = given->format, .description = given->description,
		.priority = given->priority, .cell = cell_of_path,
	};
	struct str error;

	if (!jsonpath_parse(pool, given->path, &column.path, &error))
		column.path = NULL;
	return column;
}

static void read_builtin_paths(struct pool *pool, struct column *columns, size_t n)
{
	struct str error;

	for (size_t i = 0; i < n; i++) {
		if (columns[i].path_text.n > 0 && !jsonpath_parse(pool, columns[i].path_text, &columns[i].path, &error))
			columns[i].path = NULL;
	}
}

const struct table_columns *table_columns_of(struct pool *pool, const struct definition *definition,
	const struct definition_version *version)
{
	struct table_columns *table = POOL_NEW(pool, struct table_columns);
	const struct column *builtin = definition->builtin ? builtin_columns(definition->type->group, definition->kind) : NULL;
	size_t n_builtin = 0, n_custom = version->columns != NULL ? version->n_columns : 0;
	struct column *columns;

	while (builtin != NULL && builtin[n_builtin].name.n > 0)
		n_builtin++;
	columns = POOL_ARRAY(pool, struct column, 2 + n_builtin + n_custom);
	table->list = columns;
	columns[table->n++] = name_column;
	if (n_builtin > 0)
		memcpy(&columns[table->n], builtin, n_builtin * sizeof(*columns));
	read_builtin_paths(pool, &columns[table->n], n_builtin);
	table->n += n_builtin;
	for (size_t i = 0; builtin == NULL && i < n_custom; i++)
		columns[table->n++] = custom_column(pool, &version->columns[i]);
	if (table->n == 1)
		columns[table->n++] = age_column;
	return table;
}

void table_add_columns(const struct table_columns *columns, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->list[i];
		BUF_LIT(out, "{");
		json_add_member(out, "name", column->name);
		json_add_member(out, "type", column->type);
		json_add_member(out, "format", column->format);
		json_add_member(out, "description", column->description);
		BUF_LIT(out, "\"priority\":");
		buf_add_i64(out, column->priority);
		buf_add(out, i + 1 < columns->n ? STR("},") : STR("}"));
	}
	buf_addc(out, ']');
}

// ---- rows

static void add_object(const struct doc *object, enum table_object with, struct buf *out)
{
	const struct doc *metadata;

	if (with == TABLE_OBJECT) {
		doc_write_json(object, out);
		return;
	}
	BUF_LIT(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":");
	if (doc_get(object, STR("metadata"), &metadata) && metadata != NULL)
		doc_write_json(metadata, out);
	else
		BUF_LIT(out, "{}");
	buf_addc(out, '}');
}

void table_add_row(struct pool *pool, const struct table_columns *columns, const struct doc *object,
	enum table_object with, int64_t now_us, struct buf *out)
{
	struct row row = { .pool = pool, .object = object, .now_us = now_us, .looks = TABLE_LOOKS, .out = out };

	BUF_LIT(out, "{\"cells\":[");
	for (size_t i = 0; i < columns->n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		columns->list[i].cell(&row, &columns->list[i]);
	}
	buf_addc(out, ']');
	if (with != TABLE_NONE) {
		BUF_LIT(out, ",\"object\":");
		add_object(object, with, out);
	}
	buf_addc(out, '}');
}
