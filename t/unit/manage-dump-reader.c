// SPDX-License-Identifier: Apache-2.0
// The reader of dumps: the order of the kinds, batches and where they end, and which lines its refusals name.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "manage/dump/dump_line.h"
#include "manage/dump/dump_reader.h"
#include "repr/json/doc.h"
#include "tap.h"

static const struct dump_kind kinds[] = { { "head", true }, { "a", false }, { "b", false }, { "next", true }, { "end", false } };

// A user that adds all records of kinds a and b, and writes down what it is shown.
struct user {
	struct dump_reader reader;
	char told[4096];            // "kind@line " for records, "[rows]@line " for batches
	const char *stop, *refused; // a record, or a batch, that it ends the reading at; a batch that it refuses
	bool forgets;               // it adds nothing
};

static void PRINTF_LIKE(2, 3) note(struct user *user, const char *format, ...)
{
	size_t n = strlen(user->told);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(user->told + n, sizeof(user->told) - n, format, args);
	va_end(args);
}

static bool record(void *arg, struct str object)
{
	struct user *user = arg;
	struct dump_reader *reader = &user->reader;
	struct doc *doc;

	note(user, "%s@%d ", kinds[reader->kind].name, (int)reader->line);
	if (!dump_reader_parse(reader, object, &doc))
		return false;
	if (user->stop != NULL && str_eq_c(object, user->stop))
		return false;
	if (!user->forgets && (reader->kind == 1 || reader->kind == 2))
		dump_reader_add(reader, object);
	return true;
}

static bool batch(void *arg, struct str rows)
{
	struct user *user = arg;
	struct dump_reader *reader = &user->reader;

	note(user, "%.*s@%s%d ", rows.n < 100 ? (int)rows.n : 0, rows.p, kinds[reader->kind].name, (int)reader->line);
	if (user->refused != NULL && str_eq_c(rows, user->refused))
		return dump_reader_refuse_batch(reader, "has %d", 7);
	return user->stop == NULL || !str_eq_c(rows, user->stop);
}

static struct user user_of(FILE *file, struct pool *pool)
{
	return (struct user){ .reader = { .file = file, .kinds = kinds, .n_kinds = COUNT_OF(kinds), .most = 2, .record = record, .batch = batch, .pool = pool } };
}

// A file of those lines, "KIND OBJECT" each, with right sums.
static FILE *file_of(const char *const *lines)
{
	FILE *file = tmpfile();
	if (file == NULL)
		abort();
	struct dump_lines to = dump_lines_begin(file);

	for (; *lines != NULL; lines++) {
		const char *space = strchr(*lines, ' ');
		char kind[64];
		snprintf(kind, sizeof(kind), "%.*s", (int)(space - *lines), *lines);
		if (!dump_lines_put(&to, kind, str_c(space + 1)))
			abort();
	}
	return file;
}

#define LINES(...) (const char *const[]){ __VA_ARGS__, NULL }

static void reads(const char *name, const char *const *lines, struct user options, const char *told, const char *refusal)
{
	struct pool *pool = pool_new();
	FILE *file = file_of(lines);
	struct user user = user_of(file, pool);

	user.stop = options.stop;
	user.refused = options.refused;
	user.forgets = options.forgets;
	user.reader.user = &user;
	bool good = dump_reader_run(&user.reader);
	is_str(str_c(user.told), told, "%s: what its user is shown", name);
	if (refusal == NULL) {
		ok(good && user.reader.refusal[0] == '\0', "%s: is read to its end", name);
	} else {
		ok(!good, "%s: is not read to its end", name);
		is_str(str_c(user.reader.refusal), refusal, "%s: why", name);
	}
	// A second reading is like the first.
	user.told[0] = '\0';
	ok(dump_reader_run(&user.reader) == good, "%s: again", name);
	is_str(str_c(user.told), told, "%s: and its user is shown the same", name);
	(void)fclose(file);
	pool_free(&pool);
}

