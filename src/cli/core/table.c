// SPDX-License-Identifier: Apache-2.0
// Output: tables, JSON, CSV (RFC 4180, but lines end with LF alone).
#include "base/base.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/visible.h"
#include "cli/core/cli.h"
#include "cli/core/offered_types.h"
#include "cli/core/table.h"
#include "cli/core/text.h"
#include "types/types.h"

// CELL_LOOKS, CELL_DEPTH: how many values of a document a type's column may look at, and how deep its own value may be.
enum { MAX_COLUMNS = 32, CELL_LOOKS = 10000, CELL_DEPTH = 4 };

struct row {
	const struct doc *document;
	struct row *next;
};

struct table {
	struct cli *cli;
	struct column columns[MAX_COLUMNS];
	const struct column *known;
	size_t n_known;
	bool is_other[MAX_COLUMNS]; // not known: a path that --columns gives
	const struct type_column *of_type[MAX_COLUMNS]; // computes the value of that column; NULL: the column's path leads to it
	size_t n_columns;
	struct row *first, **last;
	size_t n_rows;
	bool chosen; // by --columns
	bool begun;  // table_print_more() has printed the titles
	bool is_for_spreadsheets;
};

static const struct column *find_known(const struct table *table, struct str name)
{
	for (size_t i = 0; i < table->n_known; i++) {
		if (str_eq_c(name, table->known[i].name))
			return &table->known[i];
	}
	return NULL;
}

static bool choose(struct table *table, struct str wanted)
{
	struct str word;
	struct pool *pool = table->cli->pool;

	while (str_split(&wanted, ',', &word)) {
		word = str_trim(word);
		if (word.n == 0 || table->n_columns == MAX_COLUMNS)
			return false;
		const struct column *known = find_known(table, word);
		const struct column path = { str_cstr(pool, word), str_cstr(pool, word) };
		table->is_other[table->n_columns] = known == NULL;
		table->columns[table->n_columns++] = known != NULL ? *known : path;
	}
	return true;
}

struct table *table_new(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown)
{
	struct table *table = POOL_NEW(cli->pool, struct table);
	const char *wanted = cli->options[OPT_COLUMNS];

	table->cli = cli;
	table->last = &table->first;
	table->chosen = wanted != NULL;
	table->known = known;
	table->n_known = n_known;
	if (wanted != NULL && !choose(table, str_c(wanted))) {
		cli_fail(EX_USAGE, "--columns takes up to %d names with commas between", MAX_COLUMNS);
		return NULL;
	}
	for (size_t i = 0; wanted == NULL && i < n_shown; i++)
		table->columns[table->n_columns++] = known[i];
	return table;
}

void table_for_spreadsheets(struct table *table)
{
	table->is_for_spreadsheets = true;
}

bool table_wanted(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown, struct table **table)
{
	*table = cli->options[OPT_COLUMNS] != NULL ? table_new(cli, known, n_known, n_shown) : NULL;
	return cli->options[OPT_COLUMNS] == NULL || *table != NULL;
}

// The heading in the form of the others, which are printed in capitals: nominated_node for "Nominated Node".
static const char *heading(struct pool *pool, struct str name)
{
	char *text = str_cstr(pool, name);

	for (char *p = text; *p != '\0'; p++)
		*p = *p == ' ' ? '_' : ascii_to_lower(*p);
	return text;
}

static bool has_column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->columns[i].name, name) == 0)
			return true;
	}
	return false;
}

void table_add_type(struct table *table, const char *group, const char *plural)
{
	const struct type_column *column = type_parts_by_plural(str_c(group), str_c(plural))->columns;
	struct pool *pool = table->cli->pool;

	for (; column != NULL && column->cell != NULL; column++) {
		const char *name = heading(pool, column->name);
		// When the object was created is among the columns of all types.
		if (column->priority > 0 || column->cell == cell_of_age || has_column(table, name))
			continue;
		struct type_column *of_type = POOL_NEW(pool, struct type_column);
		struct str error;
		*of_type = *column;
		bool right = of_type->path_text.n == 0 || jsonpath_parse(pool, of_type->path_text, &of_type->path, &error);
		assert(right && table->n_columns < MAX_COLUMNS);
		UNUSED(right);
		table->columns[table->n_columns] = (struct column){ name, "" };
		table->of_type[table->n_columns++] = of_type;
	}
}

void table_add(struct table *table, const struct doc *document)
{
	struct row *row = POOL_NEW(table->cli->pool, struct row);

	row->document = document;
	*table->last = row;
	table->last = &row->next;
	table->n_rows++;
}

// ---- names in --columns that lead to nothing

