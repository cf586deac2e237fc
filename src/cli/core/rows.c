// SPDX-License-Identifier: Apache-2.0
// Files of rows for import: CSV (RFC 4180), JSON, and JSON one document per line. Each row becomes a resource's document.
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/core/cli.h"
#include "cli/core/rows.h"
#include "cli/core/text.h"

enum { ROW_MAX = 16 << 20, LIST_MAX = 64 << 20, DEPTH = 200 };
enum { COLUMNS_MAX = CLI_ROWS_COLUMNS };

enum rows_form { ROWS_CSV, ROWS_JSON, ROWS_LINES };

// A column of CSV: where its cells stand in the document, and whether they are JSON. Others are strings.
struct csv_column {
	struct str path;
	bool json;
};

// Names that lists give to members of the metadata, so that what they print as CSV can be imported.
static const struct { const char *name, *path; bool json; } short_columns[] = {
	{ "namespace", "metadata.namespace", false }, { "name", "metadata.name", false }, { "type", "metadata.type", false }, { "etag", "metadata.etag", false },
	{ "revision", "metadata.resourceVersion", false }, { "created", "metadata.creationTimestamp", false }, { "uid", "metadata.uid", false },
	{ "tenant", "metadata.tenant", false }, { "labels", "metadata.labels", true }, { "locked", "metadata.locked", true },
	{ "deleted", "metadata.deletionTimestamp", false }, { "purge", "metadata.purgeTimestamp", false },
};

struct rows {
	FILE *file;
	enum rows_form form;
	uint64_t number;          // of the row that was read last
	uint64_t line, next_line; // where that row began, and where the file is read
	struct csv_column *columns;
	size_t n_columns;
	const struct doc *list; // of ROWS_JSON
	struct str ahead;       // the first line of ROWS_LINES, where it was read to tell the form; p NULL: it was not, or was used
};

// One record of CSV. A cell that is empty and not quoted is no value.
struct cell {
	size_t from, to; // in the text
	bool quoted;
};
struct record {
	struct buf text;
	struct cell *cells;
	size_t n;
};

// ---- text

static int next_byte(struct rows *rows)
{
	int c = getc(rows->file);

	if (c == '\n')
		rows->next_line++;
	return c;
}

// Reads up to the end of the line. False: the file is at its end.
static bool read_line(struct rows *rows, struct pool *pool, struct str *line, const char **wrong)
{
	struct buf text = buf_new(pool, 512);
	int c = next_byte(rows);

	*wrong = NULL;
	if (c == EOF)
		return false;
	for (; c != EOF && c != '\n'; c = next_byte(rows)) {
		if (text.n < ROW_MAX)
			buf_addc(&text, (char)c);
		else
			*wrong = "the line is longer than 16 MiB";
	}
	if (text.n > 0 && text.p[text.n - 1] == '\r')
		text.n--;
	*line = buf_str(&text);
	return true;
}

// ---- CSV

// Reads the rest of a quoted cell behind its first quote. Returns the byte behind its last one.
static int read_quoted(struct rows *rows, struct record *record, const char **wrong)
{
	for (;;) {
		int c = next_byte(rows);

		if (c == '"') {
			c = next_byte(rows);
			if (c != '"')
				return c;
		}
		if (c == EOF) {
			*wrong = "a quoted cell has no end";
			return c;
		}
		if (record->text.n < ROW_MAX)
			buf_addc(&record->text, (char)c);
		else
			*wrong = "the row is longer than 16 MiB";
	}
}

// Reads a cell. Returns the byte that ends it: a comma, a line feed or EOF.
static int read_cell(struct rows *rows, struct record *record, const char **wrong)
{
	struct cell *cell = &record->cells[record->n];
	int c = next_byte(rows);

	*cell = (struct cell){ .from = record->text.n, .quoted = c == '"' };
	if (cell->quoted)
		c = read_quoted(rows, record, wrong);
	cell->to = record->text.n;
	for (; c != ',' && c != '\n' && c != EOF; c = next_byte(rows)) {
		if (c == '\r') {
			c = next_byte(rows);
			if (c == '\n' || c == EOF)
				break;
			*wrong = "a carriage return stands amid a line; quote the cell";
		} else if (cell->quoted) {
			*wrong = "something follows the end of a quoted cell; double the quotes in it";
		} else if (c == '"') {
			*wrong = "a quote stands amid a cell that does not begin with one";
		} else if (record->text.n >= ROW_MAX) {
			*wrong = "the row is longer than 16 MiB";
		} else {
			buf_addc(&record->text, (char)c);
			cell->to = record->text.n;
		}
		if (c == ',' || c == EOF)
			break;
	}
	return c;
}

