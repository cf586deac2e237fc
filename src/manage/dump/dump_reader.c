// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "manage/dump/dump_line.h"
#include "manage/dump/dump_reader.h"
#include "repr/json/doc.h"

enum { BATCH_BYTES = 512 * 1024, SHOWN = 40 }; // SHOWN: bytes of an unknown kind's name in a message

// ---- refusals

static void PRINTF_LIKE(2, 0) refuse(struct dump_reader *reader, const char *format, va_list args)
{
	size_t n = strlen(reader->refusal);

	(void)vsnprintf(reader->refusal + n, sizeof(reader->refusal) - n, format, args);
}

static void PRINTF_LIKE(2, 3) begin_refusal(struct dump_reader *reader, const char *format, ...)
{
	va_list args;

	reader->refusal[0] = '\0';
	va_start(args, format);
	refuse(reader, format, args);
	va_end(args);
}

bool dump_reader_refuse(struct dump_reader *reader, const char *format, ...)
{
	va_list args;

	begin_refusal(reader, "line %llu ", (unsigned long long)reader->line);
	va_start(args, format);
	refuse(reader, format, args);
	va_end(args);
	return false;
}

bool dump_reader_refuse_batch(struct dump_reader *reader, const char *format, ...)
{
	va_list args;

	begin_refusal(reader, "line %llu or one of the %zu before it ", (unsigned long long)reader->line, reader->rows.n > 0 ? reader->rows.n - 1 : 0);
	va_start(args, format);
	refuse(reader, format, args);
	va_end(args);
	return false;
}

// ---- records

bool dump_reader_parse(struct dump_reader *reader, struct str object, struct doc **doc)
{
	struct str error;

	return doc_parse_json(reader->pool, object, (struct doc_limits){ .depth = 100 }, doc, &error) ||
		dump_reader_refuse(reader, "is no JSON: %.*s", STR_ARG(error));
}

void dump_reader_add(struct dump_reader *reader, struct str object)
{
	if (reader->rows.n == 0)
		reader->rows = db_list_new(reader->pool, BATCH_BYTES / 8);
	buf_add(db_list_item(&reader->rows), object);
}

static bool end_batch(struct dump_reader *reader)
{
	bool good = reader->rows.n == 0 || reader->batch(reader->user, db_list_end(&reader->rows));

	reader->rows.n = 0;
	return good;
}

// ---- lines

// Kinds never come again in a file that has gone on to a later one, and none that has to be there is passed over.
static bool know_kind(struct dump_reader *reader, struct str name, size_t *kind)
{
	const struct dump_kind *kinds = reader->kinds;
	size_t first = reader->line == 1 ? 0 : reader->kind + (kinds[reader->kind].once ? 1 : 0), at = 0;

	while (at < reader->n_kinds && !str_eq_c(name, kinds[at].name))
		at++;
	if (at == reader->n_kinds || at < first)
		return dump_reader_refuse(reader, "is \"%.*s\", which is unknown or does not belong there", (int)(name.n < SHOWN ? name.n : SHOWN), name.p);
	for (size_t i = first; i < at; i++) {
		if (kinds[i].once)
			return dump_reader_refuse(reader, "is \"%s\", and no line of kind \"%s\" is before it", kinds[at].name, kinds[i].name);
	}
	*kind = at;
	return true;
}

static bool end_batch_before(struct dump_reader *reader)
{
	reader->line--;
	bool good = end_batch(reader);
	reader->line++;
	return good;
}

// *ended: it was the last line.
static bool take_line(struct dump_reader *reader, struct dump_lines *lines, bool *ended)
{
	struct str name, object, error;
	size_t kind = 0;
	bool more = dump_lines_next(lines, reader->pool, &name, &object, &error);

	reader->line++;
	if (!more)
		return dump_reader_refuse(reader, "%.*s", STR_ARG(error.p != NULL ? error : STR("is missing: the file was cut off")));
	if (!know_kind(reader, name, &kind))
		return false;
	if (kind != reader->kind && !end_batch_before(reader))
		return false;
	reader->kind = kind;
	*ended = kind == reader->n_kinds - 1;
	if (!reader->record(reader->user, object))
		return false;
	bool full = reader->rows.n > 0 && (reader->rows.n >= reader->most || reader->rows.text.n >= BATCH_BYTES);
	return (!full && !*ended) || end_batch(reader);
}

bool dump_reader_run(struct dump_reader *reader)
{
	struct dump_lines lines = dump_lines_begin(reader->file);
	bool good = true, ended = false;

	rewind(reader->file);
	reader->kind = 0;
	reader->line = 0;
	reader->rows.n = 0;
	reader->refusal[0] = '\0';
	while (good && !ended) {
		if (reader->rows.n == 0)
			pool_clear(reader->pool);
		good = take_line(reader, &lines, &ended);
	}
	if (!good || getc(reader->file) == EOF)
		return good;
	reader->line++;
	return dump_reader_refuse(reader, "stands behind the end");
}