static int refuse_name(const struct table *table, const char *name)
{
	struct pool *pool = table->cli->pool;
	const char **words = POOL_ARRAY(pool, const char *, table->n_known);
	struct buf list = buf_new(pool, 128);

	for (size_t i = 0; i < table->n_known; i++) {
		words[i] = table->known[i].name;
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	const char *near = options_nearest_word(words, table->n_known, str_c(name));
	if (near != NULL)
		return cli_fail(EX_USAGE, "--columns: there is no column \"%s\"; did you mean \"%s\"? There are: %.*s", name, near,
			STR_ARG(list));
	return cli_fail(EX_USAGE, "--columns: there is no column \"%s\"; there are: %.*s", name, STR_ARG(list));
}

int table_refuse_others(const struct table *table)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->is_other[i])
			return refuse_name(table, table->columns[i].name);
	}
	return EX_OK;
}

// An object may leave out what its type allows it to have, so such a name is right even if no row has it.
static bool is_member_of_types(const char *name)
{
	if (strcmp(name, "metadata") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "apiVersion") == 0)
		return true;
	for (const struct offered_type *type = offered_types; type->plural != NULL; type++) {
		const struct type_field *field = type_parts_by_plural(str_c(type->group), str_c(type->plural))->fields;
		for (; field != NULL && field->name != NULL; field++) {
			if (strcmp(field->name, name) == 0)
				return true;
		}
	}
	return false;
}

static bool has_member(const struct table *table, struct str name)
{
	const struct doc *value;

	for (const struct row *row = table->first; row != NULL; row = row->next) {
		if (doc_at_path(row->document, name, &value))
			return true;
	}
	return false;
}

// A path with a dot is taken as it is: members in the depth of a document are often left out.
static int refuse_absent(const struct table *table)
{
	for (size_t i = 0; i < table->n_columns && table->first != NULL; i++) {
		const char *name = table->columns[i].name;
		if (table->is_other[i] && strchr(name, '.') == NULL && !is_member_of_types(name) && !has_member(table, str_c(name)))
			return refuse_name(table, name);
	}
	return EX_OK;
}

// ---- cells

// For people, a list of words is shown as these words; programs get its JSON.
static struct str words_of(struct pool *pool, const struct doc *value)
{
	struct buf words = buf_new(pool, 64);

	if (doc_kind(value) != DOC_ARRAY)
		return cli_text(pool, value);
	for (size_t i = 0; i < doc_length(value); i++) {
		if (doc_kind(doc_at(value, i)) != DOC_STRING)
			return cli_text(pool, value);
		if (i > 0)
			buf_addc(&words, ',');
		buf_add(&words, doc_string(doc_at(value, i)));
	}
	return buf_str(&words);
}

// The value that a column of the type computes of the document, as kubectl shows it.
static const struct doc *compute(const struct table *table, const struct doc *document, const struct type_column *column)
{
	struct pool *pool = table->cli->pool;
	struct buf json = buf_new(pool, 64);
	struct type_row row = { .pool = pool, .object = document, .now_us = clock_now_us(), .looks = CELL_LOOKS, .out = &json };
	struct doc *value = NULL;
	struct str error;

	column->cell(&row, column);
	return doc_parse_json(pool, buf_str(&json), (struct doc_limits){ CELL_DEPTH, 0 }, &value, &error) ? value : NULL;
}

static struct str cell(const struct table *table, const struct row *row, size_t column)
{
	const struct type_column *of_type = table->of_type[column];
	const struct doc *value;

	if (of_type != NULL)
		return cli_text(table->cli->pool, compute(table, row->document, of_type));
	if (!doc_at_path(row->document, str_c(table->columns[column].path), &value) || value == NULL)
		return STR("");
	return table->cli->format == FORMAT_TABLE ? words_of(table->cli->pool, value) : cli_text(table->cli->pool, value);
}

// ---- for people

// Prints a line without blanks at its end: a terminal that is narrower would wrap them.
static void put_line(const struct str *cells, const size_t *widths, size_t n)
{
	while (n > 1 && cells[n - 1].n == 0)
		n--;
	for (size_t i = 0; i < n; i++) {
		size_t shown = visible_width(cells[i]);
		cli_text_print(stdout, cells[i]);
		if (i + 1 < n)
			printf("%*s", (int)(widths[i] > shown ? widths[i] - shown : 0) + 2, "");
	}
	putchar('\n');
}

static struct str title(const struct table *table, size_t column)
{
	struct str name = visible_text(table->cli->pool, str_c(table->columns[column].name));
	char *upper = str_cstr(table->cli->pool, name);

	for (char *p = upper; *p != '\0'; p++)
		*p = ascii_to_upper(*p);
	return str_c(upper);
}

