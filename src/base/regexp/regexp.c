// SPDX-License-Identifier: Apache-2.0
// The compiler: it writes the program while it reads the expression, in one pass. An operator that applies to a piece already
// written inserts an instruction before the piece, appends one behind it, or copies the piece.
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"
#include "base/regexp/internal.h"

enum { TEXT_MAX = 16 * 1024, DEPTH_MAX = 250, REPEAT_MAX = 1000 };

bool regexp_fail(struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str what = str_vprintf(reading->pool, format, args);
	va_end(args);
	*reading->why = str_printf(reading->pool, "at byte %zu: %.*s", reading->at + 1, STR_ARG(what));
	return false;
}

// A byte that begins no well-formed character is read as U+FFFD, so that every text can be matched.
int32_t regexp_char(struct str text, size_t *at)
{
	unsigned char first = (unsigned char)text.p[*at];
	size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	struct str sequence = str_part(text, *at, *at + n);
	int32_t c = first;

	if (n == 1 || !str_utf8_ok(sequence, NULL)) {
		(*at)++;
		return first < 0x80 ? c : 0xFFFD;
	}
	*at += n;
	c = n == 2 ? first & 0x1f : n == 3 ? first & 0x0f : first & 0x07;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)sequence.p[i] & 0x3f);
	return c;
}

// \w of RE2: ASCII only.
bool regexp_is_word(int32_t c)
{
	return c >= 0 && c < 0x80 && (ascii_is_alnum((char)c) || c == '_');
}

// ---- writing instructions

// Makes room for `more` instructions. False: the expression would have more than it may.
static bool has_room(struct reading *reading, size_t more)
{
	struct regexp *regexp = reading->regexp;

	if (more > reading->max - regexp->n)
		return regexp_fail(reading, "the expression is too large: written out, with every {n} as n copies, it may "
			"have %zu parts", reading->max);
	if (regexp->n + more <= regexp->room)
		return true;
	size_t room = regexp->room > 0 ? regexp->room * 2 : 16;
	while (room < regexp->n + more)
		room *= 2;
	struct instruction *code = POOL_ARRAY(reading->pool, struct instruction, room);
	if (regexp->n > 0)
		memcpy(code, regexp->code, regexp->n * sizeof(*code));
	regexp->code = code;
	regexp->room = room;
	return true;
}

// Appends an instruction.
static bool emit(struct reading *reading, enum regexp_op op, int32_t x, int32_t y)
{
	if (!has_room(reading, 1))
		return false;
	reading->regexp->code[reading->regexp->n++] = (struct instruction){ op, x, y };
	return true;
}

// Inserts an instruction at `start`, before the piece written since.
static bool insert(struct reading *reading, size_t start, enum regexp_op op, int32_t x, int32_t y)
{
	struct regexp *regexp = reading->regexp;

	if (!has_room(reading, 1))
		return false;
	memmove(&regexp->code[start + 1], &regexp->code[start], (regexp->n - start) * sizeof(*regexp->code));
	regexp->code[start] = (struct instruction){ op, x, y };
	regexp->n++;
	return true;
}

// Appends an instruction that matches one character of the set. A set of one range needs no class.
static bool emit_set(struct reading *reading, const struct char_set *set)
{
	struct regexp *regexp = reading->regexp;

	if (set->n == 1)
		return emit(reading, OP_RANGE, set->ranges[0].first, set->ranges[0].last);
	if (regexp->n_ranges + set->n > regexp->ranges_room) {
		size_t room = (regexp->n_ranges + set->n) * 2;
		struct range *ranges = POOL_ARRAY(reading->pool, struct range, room);
		if (regexp->n_ranges > 0)
			memcpy(ranges, regexp->ranges, regexp->n_ranges * sizeof(*ranges));
		regexp->ranges = ranges;
		regexp->ranges_room = room;
	}
	if (set->n > 0)
		memcpy(regexp->ranges + regexp->n_ranges, set->ranges, set->n * sizeof(*set->ranges));
	regexp->n_ranges += set->n;
	return emit(reading, OP_CLASS, (int32_t)(regexp->n_ranges - set->n), (int32_t)set->n);
}