// Reads a record, up to the end of its last line. False: the file is at its end.
static bool read_record(struct rows *rows, struct pool *pool, struct record *record, const char **wrong)
{
	int c;

	*record = (struct record){ .text = buf_new(pool, 512), .cells = POOL_ARRAY(pool, struct cell, COLUMNS_MAX + 1) };
	*wrong = NULL;
	do {
		c = read_cell(rows, record, wrong);
		if (record->n < COLUMNS_MAX)
			record->n++;
		else
			*wrong = "the row has more than 1,000 cells";
	} while (c == ',');
	return c != EOF || record->n > 1 || record->text.n > 0 || record->cells[0].quoted || *wrong != NULL;
}

static bool is_blank(const struct record *record)
{
	return record->n == 1 && record->text.n == 0 && !record->cells[0].quoted;
}

static struct str cell_text(const struct record *record, size_t i)
{
	return str_part(buf_str(&record->text), record->cells[i].from, record->cells[i].to);
}

static bool path_ok(struct str path)
{
	struct str rest = path, item;
	bool good = path.n > 0 && str_utf8_ok(path, NULL) && memchr(path.p, '\0', path.n) == NULL;

	while (good && str_split(&rest, '.', &item))
		good = item.n > 0;
	return good;
}

static struct csv_column column_of(struct cli *cli, struct str name)
{
	struct csv_column column = { .path = str_trim(name) };

	// A path that begins with a dot is one from the document's top, whatever else its name would mean.
	bool from_top = str_starts(column.path, STR("."));
	if (from_top)
		column.path = str_part(column.path, 1, column.path.n);
	for (size_t i = 0; i < COUNT_OF(short_columns) && !from_top; i++) {
		if (str_eq_c(column.path, short_columns[i].name) || str_eq_c(column.path, short_columns[i].path))
			return (struct csv_column){ str_c(short_columns[i].path), short_columns[i].json };
	}
	column.json = str_ends(column.path, STR(":"));
	column.path = str_dup(cli->pool, str_part(column.path, 0, column.path.n - (column.json ? 1 : 0)));
	return column;
}

struct str rows_column_name(struct pool *pool, struct str path, bool json)
{
	for (size_t i = 0; i < COUNT_OF(short_columns); i++) {
		if (str_eq_c(path, short_columns[i].path))
			return str_c(short_columns[i].name);
	}
	for (size_t i = 0; i < COUNT_OF(short_columns); i++) {
		if (str_eq_c(path, short_columns[i].name))
			return str_printf(pool, ".%.*s%s", STR_ARG(path), json ? ":" : "");
	}
	return str_printf(pool, "%.*s%s", STR_ARG(path), json ? ":" : "");
}

// Reads the first record, which names the columns. Exit code.
static int read_columns(struct cli *cli, struct rows *rows, const char *path)
{
	struct record record;
	const char *wrong;
	bool named = false;

	if (!read_record(rows, cli->pool, &record, &wrong))
		return cli_fail(EX_DATAERR, "%s: it is empty; the first line names the columns: name,namespace,data.color", path);
	if (wrong != NULL)
		return cli_fail(EX_DATAERR, "%s:1: %s", path, wrong);
	rows->columns = POOL_ARRAY(cli->pool, struct csv_column, record.n);
	rows->n_columns = record.n;
	for (size_t i = 0; i < record.n; i++) {
		struct str name = cell_text(&record, i);
		rows->columns[i] = column_of(cli, name);
		struct str column = rows->columns[i].path;
		if (!path_ok(column))
			return cli_fail(EX_DATAERR, "%s:1: \"%.*s\" can be no column; expected a path such as data.color, or data.size: for JSON",
				path, STR_ARG(name));
		for (size_t k = 0; k < i; k++) {
			if (str_eq(rows->columns[k].path, column))
				return cli_fail(EX_DATAERR, "%s:1: column \"%.*s\" is there twice", path, STR_ARG(name));
		}
		named = named || str_eq(column, STR("metadata.name"));
	}
	return named ? EX_OK : cli_fail(EX_DATAERR, "%s:1: no column is called \"name\"", path);
}

