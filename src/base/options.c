// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <getopt.h>

#include "base/options.h"

enum {
	FIRST_LONG = 256,  // what getopt_long returns for row 0; letters are smaller
	NAME_MAX_SHOWN = 64, // bytes of an unknown option that an error repeats
	COLUMN = 28,       // width of "-t, --tenant TENANT" in the help text
};

// ---- suggestions ("did you mean")

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

// The edit distance: how many letters must be inserted, removed, replaced or exchanged with their neighbour. Both texts have at
// most NAME_MAX_SHOWN bytes.
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][NAME_MAX_SHOWN + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	assert(a.n <= NAME_MAX_SHOWN && b.n <= NAME_MAX_SHOWN);
	memset(rows, 0, sizeof(rows));
	for (size_t k = 0; k <= b.n; k++)
		last[k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		now[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			now[k] = least(least(last[k], now[k - 1]) + 1, last[k - 1] + (a.p[i - 1] != b.p[k - 1]));
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
		size_t *oldest = before;
		before = last;
		last = now;
		now = oldest;
	}
	return last[b.n];
}

// A search for the word that is most similar to what was typed.
struct nearest {
	struct str typed;
	size_t prefix;  // bytes at the beginning that all words have in common
	size_t differs; // of the nearest word so far; before there is one, the most letters that may differ
	bool found;
};

// Is this word nearer than those before?
static bool is_nearer(struct nearest *nearest, struct str word)
{
	const size_t fewest_letters = 3;
	struct str typed = nearest->typed;

	if (typed.n <= nearest->prefix || typed.n > NAME_MAX_SHOWN || word.n > NAME_MAX_SHOWN)
		return false;
	bool begins = typed.n >= nearest->prefix + fewest_letters && str_starts(word, typed);
	size_t differs = begins ? 0 : distance(typed, word);
	if (differs > nearest->differs || (differs == nearest->differs && nearest->found))
		return false;
	nearest->differs = differs;
	nearest->found = true;
	return true;
}

static struct nearest nearest_begin(struct str typed, size_t prefix)
{
	// One letter in four, and one of three: "lst" is near to "list".
	return (struct nearest){ .typed = typed, .prefix = prefix, .differs = (typed.n - prefix == 3) ? 1 : typed.n / 4 };
}

const struct option_row *options_nearest(const struct option_row *rows, size_t n, struct str typed)
{
	struct nearest nearest = nearest_begin(typed, 2); // the dashes
	const struct option_row *row = NULL;

	assert(rows != NULL || n == 0);
	for (size_t i = 0; i < n; i++) {
		if (is_nearer(&nearest, str_c(rows[i].name)))
			row = &rows[i];
	}
	return row;
}

const char *options_nearest_word(const char *const *words, size_t n, struct str typed)
{
	struct nearest nearest = nearest_begin(typed, 0);
	const char *word = NULL;

	for (size_t i = 0; i < n; i++) {
		if (is_nearer(&nearest, str_c(words[i])))
			word = words[i];
	}
	return word;
}

// ---- parsing

void options_begin(struct options *options, int argc, char **argv)
{
	assert(argc > 0 && argv != NULL);
	*options = (struct options){ .argc = argc, .argv = argv };
	optind = 0; // makes glibc's getopt_long begin with a new command line
	opterr = 0;
}

// Makes the third argument of getopt_long. "-": words are returned at their place; ":": a missing value is distinguished from an
// unknown option; then the letters.
static void make_letters(const struct option_row *rows, size_t n, char *letters)
{
	char *end = letters;

	*end++ = '-';
	*end++ = ':';
	for (size_t i = 0; i < n; i++) {
		if (rows[i].letter == 0)
			continue;
		*end++ = rows[i].letter;
		if (rows[i].value != NULL)
			*end++ = ':';
	}
	*end = '\0';
}

static void make_names(const struct option_row *rows, size_t n, struct option *names)
{
	const size_t dashes = 2;

	for (size_t i = 0; i < n; i++) {
		names[i] = (struct option){ .name = rows[i].name + dashes, .val = FIRST_LONG + (int)i,
			.has_arg = rows[i].value != NULL ? required_argument : no_argument };
	}
	names[n] = (struct option){ .name = NULL };
}

static size_t row_of(const struct option_row *rows, size_t n, int found)
{
	size_t row = 0;

	if (found >= FIRST_LONG)
		return (size_t)(found - FIRST_LONG);
	while (row < n && rows[row].letter != found)
		row++;
	return row;
}

static enum option_kind wrong(struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);
static enum option_kind wrong(struct options *options, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(options->text, sizeof(options->text), format, args);
	va_end(args);
	return OPTION_WRONG;
}

static enum option_kind unknown(struct options *options, const struct option_row *rows, size_t n, struct str typed)
{
	const struct option_row *nearest = options_nearest(rows, n, typed);

	return wrong(options, "%.*s is no option here%s%s%s", STR_HEAD_ARG(typed, NAME_MAX_SHOWN),
		nearest != NULL ? " (did you mean " : "", nearest != NULL ? nearest->name : "", nearest != NULL ? "?)" : "");
}

enum option_kind options_next(struct options *options, const struct option_row *rows, size_t n)
{
	char letters[2 * OPTIONS_MAX + 3];
	struct option names[OPTIONS_MAX + 1];

	assert(n <= OPTIONS_MAX);
	if (options->over) {
		options->value = optind < options->argc ? options->argv[optind++] : NULL;
		return options->value != NULL ? OPTION_WORD : OPTION_END;
	}
	make_letters(rows, n, letters);
	make_names(rows, n, names);
	// With "-" in letters, getopt_long reads the words in their order, so this is the word that it reads next.
	struct str typed = str_c(options->argv[optind > 0 ? optind : 1]);
	bool is_long = str_starts(typed, STR("--"));
	int found = getopt_long(options->argc, options->argv, letters, names, NULL);

	typed = is_long ? str_part(typed, 0, str_find(typed, '=', 0)) : typed;
	if (found == -1) {
		options->over = true;
		return options_next(options, rows, n);
	}
	if (found == 1) {
		options->value = optarg;
		return OPTION_WORD;
	}
	size_t row = row_of(rows, n, found == '?' || found == ':' ? optopt : found);
	if (row >= n && !is_long)
		return wrong(options, "-%c is no option here", optopt);
	if (row >= n || (is_long && !str_eq_c(typed, rows[row].name)))
		return unknown(options, rows, n, typed);
	if (found == ':')
		return wrong(options, "%s needs a value: %s", rows[row].name, rows[row].value);
	if (found == '?')
		return wrong(options, "%s takes no value", rows[row].name);
	options->row = row;
	options->value = rows[row].value != NULL ? optarg : "";
	return OPTION_GIVEN;
}

// ---- help

// The number of characters, which is the width of the text if all have the same width.
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80; // counts the first byte of each character
	return n;
}

void options_print(FILE *out, const struct option_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = rows[i].value != NULL ? rows[i].value : "";
		char letter[] = "    ";
		size_t width = sizeof(letter) - 1 + width_of(rows[i].name) + (value[0] != '\0') + width_of(value);

		if (rows[i].letter != 0)
			(void)snprintf(letter, sizeof(letter), "-%c, ", rows[i].letter);
		fprintf(out, "  %s%s%s%s%*s  %s\n", letter, rows[i].name, value[0] != '\0' ? " " : "", value,
			(int)(width < COLUMN ? COLUMN - width : 0), "", rows[i].help);
	}
}
