// SPDX-License-Identifier: Apache-2.0
// Tables: their columns, and the rows that objects give; and the metadata of objects alone.
#include "base/base.h"

#include "api/documents.h"
#include "api/spaces/answer/table.h"
#include "base/pool.h"
#include "registry/type/type.h"
#include "repr/schema/json_schema.h"
#include "types/common/parts.h"

struct table_columns {
	const struct type_column *list;
	size_t n;
};

// ---- cells of custom columns

static void add_string_cell(struct type_row *row, const struct doc *value)
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
static void add_integer_cell(struct type_row *row, const struct doc *value)
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

static void cell_of_path(struct type_row *row, const struct type_column *column)
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
		json_add_string(row->out, column_age_since(row, value));
	else if (str_eq(column->type, STR("integer")) && kind == DOC_NUMBER)
		add_integer_cell(row, value);
	else if ((str_eq(column->type, STR("number")) && kind == DOC_NUMBER) ||
		(str_eq(column->type, STR("boolean")) && kind == DOC_BOOL))
		doc_write_json(value, row->out);
	else
		BUF_LIT(row->out, "null"); // the value has another type than the column
}

// ---- columns

static const struct type_column name_column = {
	.name = STR_INIT("Name"), .type = STR_INIT("string"), .format = STR_INIT("name"), .cell = cell_of_name,
	.description = STR_INIT("Name must be unique within a namespace, and can't be changed."),
};
static const struct type_column age_column = {
	.name = STR_INIT("Age"), .type = STR_INIT("string"), .cell = cell_of_age,
	.description = STR_INIT("When the object was created."),
};

// A column whose path is invalid has no values; whoever writes such a definition is warned (schema/fields.c).
static struct type_column custom_column(struct pool *pool, const struct definition_column *given)
{
	struct type_column column = {
		.name = given->name, .type = given->type, .format = given->format, .description = given->description,
		.priority = given->priority, .cell = cell_of_path,
	};
	struct str error;

	if (!jsonpath_parse(pool, given->path, &column.path, &error))
		column.path = NULL;
	return column;
}

static void read_builtin_paths(struct pool *pool, struct type_column *columns, size_t n)
{
	struct str error;

	for (size_t i = 0; i < n; i++) {
		if (columns[i].path_text.n > 0 && !jsonpath_parse(pool, columns[i].path_text, &columns[i].path, &error))
			columns[i].path = NULL;
	}
}

const struct table_columns *table_columns_for(struct pool *pool, const struct definition *definition,
	const struct definition_details *details)
{
	struct table_columns *table = POOL_NEW(pool, struct table_columns);
	const struct type_column *builtin = definition->builtin ? type_parts(definition->type)->columns : NULL;
	size_t n_builtin = 0, n_custom = details->n_columns;
	struct type_column *columns;

	while (builtin != NULL && builtin[n_builtin].name.n > 0)
		n_builtin++;
	columns = POOL_ARRAY(pool, struct type_column, 2 + n_builtin + n_custom);
	table->list = columns;
	columns[table->n++] = name_column;
	if (n_builtin > 0)
		memcpy(&columns[table->n], builtin, n_builtin * sizeof(*columns));
	read_builtin_paths(pool, &columns[table->n], n_builtin);
	table->n += n_builtin;
	for (size_t i = 0; builtin == NULL && i < n_custom; i++)
		columns[table->n++] = custom_column(pool, &details->columns[i]);
	if (table->n == 1)
		columns[table->n++] = age_column;
	return table;
}

void table_add_columns(const struct table_columns *columns, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < columns->n; i++) {
		const struct type_column *column = &columns->list[i];
		BUF_LIT(out, "{");
		document_add_member(out, "name", column->name);
		document_add_member(out, "type", column->type);
		document_add_member(out, "format", column->format);
		document_add_member(out, "description", column->description);
		BUF_LIT(out, "\"priority\":");
		buf_add_i64(out, column->priority);
		buf_add(out, i + 1 < columns->n ? STR("},") : STR("}"));
	}
	buf_addc(out, ']');
}

// ---- rows

void table_add_metadata(const struct doc *object, struct str version, struct buf *out)
{
	const struct doc *metadata;

	BUF_LIT(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":");
	json_add_string(out, version);
	BUF_LIT(out, ",\"metadata\":");
	if (doc_get(object, STR("metadata"), &metadata) && metadata != NULL)
		doc_write_json(metadata, out);
	else
		BUF_LIT(out, "{}");
	buf_addc(out, '}');
}

void table_add_row(struct pool *pool, const struct table_columns *columns, const struct doc *object,
	enum table_object with, int64_t now_us, struct buf *out)
{
	struct type_row row = { .pool = pool, .object = object, .now_us = now_us, .looks = TABLE_LOOKS, .out = out };

	assert(columns != NULL);
	BUF_LIT(out, "{\"cells\":[");
	for (size_t i = 0; i < columns->n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		columns->list[i].cell(&row, &columns->list[i]);
	}
	buf_addc(out, ']');
	if (with != TABLE_NONE) {
		BUF_LIT(out, ",\"object\":");
		if (with == TABLE_OBJECT)
			doc_write_json(object, out);
		else
			table_add_metadata(object, STR("meta.k8s.io/v1"), out);
	}
	buf_addc(out, '}');
}
