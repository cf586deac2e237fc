// SPDX-License-Identifier: Apache-2.0
// The input of commands: names, documents, single members.
#include "base/base.h"

#include "cli/core/cli.h"

enum { DEPTH = 200 };

struct names {
	const char **list; // ends with NULL
	size_t n, room;
};

static void add_name(struct cli *cli, struct names *names, const char *name)
{
	if (names->n + 1 >= names->room) {
		names->room = names->room * 2 + 16;
		const char **larger = POOL_ARRAY(cli->pool, const char *, names->room);
		if (names->n > 0)
			memcpy(larger, names->list, names->n * sizeof(*larger));
		names->list = larger;
	}
	names->list[names->n++] = name;
}

// Adds the lines of standard input. False: an error was printed.
static bool add_lines(struct cli *cli, struct names *names)
{
	struct str text, line;

	text.p = cli_read_whole(cli->pool, "-", &text.n);
	if (text.p == NULL)
		return false;
	while (str_split(&text, '\n', &line)) {
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n == 0)
			continue;
		if (memchr(line.p, '\0', line.n) != NULL) {
			cli_fail(EX_DATAERR, "a name on standard input holds a NUL");
			return false;
		}
		// A document that is piped to a command that takes "-" for names would be made the name of a resource.
		if (line.p[0] == '{' && (cli->command->options & HAS(OPT_FILE)) != 0) {
			cli_fail(EX_DATAERR, "\"-\" takes names from standard input, one a line, and there is a document; --file - reads that");
			return false;
		}
		add_name(cli, names, str_cstr(cli->pool, line));
	}
	return true;
}

const char **cli_input_names(struct cli *cli, size_t first, size_t end)
{
	struct names names = { .n = 0 };

	for (size_t i = first; i < end; i++) {
		if (strcmp(cli->arguments[i], "-") != 0)
			add_name(cli, &names, cli->arguments[i]);
		else if (!add_lines(cli, &names))
			return NULL;
	}
	if (names.n == 0)
		cli_fail(EX_NOINPUT, "no name came on standard input");
	return names.list;
}

int cli_input_parse(struct cli *cli, struct str text, const char *where, struct doc **document)
{
	struct str error;

	if (!doc_parse_json(cli->pool, text, (struct doc_limits){ DEPTH, 0 }, document, &error))
		return cli_fail(EX_DATAERR, "%s: %.*s", where, STR_ARG(error));
	return EX_OK;
}

void doc_set_path(struct pool *pool, struct doc *object, struct str path, struct doc *value)
{
	size_t dot = str_find(path, '.', 0);
	const struct doc *inner;

	if (dot == path.n) {
		doc_set(object, path, value);
		return;
	}
	struct str name = str_part(path, 0, dot);
	struct doc *next = doc_get(object, name, &inner) && doc_kind(inner) == DOC_OBJECT ? doc_copy(pool, inner)
		: doc_new_object(pool);
	doc_set_path(pool, next, str_part(path, dot + 1, path.n), value);
	doc_set(object, name, next);
}

bool cli_input_assignment(struct cli *cli, const char *word, struct str *name, struct doc **value)
{
	struct str text = str_c(word);
	size_t equals = str_find(text, '=', 0);
	bool json = equals > 0 && equals < text.n && text.p[equals - 1] == ':';

	*name = str_part(text, 0, json ? equals - 1 : equals);
	struct str given = str_part(text, equals + 1, text.n);
	if (equals == text.n || name->n == 0 || !str_utf8_ok(text, NULL)) {
		cli_fail(EX_USAGE, "\"%s\" is not NAME=VALUE or NAME:=JSON", word);
		return false;
	}
	if (json)
		return cli_input_parse(cli, given, word, value) == EX_OK;
	cli_note_string(cli, *name, given);
	*value = doc_new_string(cli->pool, given);
	return true;
}

// Parses a document that was given as a whole. The null of JSON is refused: as a struct doc it is NULL, which callers take for a
// document that was not given, so it would be sent as an empty one.
static int parse_given(struct cli *cli, struct str text, const char *where, struct doc **document)
{
	int code = cli_input_parse(cli, text, where, document);

	return code == EX_OK && *document == NULL ? cli_fail(EX_DATAERR, "%s: null is no document: expected { … }", where) : code;
}

int cli_input_document(struct cli *cli, size_t first, struct doc **document)
{
	const char *file = cli->options[OPT_FILE], *patch = cli->options[OPT_PATCH];
	struct str text, name;
	struct doc *value;

	*document = NULL;
	if ((file != NULL) + (patch != NULL) + (cli->n_arguments > first) > 1)
		return cli_fail(EX_USAGE, "one of --file, --patch and MEMBER=VALUE, not several");
	if (patch != NULL)
		return parse_given(cli, str_c(patch), "--patch", document);
	if (file != NULL) {
		text.p = cli_read_whole(cli->pool, file, &text.n);
		return text.p != NULL ? parse_given(cli, text, file, document) : EX_NOINPUT;
	}
	for (size_t i = first; i < cli->n_arguments; i++) {
		if (!cli_input_assignment(cli, cli->arguments[i], &name, &value))
			return EX_USAGE;
		if (*document == NULL)
			*document = doc_new_object(cli->pool);
		doc_set_path(cli->pool, *document, name, value);
	}
	return EX_OK;
}
