// SPDX-License-Identifier: Apache-2.0
// base/options.c: command lines, by tables of options.
#include "base/base.h"

#include "base/buf.h"
#include "base/options.h"
#include "base/pool.h"
#include "tap.h"

static const struct option_row rows[] = {
	{ "--tenant", 't', "TENANT", "whose" },
	{ "--yes", 'y', NULL, "don't ask" },
	{ "--quiet", 'q', NULL, "say nothing" },
	{ "--tenants", 0, NULL, "all of them" },
	{ "--description", 0, "TEXT", "a note" },
};

static struct pool *pool;

// The words as they are read: "tenant=acme +word yes", or what is wrong.
static struct str reading_of(const char *const *words, const struct option_row *table, size_t n_rows)
{
	char *argv[16];
	int argc = 0;
	struct options options;
	struct buf text = buf_new(pool, 128);
	enum option_kind kind;

	argv[argc++] = str_cstr(pool, STR("program"));
	for (size_t i = 0; words[i] != NULL; i++)
		argv[argc++] = str_cstr(pool, str_c(words[i]));
	argv[argc] = NULL;
	options_begin(&options, argc, argv);
	while ((kind = options_next(&options, table, n_rows)) != OPTION_END) {
		if (kind == OPTION_WRONG)
			return str_dup(pool, str_c(options.text));
		if (kind == OPTION_WORD)
			buf_addf(&text, "%s+%s", buf_str(&text).n > 0 ? " " : "", options.value);
		else
			buf_addf(&text, "%s%s=%s", buf_str(&text).n > 0 ? " " : "", table[options.row].name + 2, options.value);
	}
	return buf_str(&text);
}

#define READS(want, ...) \
	is_str(reading_of((const char *const[]){ __VA_ARGS__, NULL }, rows, COUNT_OF(rows)), want, "%s", #__VA_ARGS__)

static void test_reading(void)
{
	READS("tenant=acme", "--tenant", "acme");
	READS("tenant=acme", "--tenant=acme");
	READS("tenant=acme", "-t", "acme");
	READS("tenant=acme", "-tacme");
	READS("tenant=", "--tenant=");
	READS("tenant=", "--tenant", "");
	READS("tenant=a=b", "--tenant=a=b");
	READS("tenant=--yes", "--tenant", "--yes");
	READS("tenant=--", "--tenant", "--");
	READS("yes= quiet= tenant=acme", "-yqtacme");
	READS("+a yes= +b +-", "a", "--yes", "b", "-");
	READS("+a +--yes +-q +--", "a", "--", "--yes", "-q", "--");
	READS("+ +a", "", "a");
	READS("tenants=", "--tenants");
	is_str(reading_of((const char *const[]){ NULL }, rows, COUNT_OF(rows)), "", "nothing");
}

static void test_wrong(void)
{
	READS("--tenant needs a value: TENANT", "--tenant");
	READS("--tenant needs a value: TENANT", "a", "-t");
	READS("--yes takes no value", "--yes=no");
	READS("-x is no option here", "-x");
	READS("-x is no option here", "-yx");
	READS("-7 is no option here", "-7");
	READS("--nonsense is no option here", "--nonsense");
	READS("--nonsense is no option here", "--nonsense=--tenant");
	READS("--tenent is no option here (did you mean --tenant?)", "--tenent", "acme");
	READS("--tneant is no option here (did you mean --tenant?)", "--tneant=acme");
	READS("--yse is no option here (did you mean --yes?)", "--yse");
	READS("--descr is no option here (did you mean --description?)", "--descr", "x");
	READS("--ten is no option here (did you mean --tenant?)", "--ten");
	READS("--Yes is no option here (did you mean --yes?)", "--Yes");
	READS("--q is no option here", "--q");
}

// What may stand there differs from word to word.
static void test_tables(void)
{
	static const struct option_row other[] = { { "--node", 'n', "NODE", "" } };
	char program[] = "p", word[] = "show", option[] = "-n7", unknown[] = "--yes";
	char *argv[] = { program, word, option, unknown, NULL };
	struct options options;

	options_begin(&options, 4, argv);
	is_int(options_next(&options, rows, COUNT_OF(rows)), OPTION_WORD, "a word, by one table");
	is_int(options_next(&options, other, COUNT_OF(other)), OPTION_GIVEN, "an option, by another");
	is_str(str_c(options.value), "7", "its value");
	is_int(options_next(&options, other, COUNT_OF(other)), OPTION_WRONG, "what the first had, the second lacks");
	options_begin(&options, 4, argv);
	is_int(options_next(&options, NULL, 0), OPTION_WORD, "again from the start, without any option");
	is_int(options_next(&options, NULL, 0), OPTION_WRONG, "none is known then");
}

static void test_hostile(void)
{
	char *long_name = str_cstr(pool, str_printf(pool, "--%0*d", 5000, 0));

	ok(str_starts(reading_of((const char *const[]){ long_name, NULL }, rows, COUNT_OF(rows)), STR("--000")), "a long name");
	ok(options_nearest(rows, COUNT_OF(rows), str_c(long_name)) == NULL, "is near to none");
	ok(options_nearest(rows, COUNT_OF(rows), STR("--")) == NULL, "nor are two dashes");
	ok(options_nearest(rows, COUNT_OF(rows), STR("--\xff\xfe")) == NULL, "nor bytes that are no letters");
	ok(options_nearest(NULL, 0, STR("--tenant")) == NULL, "there may be none");
}

static void test_help(void)
{
	static const struct option_row shown[] = {
		{ "--columns", 0, "NAME,\xe2\x80\xa6", "which columns" }, { "--yes", 'y', NULL, "don't ask" },
		{ "--a-name-of-more-than-28-letters", 0, NULL, "long" },
	};
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	options_print(out, shown, COUNT_OF(shown));
	(void)fclose(out);
	is_str(str_c(text),
		"      --columns NAME,\xe2\x80\xa6          which columns\n"
		"  -y, --yes                     don't ask\n"
		"      --a-name-of-more-than-28-letters  long\n", "help");
	free(text);
}

int main(void)
{
	pool = pool_new();
	test_reading();
	test_wrong();
	test_tables();
	test_hostile();
	test_help();
	pool_free(&pool);
	return done_testing();
}