// Appends an instruction that matches c, or c in both cases with the flag i.
static bool emit_char(struct reading *reading, int32_t c)
{
	struct char_set set = { .pool = reading->pool };

	if ((reading->flags & FLAG_NOCASE) == 0)
		return emit(reading, OP_RANGE, c, c);
	char_set_add(&set, c, c);
	char_set_add_other_cases(&set);
	char_set_finish(&set);
	return emit_set(reading, &set);
}

// ".": every character but a line end; with the flag s every character.
static bool emit_dot(struct reading *reading)
{
	struct char_set set = { .pool = reading->pool };

	if ((reading->flags & FLAG_DOT_ALL) != 0)
		return emit(reading, OP_RANGE, 0, CHAR_LAST);
	char_set_add(&set, '\n', '\n');
	char_set_finish(&set);
	char_set_invert(&set);
	return emit_set(reading, &set);
}

// ---- repeating

// least to most times; endless: at least `least` times.
struct repetition {
	unsigned least, most;
	bool endless;
};

// Makes the piece from `start` to the end repeat any number of times ("*"). An empty piece stays as it is.
static bool loop(struct reading *reading, size_t start)
{
	int32_t n = (int32_t)(reading->regexp->n - start);

	return n == 0 || (insert(reading, start, OP_SPLIT, 1, n + 2) && emit(reading, OP_JUMP, -(n + 1), 0));
}

// Appends a copy of the n instructions from start. Relative jumps make copies correct as they are.
static bool copy(struct reading *reading, size_t start, size_t n)
{
	struct regexp *regexp = reading->regexp;

	if (!has_room(reading, n))
		return false;
	memcpy(&regexp->code[regexp->n], &regexp->code[start], n * sizeof(*regexp->code));
	regexp->n += n;
	return true;
}

// Repeats the piece from `start`: as many copies as are required, then as many as are optional. Before each optional copy a split
// can skip to the end.
static bool repeat(struct reading *reading, size_t start, struct repetition times)
{
	struct regexp *regexp = reading->regexp;
	size_t n = regexp->n - start;
	unsigned optional = times.endless ? 0 : times.most - times.least;

	if (n == 0)
		return true;
	if (times.endless && times.least == 0)
		return loop(reading, start);
	if (times.least == 0 && optional == 0) {
		regexp->n = start;
		return true;
	}
	for (unsigned i = 1; i < times.least; i++) {
		if (!copy(reading, start, n))
			return false;
	}
	if (times.endless)
		return emit(reading, OP_SPLIT, -(int32_t)n, 1);
	// If no copy is required, the piece already written serves as the first optional copy.
	if (times.least == 0 && !insert(reading, start, OP_SPLIT, 1, (int32_t)(optional * (n + 1))))
		return false;
	size_t piece = times.least == 0 ? start + 1 : start;
	for (unsigned i = times.least == 0 ? 1 : 0; i < optional; i++) {
		if (!emit(reading, OP_SPLIT, 1, (int32_t)((optional - i) * (n + 1))) || !copy(reading, piece, n))
			return false;
	}
	return true;
}

static bool read_count(struct reading *reading, struct str digits, unsigned *count)
{
	uint64_t value;

	if (!str_to_u64(digits, &value) || value > REPEAT_MAX)
		return regexp_fail(reading, "a piece is repeated %d times at most", REPEAT_MAX);
	*count = (unsigned)value;
	return true;
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	}
	return true;
}

// Reads "{n,m}". False with *why STR_NONE: it is only the character "{".
static bool read_braces(struct reading *reading, struct repetition *times)
{
	size_t end = str_find(reading->text, '}', reading->at);
	struct str inside = str_part(reading->text, reading->at + 1, end);
	size_t comma = str_find(inside, ',', 0);
	struct str least = str_part(inside, 0, comma), most = str_part(inside, comma + 1, inside.n);

	*reading->why = STR_NONE;
	if (end == reading->text.n || least.n == 0 || !is_digits(least) || !is_digits(most))
		return false;
	times->endless = comma < inside.n && most.n == 0;
	if (!read_count(reading, least, &times->least) || (most.n > 0 && !read_count(reading, most, &times->most)))
		return false;
	if (comma == inside.n)
		times->most = times->least;
	if (!times->endless && times->most < times->least)
		return regexp_fail(reading, "{n,m} needs an m that is not below n");
	reading->at = end + 1;
	return true;
}