static void print_text(const struct table *table)
{
	struct pool *pool = table->cli->pool;
	size_t widths[MAX_COLUMNS], n = table->n_columns, i = 0;
	struct str *cells = POOL_ARRAY(pool, struct str, (table->n_rows + 1) * n);

	for (size_t c = 0; c < n; c++)
		widths[c] = visible_width(cells[i++] = title(table, c));
	size_t from = table->begun ? n : 0;
	for (const struct row *row = table->first; row != NULL; row = row->next) {
		for (size_t c = 0; c < n; c++, i++) {
			cells[i] = visible_text(pool, cell(table, row, c));
			size_t width = visible_width(cells[i]);
			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	for (size_t k = from; k < i; k += n)
		put_line(cells + k, widths, n);
}

// ---- for programs

// A spreadsheet takes a cell that begins with one of these for a formula, even in quotes.
static bool is_formula(struct str text)
{
	return text.n > 0 && memchr("=+-@\t\r", text.p[0], 6) != NULL;
}

static void put_csv(const struct table *table, struct str text, bool last)
{
	bool guarded = table->is_for_spreadsheets && is_formula(text);

	if (guarded) {
		struct buf marked = buf_new(table->cli->pool, text.n + 1);
		buf_addc(&marked, '\'');
		buf_add(&marked, text);
		text = buf_str(&marked);
	}
	cli_cell_print(table->cli, text, guarded);
	putchar(last ? '\n' : ',');
}

static void print_csv(const struct table *table)
{
	size_t n = table->n_columns;

	for (size_t c = 0; c < n && !table->begun; c++)
		put_csv(table, str_c(table->columns[c].name), c == n - 1);
	for (const struct row *row = table->first; row != NULL; row = row->next) {
		for (size_t c = 0; c < n; c++)
			put_csv(table, cell(table, row, c), c == n - 1);
	}
}

static void put_json(struct cli *cli, const struct doc *doc)
{
	struct buf text = buf_new(cli->pool, 0);

	doc_write_pretty(doc, &text);
	cli_text_print(stdout, cli->out_is_terminal ? visible_json(cli->pool, buf_str(&text)) : buf_str(&text));
}

static struct doc *json_row(const struct table *table, const struct row *row)
{
	struct pool *pool = table->cli->pool;
	const struct doc *value;

	if (!table->chosen)
		return doc_copy(pool, row->document);
	struct doc *object = doc_new_object(pool);
	for (size_t c = 0; c < table->n_columns; c++) {
		bool there = doc_at_path(row->document, str_c(table->columns[c].path), &value);
		doc_set(object, str_c(table->columns[c].name), there ? doc_copy(pool, value) : NULL);
	}
	return object;
}

static void print_json(const struct table *table)
{
	struct doc *rows = doc_new_array(table->cli->pool);
	for (const struct row *row = table->first; row != NULL; row = row->next)
		doc_push(rows, json_row(table, row));
	put_json(table->cli, rows);
}

int table_print(struct table *table)
{
	int code = table->begun ? EX_OK : refuse_absent(table);

	if (code != EX_OK)
		return code;
	if (table->cli->format == FORMAT_CSV)
		print_csv(table);
	else if (table->cli->format == FORMAT_TABLE)
		print_text(table);
	else
		print_json(table);
	return EX_OK;
}

static void print_json_lines(const struct table *table)
{
	struct cli *cli = table->cli;

	for (const struct row *row = table->first; row != NULL; row = row->next) {
		struct buf text = buf_new(cli->pool, 0);
		doc_write_json(json_row(table, row), &text);
		buf_addc(&text, '\n');
		cli_text_print(stdout, cli->out_is_terminal ? visible_json(cli->pool, buf_str(&text)) : buf_str(&text));
	}
}

int table_print_more(struct table *table)
{
	int code = EX_OK;

	if (table->n_rows > 0 && table->cli->format == FORMAT_JSON) {
		code = table->begun ? EX_OK : refuse_absent(table);
		if (code == EX_OK)
			print_json_lines(table);
	} else if (table->n_rows > 0) {
		code = table_print(table);
	}
	table->begun = table->begun || table->n_rows > 0;
	table->first = NULL;
	table->last = &table->first;
	table->n_rows = 0;
	// What could not be written is lost, so rows after it must not be printed as if nothing was missing.
	return fflush(stdout) == 0 && !ferror(stdout) ? code : cli_first_failure(code, EX_IOERR);
}

// ---- one document, one field on each line

static void flatten(struct table *table, const struct doc *doc, struct str path)
{
	struct pool *pool = table->cli->pool;

	if (doc_kind(doc) != DOC_OBJECT || (doc_length(doc) == 0 && path.n > 0)) {
		struct doc *row = doc_new_object(pool);
		doc_set_str(pool, row, "field", path);
		doc_set_str(pool, row, "value", cli_text(pool, doc));
		table_add(table, row);
		return;
	}
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
		flatten(table, it.value, path.n == 0 ? it.name
			: str_printf(pool, "%.*s.%.*s", STR_ARG(path), STR_ARG(it.name)));
}

void cli_document_print(struct cli *cli, const struct doc *document)
{
	struct table table = { .cli = cli, .columns = { { "field", "field" }, { "value", "value" } }, .n_columns = 2,
		.last = &table.first };

	if (cli->format == FORMAT_JSON) {
		put_json(cli, document);
		return;
	}
	flatten(&table, document, STR(""));
	(void)table_print(&table); // without --columns nothing is refused
}
