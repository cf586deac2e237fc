// SPDX-License-Identifier: Apache-2.0
// How deep a JSON text is nested: the quick count of brackets, by words, and the closer look give what a plain walk gives.
#include "base/base.h"

#include "repr/json/doc.h"
#include "tap.h"

static bool plain(struct str text, size_t depth)
{
	size_t here = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		if (quoted && text.p[i] == '\\')
			i++;
		else if (text.p[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text.p[i] == '{' || text.p[i] == '[') && ++here > depth)
			return false;
		else if (!quoted && (text.p[i] == '}' || text.p[i] == ']'))
			here--;
	}
	return true;
}

// Appends a random value of up to that depth.
static void add(char *text, size_t *n, int depth)
{
	static const char *const scalars[] = { "1", "null", "\"a\"", "\"[{\\\"{\"", "\"\xc3\x9b\xdb\xbb;\"", "-1.5" };
	int kind = depth > 0 ? rand() % 3 : 2, members = rand() % 3 + 1;

	if (kind == 2 || *n > 20000) {
		const char *scalar = scalars[rand() % (int)COUNT_OF(scalars)];
		memcpy(text + *n, scalar, strlen(scalar));
		*n += strlen(scalar);
		return;
	}
	text[(*n)++] = kind == 0 ? '[' : '{';
	for (int i = 0; i < members; i++) {
		if (i > 0)
			text[(*n)++] = ',';
		if (kind == 1) {
			memcpy(text + *n, "\"k\":", 4);
			*n += 4;
		}
		add(text, n, depth - 1);
	}
	text[(*n)++] = kind == 0 ? ']' : '}';
}

int main(void)
{
	static char text[65536];
	int wrong = 0, deep = 0;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t n = 0;
		add(text, &n, rand() % 12);
		for (size_t depth = 1; depth < 10; depth++) {
			bool expected = plain(str_n(text, n), depth);
			deep += !expected;
			wrong += json_within_depth(str_n(text, n), depth) != expected;
		}
	}
	is_int(wrong, 0, "as a plain walk has it");
	ok(deep > 1000, "%d of them are too deep", deep);
	ok(json_within_depth(STR("[[[[[[[["), 8), "a word of brackets");
	ok(!json_within_depth(STR("[[[[[[[[["), 8), "and one more");
	return done_testing();
}