// Reads a repetition if one follows. False without a text in *why if none follows; false with one if it is wrong.
static bool read_repetition(struct reading *reading, struct repetition *times)
{
	char c = reading->at < reading->text.n && !reading->quoted ? reading->text.p[reading->at] : '\0';

	*reading->why = STR_NONE;
	switch (c) {
	case '*': *times = (struct repetition){ 0, 0, true }; break;
	case '+': *times = (struct repetition){ 1, 0, true }; break;
	case '?': *times = (struct repetition){ 0, 1, false }; break;
	case '{': return read_braces(reading, times);
	default: return false;
	}
	reading->at++;
	return true;
}

static bool read_repetitions(struct reading *reading, size_t start)
{
	struct repetition times = { 0, 0, false }, another;

	if (!read_repetition(reading, &times))
		return reading->why->p == NULL;
	// A lazy form matches the same texts, so its "?" is skipped.
	if (reading->at < reading->text.n && reading->text.p[reading->at] == '?')
		reading->at++;
	if (!repeat(reading, start, times))
		return false;
	if (read_repetition(reading, &another))
		return regexp_fail(reading, "what is repeated already is repeated again only in a group: (?:a*)*");
	return reading->why->p == NULL;
}

// ---- pieces

static bool read_alternatives(struct reading *reading);

static bool read_group_name(struct reading *reading)
{
	size_t from = str_find(reading->text, '<', reading->at) + 1, end = str_find(reading->text, '>', reading->at);
	struct str name = str_part(reading->text, from, end);
	bool good = end < reading->text.n && name.n > 0;

	for (size_t i = 0; i < name.n; i++)
		good = good && regexp_is_word(name.p[i]);
	if (!good)
		return regexp_fail(reading, "a group's name is letters, digits and \"_\": (?P<name>…)");
	reading->at = end + 1;
	return true;
}

// Reads flags behind "(?", up to and including ")" or ":". *ends: it was ")".
static bool read_flags(struct reading *reading, bool *ends)
{
	bool clear = false;

	while (reading->at < reading->text.n) {
		char c = reading->text.p[reading->at++];
		unsigned flag = c == 'i' ? FLAG_NOCASE : c == 'm' ? FLAG_LINES : c == 's' ? FLAG_DOT_ALL : 0;

		*ends = c == ')';
		if (c == ')' || c == ':')
			return true;
		if (c == '-' && !clear)
			clear = true;
		else if (flag == 0 && c != 'U')
			break;
		else
			reading->flags = clear ? reading->flags & ~flag : reading->flags | flag;
	}
	return regexp_fail(reading, "behind \"(?\" comes \":\", \"P<name>\", or some of the flags i, m, s, U; there is no "
		"look-around");
}

// Reads a group; reading->at is at its "(".
static bool read_group(struct reading *reading)
{
	unsigned flags = reading->flags;
	struct str rest = str_part(reading->text, ++reading->at, reading->text.n);
	bool ends = false;

	if (str_starts(rest, STR("?P<")) || (str_starts(rest, STR("?<")) && rest.n > 2 && regexp_is_word(rest.p[2]))) {
		if (!read_group_name(reading))
			return false;
	} else if (str_starts(rest, STR("?"))) {
		reading->at++;
		if (!read_flags(reading, &ends))
			return false;
	}
	if (ends)
		return true; // these flags hold to the end of the enclosing group
	if (++reading->depth > DEPTH_MAX)
		return regexp_fail(reading, "groups are nested up to %d deep", DEPTH_MAX);
	if (!read_alternatives(reading))
		return false;
	reading->depth--;
	if (reading->at == reading->text.n)
		return regexp_fail(reading, "the \")\" that ends a group is missing");
	reading->at++;
	reading->flags = flags;
	return true;
}

