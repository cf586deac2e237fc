// SPDX-License-Identifier: Apache-2.0
// What the command line could have said where the service refuses a string: `size=3` sets the string "3", `size:=3` the number.
#include "base/base.h"

#include "base/ascii.h"
#include "cli/core/cli.h"

enum { SHOWN = 60 }; // bytes of a value; a longer one is not repeated

struct assigned {
	struct str name, value;
	struct assigned *earlier;
};

void cli_note_string(struct cli *cli, struct str name, struct str value)
{
	struct assigned *assigned = POOL_NEW(cli->pool, struct assigned);

	*assigned = (struct assigned){ name, value, cli->assigned };
	cli->assigned = assigned;
}

// Does the service say that it met a string where it wants something else? Each dialect has its own words for that.
static bool blames_a_string(const char *text)
{
	return strstr(text, ", not a string") != NULL || strstr(text, ": \"string\"") != NULL || strstr(text, " is not of type '") != NULL;
}

static bool is_of_name(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '-';
}

// Has the text this word, not as a part of a longer one?
static bool has_word(struct str text, struct str word)
{
	for (size_t at = 0; at + word.n <= text.n; at++) {
		if (memcmp(text.p + at, word.p, word.n) == 0 && (at == 0 || !is_of_name(text.p[at - 1])) &&
			(at + word.n == text.n || !is_of_name(text.p[at + word.n])))
			return true;
	}
	return false;
}

static struct str last_name(struct str path)
{
	size_t dot = path.n;

	while (dot > 0 && path.p[dot - 1] != '.')
		dot--;
	return str_part(path, dot, path.n);
}

static const char *name_of_kind(enum doc_kind kind)
{
	switch (kind) {
	case DOC_NULL: return "null";
	case DOC_BOOL: return "true or false";
	case DOC_NUMBER: return "a number";
	case DOC_ARRAY: return "an array";
	case DOC_OBJECT: return "an object";
	case DOC_STRING: break;
	}
	return "a string";
}

static void hint(struct cli *cli, const struct assigned *assigned)
{
	struct doc *value;
	struct str error;

	if (assigned->value.n <= SHOWN && doc_parse_json(cli->pool, assigned->value, (struct doc_limits){ SHOWN, 0 }, &value, &error) &&
		doc_kind(value) != DOC_STRING)
		cli_fail(0, "  %.*s=%.*s sets a string, %.*s:=%.*s sets %s", STR_ARG(assigned->name), STR_ARG(assigned->value),
			STR_ARG(assigned->name), STR_ARG(assigned->value), name_of_kind(doc_kind(value)));
	else
		cli_fail(0, "  %.*s=VALUE sets a string, %.*s:=JSON any value, such as 3, true or [\"a\"]", STR_ARG(assigned->name),
			STR_ARG(assigned->name));
}

void cli_hint_kinds(struct cli *cli, const char *text)
{
	if (!blames_a_string(text))
		return;
	for (const struct assigned *one = cli->assigned; one != NULL; one = one->earlier) {
		if (has_word(str_c(text), last_name(one->name)))
			hint(cli, one);
	}
}
