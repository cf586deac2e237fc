// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "manage/dump/dump_line.h"

enum { LONGEST = 64 * 1024 * 1024 }; // bytes of a line that is read

static const char before[] = "{\"sum\":\"", between[] = "\",";

struct dump_lines dump_lines_begin(FILE *file)
{
	struct dump_lines lines = { .file = file };

	memset(lines.sum, '0', sizeof(lines.sum));
	return lines;
}

// Goes on with the text of a line behind its sum.
static void add_to_sum(struct dump_lines *lines, struct str text)
{
	uint8_t hash[DIGEST_SHA256];
	char both[DUMP_SUM + 2 * DIGEST_SHA256];

	digest_sha256(text, hash);
	memcpy(both, lines->sum, DUMP_SUM);
	buf_hex(both + DUMP_SUM, hash, sizeof(hash));
	digest_sha256(str_n(both, sizeof(both)), hash);
	buf_hex(lines->sum, hash, DUMP_SUM / 2);
}

bool dump_lines_put(struct dump_lines *lines, const char *kind, struct str object)
{
	struct pool *pool = pool_new_or_end();
	struct buf text = buf_new(pool, object.n + 64);
	buf_addf(&text, "\"%s\":", kind);
	buf_add(&text, object);
	buf_addc(&text, '}');
	add_to_sum(lines, buf_str(&text));
	lines->n++;
	bool written = fprintf(lines->file, "%s%.*s%s", before, DUMP_SUM, lines->sum, between) > 0 &&
		fwrite(text.p, 1, text.n, lines->file) == text.n && putc('\n', lines->file) != EOF;
	pool_free(&pool);
	return written;
}

// The next line without its end. False: *error as dump_lines_next().
static bool read_line(struct dump_lines *lines, struct pool *pool, struct str *line, struct str *error)
{
	struct buf text = buf_new(pool, 1024);
	int c;

	*error = STR_NONE;
	while ((c = getc(lines->file)) != EOF && c != '\n') {
		if (text.n == LONGEST) {
			*error = STR("is longer than 64 MiB");
			return false;
		}
		buf_addc(&text, (char)c);
	}
	*line = buf_str(&text);
	if (c == '\n')
		return true;
	if (ferror(lines->file))
		*error = STR("can't be read");
	else if (text.n > 0)
		*error = STR("has no end: the file was cut off");
	return false;
}

// Takes the kind off `"KIND":{…}}`.
static bool split(struct str text, struct str *kind, struct str *object)
{
	size_t n = text.n > 0 && text.p[0] == '"' ? str_find(text, '"', 1) : text.n;

	if (n + 3 >= text.n || text.p[n + 1] != ':' || text.p[n + 2] != '{' || text.p[text.n - 1] != '}')
		return false;
	*kind = str_part(text, 1, n);
	*object = str_part(text, n + 2, text.n - 1);
	return true;
}

bool dump_lines_next(struct dump_lines *lines, struct pool *pool, struct str *kind, struct str *object, struct str *error)
{
	const size_t head = sizeof(before) - 1 + DUMP_SUM + sizeof(between) - 1;
	struct str line;

	if (!read_line(lines, pool, &line, error)) {
		lines->n += error->p != NULL;
		return false;
	}
	lines->n++;
	*error = STR("is no line of a dump");
	if (line.n < head || !str_starts(line, str_c(before)) ||
		!str_eq(str_part(line, head - sizeof(between) + 1, head), str_c(between)))
		return false;
	struct str text = str_part(line, head, line.n), sum = str_part(line, sizeof(before) - 1, sizeof(before) - 1 + DUMP_SUM);
	add_to_sum(lines, text);
	if (!str_eq(sum, str_n(lines->sum, DUMP_SUM))) {
		*error = STR("is not as it was dumped, or not in its place: its sum is wrong");
		return false;
	}
	return split(text, kind, object);
}