// Reads an escape; reading->at is behind the "\".
static bool read_escape(struct reading *reading)
{
	static const struct { char letter; enum assertion assertion; } assertions[] = {
		{ 'A', BEGIN_TEXT }, { 'z', END_TEXT }, { 'b', WORD_EDGE }, { 'B', NO_WORD_EDGE },
	};
	char c = reading->at < reading->text.n ? reading->text.p[reading->at] : '\0';
	struct char_set set = { .pool = reading->pool };
	int32_t plain;

	for (size_t i = 0; i < COUNT_OF(assertions); i++) {
		if (c == assertions[i].letter) {
			reading->at++;
			return emit(reading, OP_ASSERT, (int32_t)assertions[i].assertion, 0);
		}
	}
	if (char_set_add_perl(&set, c)) {
		reading->at++;
		char_set_finish(&set);
		return emit_set(reading, &set);
	}
	return regexp_read_escape(reading, &plain) && emit_char(reading, plain);
}

static bool read_plain(struct reading *reading)
{
	return emit_char(reading, regexp_char(reading->text, &reading->at));
}

static bool read_piece(struct reading *reading)
{
	struct char_set set = { .pool = reading->pool };
	bool lines = (reading->flags & FLAG_LINES) != 0;

	if (reading->quoted)
		return read_plain(reading);
	switch (reading->text.p[reading->at]) {
	case '(':
		return read_group(reading);
	case '[':
		return regexp_read_class(reading, &set) && emit_set(reading, &set);
	case '.':
		reading->at++;
		return emit_dot(reading);
	case '^':
		reading->at++;
		return emit(reading, OP_ASSERT, lines ? BEGIN_LINE : BEGIN_TEXT, 0);
	case '$':
		reading->at++;
		return emit(reading, OP_ASSERT, lines ? END_LINE : END_TEXT, 0);
	case '\\':
		reading->at++;
		return read_escape(reading);
	case '*': case '+': case '?':
		return regexp_fail(reading, "there is nothing before this to be repeated; write \\* for the character");
	default:
		return read_plain(reading);
	}
}

// Skips "\Q" and "\E", and notes whether the text between them is read.
static void read_quotes(struct reading *reading)
{
	struct str text = reading->text;

	while (str_eq(str_part(text, reading->at, reading->at + 2), reading->quoted ? STR("\\E") : STR("\\Q"))) {
		reading->quoted = !reading->quoted;
		reading->at += 2;
	}
}

static bool read_sequence(struct reading *reading)
{
	for (;;) {
		read_quotes(reading);
		if (reading->at == reading->text.n)
			return true;
		char c = reading->text.p[reading->at];
		size_t start = reading->regexp->n;
		if (!reading->quoted && (c == '|' || c == ')'))
			return true;
		if (!read_piece(reading))
			return false;
		read_quotes(reading);
		if (!read_repetitions(reading, start))
			return false;
	}
}

// Reads a|b|c: a split stands before each alternative but the last, and a jump to the end behind it. Until the end is known, the
// jumps form a list: each holds the place of the one before.
static bool read_alternatives(struct reading *reading)
{
	struct regexp *regexp = reading->regexp;
	int32_t last_jump = -1;

	for (;;) {
		size_t start = regexp->n;
		if (!read_sequence(reading))
			return false;
		if (reading->at == reading->text.n || reading->text.p[reading->at] == ')')
			break;
		reading->at++;
		int32_t n = (int32_t)(regexp->n - start);
		if (!insert(reading, start, OP_SPLIT, 1, n + 2) || !emit(reading, OP_JUMP, last_jump, 0))
			return false;
		last_jump = (int32_t)regexp->n - 1;
	}
	while (last_jump >= 0) {
		int32_t earlier = regexp->code[last_jump].x;
		regexp->code[last_jump].x = (int32_t)regexp->n - last_jump;
		last_jump = earlier;
	}
	return true;
}

struct regexp *regexp_new(struct pool *pool, struct str text, size_t max, struct str *why)
{
	struct reading reading = { .pool = pool, .regexp = POOL_NEW(pool, struct regexp), .text = text, .why = why,
		.max = max < REGEXP_SIZE_MAX ? max : REGEXP_SIZE_MAX };

	*why = STR_NONE;
	if (text.n > TEXT_MAX) {
		*why = str_printf(pool, "the expression has %zu bytes; it may have %d", text.n, TEXT_MAX);
		return NULL;
	}
	if (!read_alternatives(&reading))
		return NULL;
	if (reading.at < text.n) {
		regexp_fail(&reading, "this \")\" ends no group; write \\) for the character");
		return NULL;
	}
	return reading.regexp;
}

size_t regexp_size(const struct regexp *regexp)
{
	return regexp->n;
}
