// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// What a service sends, on its way to a terminal: nothing is left that a terminal obeys, and JSON says the same as before.
#include "fuzz.h"

#include "base/visible.h"
#include "cli/core/text.h"

static void check_tame(struct str text)
{
	MUST(str_utf8_ok(text, NULL));
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		MUST(c != 0x7f && (c >= 0x20 || c == '\n' || c == '\t'));
		// C1 controls and the marks that turn the writing direction: U+202A to U+202E, U+2066 to U+2069.
		MUST(i + 1 >= text.n || c != 0xc2 || (unsigned char)text.p[i + 1] >= 0xa0);
		MUST(i + 2 >= text.n || c != 0xe2 || (unsigned char)text.p[i + 1] != 0x80 ||
			(unsigned char)text.p[i + 2] < 0xaa || (unsigned char)text.p[i + 2] > 0xae);
		MUST(i + 2 >= text.n || c != 0xe2 || (unsigned char)text.p[i + 1] != 0x81 ||
			(unsigned char)text.p[i + 2] < 0xa6 || (unsigned char)text.p[i + 2] > 0xa9);
	}
}

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *doc, *again;
	struct str error = STR_NONE;
	struct buf out = buf_new(pool, 0);

	check_tame(visible_text(pool, input));
	MUST(visible_width(visible_text(pool, input)) <= 16 * input.n);
	if (!doc_parse_json(pool, input, (struct doc_limits){ 1000, 0 }, &doc, &error))
		return;
	doc_write_pretty(doc, &out);
	struct str tame = visible_json(pool, buf_str(&out));
	check_tame(tame);
	MUST(doc_parse_json(pool, tame, (struct doc_limits){ 1000, 0 }, &again, &error) && doc_equal(doc, again));
	check_tame(visible_text(pool, cli_text(pool, doc)));
}
