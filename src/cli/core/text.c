// SPDX-License-Identifier: Apache-2.0
// Text for people and terminals.
#include "base/base.h"

#include <poll.h>
#include <unistd.h>

#include "base/visible.h"
#include "cli/core/cli.h"
#include "cli/core/text.h"

bool cli_reader_is_gone(int ms)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, ms) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

void cli_text_print(FILE *out, struct str s)
{
	if (s.n > 0)
		fwrite(s.p, 1, s.n, out);
}

void cli_cell_print(const struct cli *cli, struct str text, bool quoted)
{
	quoted = quoted || (text.n > 0 && (text.p[0] == ' ' || text.p[text.n - 1] == ' '));
	if (cli->out_is_terminal)
		text = visible_text(cli->pool, text);
	for (size_t i = 0; i < text.n && !quoted; i++)
		quoted = strchr(",\"\r\n", text.p[i]) != NULL;
	if (quoted)
		putchar('"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			putchar('"');
		putchar(text.p[i]);
	}
	if (quoted)
		putchar('"');
}

struct str doc_text(struct pool *pool, const struct doc *document)
{
	struct buf text = buf_new(pool, 0);

	doc_write_json(document, &text);
	return str_dup(pool, buf_str(&text));
}

struct str cli_text(struct pool *pool, const struct doc *value)
{
	return doc_kind(value) == DOC_STRING ? doc_string(value) : doc_text(pool, value);
}

bool doc_at_path(const struct doc *doc, struct str path, const struct doc **value)
{
	const struct doc *inner;

	if (doc_get(doc, path, value))
		return true;
	for (size_t dot = str_find(path, '.', 0); dot < path.n; dot = str_find(path, '.', dot + 1)) {
		if (doc_get(doc, str_part(path, 0, dot), &inner) && doc_at_path(inner, str_part(path, dot + 1, path.n), value))
			return true;
	}
	return false;
}

static void indent(struct buf *out, size_t level)
{
	buf_addc(out, '\n');
	for (size_t i = 0; i < level; i++)
		BUF_LIT(out, "  ");
}

static void write_pretty(const struct doc *doc, size_t level, struct buf *out)
{
	bool first = true;

	if (doc_length(doc) == 0) {
		doc_write_json(doc, out);
		return;
	}
	bool array = doc_kind(doc) == DOC_ARRAY;
	buf_addc(out, array ? '[' : '{');
	for (size_t i = 0; array && i < doc_length(doc); i++) {
		if (i > 0)
			buf_addc(out, ',');
		indent(out, level + 1);
		write_pretty(doc_at(doc, i), level + 1, out);
	}
	for (struct doc_iter it = doc_iter(doc); !array && doc_next(&it); first = false) {
		if (!first)
			buf_addc(out, ',');
		indent(out, level + 1);
		json_add_string(out, it.name);
		BUF_LIT(out, ": ");
		write_pretty(it.value, level + 1, out);
	}
	indent(out, level);
	buf_addc(out, array ? ']' : '}');
}

void doc_write_pretty(const struct doc *doc, struct buf *out)
{
	write_pretty(doc, 0, out);
	buf_addc(out, '\n');
}

void cli_bar_print(FILE *out, uint64_t done, uint64_t total)
{
	enum { WIDTH = 30 };
	uint64_t full = total == 0 ? 0 : done < total ? (uint64_t)((double)done / (double)total * WIDTH) : WIDTH;
	char bar[WIDTH + 1];

	for (uint64_t i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s]", bar);
}