static const char *read_csv_row(struct rows *rows, struct pool *pool, const struct record *record, struct doc **document)
{
	struct doc *value;
	struct str error;

	if (record->n != rows->n_columns)
		return str_printf(pool, "the row has %zu cells, and the first line names %zu columns", record->n, rows->n_columns).p;
	*document = doc_new_object(pool);
	for (size_t i = 0; i < record->n; i++) {
		struct str text = cell_text(record, i), path = rows->columns[i].path;

		if (text.n == 0 && !record->cells[i].quoted)
			continue;
		if (!str_utf8_ok(text, NULL))
			return str_printf(pool, "column %.*s: the cell is not UTF-8", STR_ARG(path)).p;
		if (!rows->columns[i].json)
			value = doc_new_string(pool, text);
		else if (!doc_parse_json(pool, text, (struct doc_limits){ DEPTH, 0 }, &value, &error))
			return str_printf(pool, "column %.*s: %.*s", STR_ARG(path), STR_ARG(error)).p;
		doc_set_path(pool, *document, path, value);
	}
	return NULL;
}

static enum row_step next_of_csv(struct rows *rows, struct pool *pool, struct file_row *row)
{
	struct record record;

	do {
		rows->line = rows->next_line;
		if (!read_record(rows, pool, &record, &row->wrong))
			return ROW_END;
	} while (row->wrong == NULL && is_blank(&record));
	rows->number++;
	if (row->wrong == NULL)
		row->wrong = read_csv_row(rows, pool, &record, &row->document);
	return row->wrong == NULL ? ROW_READ : ROW_WRONG;
}

// ---- JSON

static enum row_step next_of_lines(struct rows *rows, struct pool *pool, struct file_row *row)
{
	struct str line, error;

	do {
		rows->line = rows->ahead.p != NULL ? 1 : rows->next_line;
		line = rows->ahead;
		rows->ahead = STR_NONE;
		if (line.p == NULL && !read_line(rows, pool, &line, &row->wrong))
			return ROW_END;
	} while (row->wrong == NULL && str_trim(line).n == 0);
	rows->number++;
	if (row->wrong == NULL && !doc_parse_json(pool, line, (struct doc_limits){ DEPTH, 0 }, &row->document, &error))
		row->wrong = str_printf(pool, "%.*s", STR_ARG(error)).p;
	else if (row->wrong == NULL && doc_kind(row->document) != DOC_OBJECT)
		row->wrong = "the line is no object: { … }";
	return row->wrong == NULL ? ROW_READ : ROW_WRONG;
}

static enum row_step next_of_list(struct rows *rows, struct pool *pool, struct file_row *row)
{
	if (rows->number == doc_elements(rows->list))
		return ROW_END;
	row->document = doc_copy(pool, doc_at(rows->list, rows->number++));
	row->wrong = doc_kind(row->document) == DOC_OBJECT ? NULL : "the element is no object: { … }";
	rows->line = rows->number;
	return row->wrong == NULL ? ROW_READ : ROW_WRONG;
}

// A list as the service or kubectl gives it has its documents in a member. A document of its own may have members of these names,
// too: unlike a list it has a name. NULL: it is no list.
static const struct doc *list_in(const struct doc *document)
{
	const struct doc *list = document, *name;

	if (doc_at_path(document, STR("metadata.name"), &name))
		return NULL;
	if (doc_kind(document) == DOC_OBJECT && !doc_get(document, STR("items"), &list))
		(void)doc_get(document, STR("resources"), &list);
	return doc_kind(list) == DOC_ARRAY ? list : NULL;
}

// begin: what was read of the file already.
static int read_list(struct cli *cli, struct rows *rows, const char *path, struct str begin)
{
	char bytes[65536];
	struct buf text = buf_new(cli->pool, sizeof(bytes));
	struct doc *document;
	size_t n;

	buf_add(&text, begin);
	while ((n = fread(bytes, 1, sizeof(bytes), rows->file)) > 0) {
		if (text.n + n > LIST_MAX)
			return cli_fail(EX_NOINPUT, "%s: too large: a JSON list may have 64 MiB; a document on each line any number", path);
		buf_add(&text, str_n(bytes, n));
	}
	if (ferror(rows->file))
		return cli_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	int code = cli_input_parse(cli, buf_str(&text), path, &document);
	if (code != EX_OK)
		return code;
	rows->list = list_in(document);
	return rows->list != NULL ? EX_OK
		: cli_fail(EX_DATAERR, "%s: expected an array of documents, or an object with such an array as \"items\"", path);
}

