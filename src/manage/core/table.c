// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "base/visible.h"
#include "manage/core/table.h"
#include "repr/json/doc.h"

enum {
	FIRST_ROOM = 32,
	MAX_COLUMNS = 12,
	GAP = 2,             // blanks between columns
	USUAL_TERMINAL = 80, // columns of a terminal that does not tell
	WRAPPED_MIN = 30,    // columns that a column that wraps keeps, however long the others are
};

void table_init(struct table *table, struct pool *pool, const struct table_column *columns, size_t n_columns)
{
	assert(n_columns > 0 && n_columns <= MAX_COLUMNS);
	*table = (struct table){ .pool = pool, .columns = columns, .n_columns = n_columns, .room = FIRST_ROOM };
	table->cells = POOL_ARRAY(pool, struct str, FIRST_ROOM * n_columns);
}

void table_add(struct table *table, const struct str *cells)
{
	if (table->n_rows == table->room) {
		struct str *more = POOL_ARRAY(table->pool, struct str, table->room * 2 * table->n_columns);
		memcpy(more, table->cells, table->n_rows * table->n_columns * sizeof(*more));
		table->cells = more;
		table->room *= 2;
	}
	memcpy(table->cells + table->n_rows * table->n_columns, cells, table->n_columns * sizeof(*cells));
	table->n_rows++;
}

struct str table_printable(struct pool *pool, struct str cell)
{
	if (cell.p == NULL)
		return STR("-");
	return visible_text(pool, cell);
}

// Takes from *text as many words as the columns hold, one at least. Returns them without the blanks around them.
static struct str take_line(struct str *text, size_t columns)
{
	size_t end = str_find(*text, ' ', 0), next;

	while (end < text->n) {
		next = str_find(*text, ' ', end + 1);
		if (visible_width(str_part(*text, 0, next)) > columns)
			break;
		end = next;
	}
	struct str line = str_part(*text, 0, end);
	*text = end < text->n ? str_part(*text, end + 1, text->n) : STR("");
	return line;
}

static void print_line(const struct table *table, const struct str *cells, const size_t *widths, FILE *out)
{
	size_t n = table->n_columns;

	while (n > 1 && cells[n - 1].n == 0) // no blanks at the end of the line
		n--;
	for (size_t c = 0; c < n; c++) {
		size_t shown = visible_width(cells[c]), pad = widths[c] > shown ? widths[c] - shown : 0;
		bool last = c + 1 == n;
		if (table->columns[c].number)
			fprintf(out, "%*s", (int)pad, "");
		if (cells[c].n > 0) // the text of an empty cell may be a null pointer
			fwrite(cells[c].p, 1, cells[c].n, out);
		if (!table->columns[c].number && !last)
			fprintf(out, "%*s", (int)pad, "");
		fputs(last ? "\n" : "  ", out);
	}
}

static void print_row(const struct table *table, const struct str *cells, const size_t *widths, FILE *out)
{
	struct str line[MAX_COLUMNS] = { STR_NONE }, rest = STR("");

	for (size_t c = 0; c < table->n_columns; c++) {
		line[c] = cells[c];
		if (&table->columns[c] == table->wraps) {
			rest = cells[c];
			line[c] = take_line(&rest, widths[c]);
		}
	}
	print_line(table, line, widths, out);
	while (rest.n > 0) {
		for (size_t c = 0; c < table->n_columns; c++)
			line[c] = &table->columns[c] == table->wraps ? take_line(&rest, widths[c]) : STR("");
		print_line(table, line, widths, out);
	}
}

// Makes the column that wraps so narrow that the others fit beside it on out, if that is a terminal.
static void fit_terminal(const struct table *table, size_t *widths, FILE *out)
{
	struct winsize size = { .ws_col = 0 };
	size_t others = 0;

	if (table->wraps == NULL || isatty(fileno(out)) != 1)
		return;
	size_t terminal = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_TERMINAL;
	for (size_t c = 0; c < table->n_columns; c++)
		others += &table->columns[c] != table->wraps ? widths[c] + GAP : 0;
	size_t *width = &widths[table->wraps - table->columns];
	const size_t room = terminal > others + WRAPPED_MIN ? terminal - others : WRAPPED_MIN;
	if (*width > room)
		*width = room;
}

static void print_text(const struct table *table, FILE *out)
{
	size_t n = table->n_columns, widths[MAX_COLUMNS];
	struct str titles[MAX_COLUMNS];
	struct str *cells = POOL_ARRAY(table->pool, struct str, table->n_rows * n);
	for (size_t c = 0; c < n; c++) {
		titles[c] = str_c(table->columns[c].title);
		widths[c] = titles[c].n;
	}
	for (size_t i = 0; i < table->n_rows * n; i++) {
		cells[i] = table_printable(table->pool, table->cells[i]);
		size_t width = visible_width(cells[i]);
		if (width > widths[i % n])
			widths[i % n] = width;
	}
	fit_terminal(table, widths, out);
	print_row(table, titles, widths, out);
	for (size_t r = 0; r < table->n_rows; r++)
		print_row(table, cells + r * n, widths, out);
}

// "MAX RESOURCES" → "max_resources"
static char *json_name(struct pool *pool, const char *title)
{
	char *name = str_cstr(pool, str_c(title));
	for (char *p = name; *p != '\0'; p++)
		*p = *p == ' ' ? '_' : ascii_to_lower(*p);
	return name;
}

static struct doc *json_cell(struct pool *pool, const struct table_column *column, struct str cell)
{
	uint64_t number;
	if (cell.p == NULL)
		return NULL;
	if (column->number && str_to_u64(cell, &number))
		return doc_new_u64(pool, number);
	return doc_new_string(pool, cell);
}

static void print_json(const struct table *table, FILE *out)
{
	struct doc *rows = doc_new_array(table->pool);
	const char *names[MAX_COLUMNS];
	for (size_t c = 0; c < table->n_columns; c++)
		names[c] = json_name(table->pool, table->columns[c].title);
	for (size_t r = 0; r < table->n_rows; r++) {
		struct doc *row = doc_new_object(table->pool);
		for (size_t c = 0; c < table->n_columns; c++)
			doc_set(row, str_c(names[c]),
				json_cell(table->pool, &table->columns[c], table->cells[r * table->n_columns + c]));
		doc_push(rows, row);
	}
	struct buf text = buf_new(table->pool, 0);
	doc_write_json(rows, &text);
	buf_addc(&text, '\n');
	struct str s = buf_str(&text);
	fwrite(s.p, 1, s.n, out);
}

void table_print(const struct table *table, bool json, FILE *out)
{
	if (json)
		print_json(table, out);
	else
		print_text(table, out);
}