static void order(void)
{
	const struct user usual = { .forgets = false };

	reads("the least that there can be", LINES("head {}", "next {}", "end {}"), usual, "head@1 next@2 end@3 ", NULL);
	reads("a kind left out", LINES("head {}", "b {}", "next {}", "end {}"), usual, "head@1 b@2 [{}]@b2 next@3 end@4 ", NULL);
	reads("an unknown kind", LINES("head {}", "c {}", "next {}"), usual, "head@1 ", "line 2 is \"c\", which is unknown or does not belong there");
	reads("a kind that was over", LINES("head {}", "b {}", "a {}"), usual, "head@1 b@2 ", "line 3 is \"a\", which is unknown or does not belong there");
	reads("one of those that come once, twice", LINES("head {}", "head {}"), usual, "head@1 ",
		"line 2 is \"head\", which is unknown or does not belong there");
	reads("the same at the end", LINES("head {}", "next {}", "next {}"), usual, "head@1 next@2 ",
		"line 3 is \"next\", which is unknown or does not belong there");
	reads("no beginning", LINES("a {}", "next {}", "end {}"), usual, "", "line 1 is \"a\", and no line of kind \"head\" is before it");
	reads("one that has to be there left out", LINES("head {}", "a {}", "end {}"), usual, "head@1 a@2 ",
		"line 3 is \"end\", and no line of kind \"next\" is before it");
	reads("a long name of a kind", LINES("head {}", "0123456789012345678901234567890123456789012345678901 {}"), usual, "head@1 ",
		"line 2 is \"0123456789012345678901234567890123456789\", which is unknown or does not belong there");
	reads("no end", LINES("head {}", "next {}"), usual, "head@1 next@2 ", "line 3 is missing: the file was cut off");
	reads("more behind it", LINES("head {}", "next {}", "end {}", "end {}"), usual, "head@1 next@2 end@3 ", "line 4 stands behind the end");
	reads("no JSON", LINES("head {}", "a {\"x\":}"), usual, "head@1 a@2 ", "line 2 is no JSON: line 1, column 6: expected a JSON value, found '}'");
}

static void batches(void)
{
	reads("batches", LINES("head {}", "a {\"n\":1}", "a {\"n\":2}", "a {\"n\":3}", "b {\"n\":4}", "next {}", "end {}"), (struct user){ .stop = NULL },
		"head@1 a@2 a@3 [{\"n\":1},{\"n\":2}]@a3 a@4 [{\"n\":3}]@a4 b@5 [{\"n\":4}]@b5 next@6 end@7 ", NULL);
	reads("a user that adds nothing", LINES("head {}", "a {}", "a {}", "a {}", "next {}", "end {}"), (struct user){ .forgets = true },
		"head@1 a@2 a@3 a@4 next@5 end@6 ", NULL);
	reads("a full batch that is refused", LINES("head {}", "a {}", "a {\"n\":2}", "a {}"), (struct user){ .refused = "[{},{\"n\":2}]" },
		"head@1 a@2 a@3 [{},{\"n\":2}]@a3 ", "line 3 or one of the 1 before it has 7");
	reads("one that is refused when the next kind comes", LINES("head {}", "a {\"n\":1}", "b {}"), (struct user){ .refused = "[{\"n\":1}]" },
		"head@1 a@2 [{\"n\":1}]@a2 ", "line 2 or one of the 0 before it has 7");
	reads("a user that ends it at a record", LINES("head {}", "a {\"n\":1}", "b {}"), (struct user){ .stop = "{\"n\":1}" }, "head@1 a@2 ", "");
	reads("a user that ends it at a batch", LINES("head {}", "a {\"n\":1}", "b {}"), (struct user){ .stop = "[{\"n\":1}]" },
		"head@1 a@2 [{\"n\":1}]@a2 ", "");
}

// Records of 200 kB each: a batch of more than 512 KiB ends before it has as many as it may.
static void large(void)
{
	struct pool *pool = pool_new();
	struct buf line = buf_new(pool, 0);

	BUF_LIT(&line, "a {\"n\":\"");
	for (int i = 0; i < 200000; i++)
		buf_addc(&line, 'x');
	BUF_LIT(&line, "\"}");
	buf_addc(&line, '\0');
	FILE *file = file_of(LINES("head {}", line.p, line.p, line.p, line.p, "next {}", "end {}"));
	struct pool *lines = pool_new();
	struct user user = user_of(file, lines);
	user.reader.most = 100;
	user.reader.user = &user;
	ok(dump_reader_run(&user.reader), "large records");
	is_str(str_c(user.told), "head@1 a@2 a@3 a@4 @a4 a@5 @a5 next@6 end@7 ", "a batch ends when it is long");
	(void)fclose(file);
	pool_free(&lines);
	pool_free(&pool);
}

int main(void)
{
	order();
	batches();
	large();
	return done_testing();
}