// Standard input that begins with an object has a document on each line; or it is one list, as `kubectl get -o json` prints it,
// whose first line goes on below.
static int tell_objects(struct cli *cli, struct rows *rows, const char *path)
{
	struct str line, error;
	struct doc *document = NULL;
	const char *wrong;

	if (!read_line(rows, cli->pool, &line, &wrong))
		return EX_OK;
	struct str trimmed = str_trim(line);
	bool goes_on = trimmed.n > 0 && strchr("{[,:", trimmed.p[trimmed.n - 1]) != NULL;
	if (!goes_on && (wrong != NULL || !doc_parse_json(cli->pool, line, (struct doc_limits){ DEPTH, 0 }, &document, &error) ||
		list_in(document) == NULL)) {
		rows->ahead = line;
		return EX_OK;
	}
	rows->form = ROWS_JSON;
	return read_list(cli, rows, path, str_printf(cli->pool, "%.*s\n", STR_ARG(line)));
}

// ---- the file

// Some programs begin a file of UTF-8 with a byte order mark. Nothing else begins with its first byte that could be read.
static bool skip_mark(FILE *file)
{
	int c = getc(file);

	if (c != 0xef) {
		(void)ungetc(c, file);
		return true;
	}
	return getc(file) == 0xbb && getc(file) == 0xbf;
}

// By the ending of the name; a file without a known one, and standard input, by the first byte. *told: by the name.
static enum rows_form form_of(const char *path, FILE *file, bool *told)
{
	struct str name = str_c(path);
	int first;

	*told = true;
	if (str_ends(name, STR(".csv")))
		return ROWS_CSV;
	if (str_ends(name, STR(".json")))
		return ROWS_JSON;
	if (str_ends(name, STR(".ndjson")) || str_ends(name, STR(".jsonl")))
		return ROWS_LINES;
	*told = false;
	first = getc(file);
	(void)ungetc(first, file);
	return first == '[' ? ROWS_JSON : first == '{' || first == EOF ? ROWS_LINES : ROWS_CSV;
}

int rows_open(struct cli *cli, const char *path, struct rows **opened)
{
	struct rows *rows = POOL_NEW(cli->pool, struct rows);
	struct stat status;
	int code = EX_OK;
	bool told;

	*opened = NULL;
	if (path[0] == '\0')
		return cli_fail(EX_USAGE, "the name of the file is empty; - is standard input");
	rows->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	if (rows->file == NULL)
		return cli_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	if (fstat(fileno(rows->file), &status) == 0 && S_ISDIR(status.st_mode)) {
		rows_close(&rows);
		return cli_fail(EX_NOINPUT, "%s: %s", path, strerror(EISDIR));
	}
	rows->next_line = 1;
	if (!skip_mark(rows->file))
		code = cli_fail(EX_DATAERR, "%s: it is not UTF-8", path);
	rows->form = form_of(path, rows->file, &told);
	if (code == EX_OK && rows->form == ROWS_CSV)
		code = read_columns(cli, rows, path);
	else if (code == EX_OK && rows->form == ROWS_JSON)
		code = read_list(cli, rows, path, STR(""));
	else if (code == EX_OK && !told)
		code = tell_objects(cli, rows, path);
	if (code == EX_OK)
		*opened = rows;
	else
		rows_close(&rows);
	return code;
}

enum row_step rows_next(struct rows *rows, struct pool *pool, struct file_row *row)
{
	enum row_step step;

	*row = (struct file_row){ .wrong = NULL };
	if (rows->form == ROWS_CSV)
		step = next_of_csv(rows, pool, row);
	else if (rows->form == ROWS_LINES)
		step = next_of_lines(rows, pool, row);
	else
		step = next_of_list(rows, pool, row);
	// To getc() an error looks like the end of the file, so a row that was cut off there looks like one without a line feed.
	// Rows before it ended by their line feed, and were returned before the error. A list was read as a whole.
	if (rows->form != ROWS_JSON && ferror(rows->file)) {
		row->wrong = "the file can't be read any further";
		step = ROW_BROKEN;
	}
	row->number = rows->number;
	row->line = rows->line;
	return step;
}

bool rows_progress(const struct rows *rows, uint64_t *done, uint64_t *total)
{
	struct stat status;
	off_t at;

	if (rows->form == ROWS_JSON) {
		*done = rows->number;
		*total = doc_elements(rows->list);
		return true;
	}
	if (fstat(fileno(rows->file), &status) != 0 || !S_ISREG(status.st_mode) || (at = ftello(rows->file)) < 0)
		return false;
	*done = (uint64_t)at;
	*total = (uint64_t)status.st_size;
	return true;
}

void rows_close(struct rows **rows)
{
	if (*rows != NULL && (*rows)->file != stdin)
		fclose((*rows)->file);
	*rows = NULL;
}
