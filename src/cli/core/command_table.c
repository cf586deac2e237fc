// SPDX-License-Identifier: Apache-2.0
// Finds a command in a table of commands.
#include "base/base.h"

#include "base/ascii.h"
#include "cli/core/cli.h"
#include "cli/core/command_table.h"

enum { NOUNS_MAX = 64, VERBS_MAX = 64 };

bool cli_noun_known(const struct command *commands, const char *noun)
{
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (strcmp(c->noun, noun) == 0)
			return true;
	}
	return false;
}

const char *cli_noun_near(struct pool *pool, const struct command *commands, const char *typed)
{
	struct str plural = str_c(typed);
	const char *words[NOUNS_MAX];
	size_t n = 0;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (n > 0 && strcmp(words[n - 1], c->noun) == 0)
			continue;
		assert(n < NOUNS_MAX);
		words[n++] = c->noun;
		if (str_eq(plural, str_printf(pool, "%ss", c->noun)))
			return c->noun;
	}
	return options_nearest_word(words, n, plural);
}

static bool has_verb(const struct command *commands, const char *noun, const char *verb)
{
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->verb != NULL && strcmp(c->noun, noun) == 0 && strcmp(c->verb, verb) == 0)
			return true;
	}
	return false;
}

// What kubectl, openstack and the shell call a verb of that noun; NULL: nothing.
static const char *verb_elsewhere(const struct command *commands, const char *noun, const char *typed)
{
	static const struct {
		const char *theirs, *ours;
	} verbs[] = {
		{ "get", "show" }, { "describe", "show" }, { "view", "show" }, { "ls", "list" }, { "create", "set" }, { "add", "set" },
		{ "make", "set" }, { "new", "set" }, { "update", "set" }, { "apply", "set" }, { "replace", "set" }, { "remove", "delete" },
		{ "rm", "delete" }, { "del", "delete" }, { "destroy", "delete" }, { "restore", "recover" }, { "undelete", "recover" },
	};

	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (strcmp(verbs[i].theirs, typed) == 0 && has_verb(commands, noun, verbs[i].ours))
			return verbs[i].ours;
	}
	return NULL;
}

const char *cli_verb_of_resources(const struct command *commands, const char *typed)
{
	return has_verb(commands, "resource", typed) ? typed : verb_elsewhere(commands, "resource", typed);
}

const char *cli_verb_near(const struct command *commands, const char *noun, const char *typed)
{
	const char *words[VERBS_MAX], *same = verb_elsewhere(commands, noun, typed);
	size_t n = 0;

	if (same != NULL)
		return same;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->verb == NULL || strcmp(c->noun, noun) != 0)
			continue;
		assert(n < VERBS_MAX);
		words[n++] = c->verb;
	}
	return options_nearest_word(words, n, str_c(typed));
}

const struct command *cli_verb_elsewhere(const struct command *commands, const char *typed)
{
	const struct command *found = NULL;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (c->verb == NULL || strcmp(c->verb, typed) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = c;
	}
	return found;
}

// How many of the words are this verb; 0: they are not.
static size_t verb_matches(const char *verb, const char *const *words, size_t n)
{
	struct str rest = str_c(verb), word;
	size_t i = 0;

	while (str_split(&rest, ' ', &word)) {
		if (i == n || words[i] == NULL || !str_eq_c(word, words[i]))
			return 0;
		i++;
	}
	return i;
}

const struct command *command_find(const struct command *commands, const char *const *words, size_t n, size_t *used)
{
	const struct command *without = NULL;

	*used = 0;
	for (const struct command *c = commands; n > 0 && c->noun != NULL; c++) {
		if (strcmp(c->noun, words[0]) != 0)
			continue;
		size_t matched = c->verb != NULL ? verb_matches(c->verb, words + 1, n - 1) : 0;
		if (matched > 0) {
			*used = 1 + matched;
			return c;
		}
		if (c->verb == NULL)
			without = c;
	}
	*used = without != NULL ? 1 : 0;
	return without;
}

bool cli_is_type(const char *word)
{
	struct str s = str_c(word);

	for (size_t i = 0; i < s.n; i++) {
		if (!ascii_is_lower(s.p[i]) && (i == 0 || strchr("0123456789.-", s.p[i]) == NULL))
			return false;
	}
	return s.n > 0;
}
