// SPDX-License-Identifier: Apache-2.0
// The built-in types, by the words that people type.
#include "base/base.h"

#include "base/ascii.h"
#include "base/options.h"
#include "cli/core/offered_types.h"

const struct offered_type offered_types[] = {
#define TYPE_OFFERED true
#define TYPE_HIDDEN false
#define IN_NAMESPACED true
#define IN_TENANT false
#define IN_CLUSTER false
#define OWNED_NAMESPACED true
#define OWNED_TENANT true
#define OWNED_CLUSTER false
#define SHORT(one) { one }
#define SHORTS(one, two) { one, two }
#define NO_SHORT { NULL }
#define BUILTIN_TYPE(parts, rules, offered, group, kind, plural, scope, shorts, ...) \
	{ group, kind, plural, shorts, TYPE_##offered, IN_##scope, OWNED_##scope },
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
	{ .plural = NULL },
};

// The singular name of a type is its kind in lower case.
static bool is_singular(const struct offered_type *type, const char *word)
{
	size_t i = 0;

	while (word[i] != '\0' && (type->kind[i] == word[i] || type->kind[i] == ascii_to_upper(word[i])))
		i++;
	return word[i] == '\0' && type->kind[i] == '\0';
}

const char *type_plural(const char *word)
{
	for (const struct offered_type *t = offered_types; t->plural != NULL; t++) {
		if (t->offered && is_singular(t, word))
			return t->plural;
		for (size_t i = 0; i < COUNT_OF(t->short_names) && t->short_names[i] != NULL; i++) {
			if (t->offered && strcmp(t->short_names[i], word) == 0)
				return t->plural;
		}
	}
	return word;
}

const char *type_plural_near(const char *word)
{
	const char *words[COUNT_OF(offered_types)];
	size_t n = 0;

	for (const struct offered_type *t = offered_types; t->plural != NULL; t++)
		if (t->offered)
			words[n++] = t->plural;
	return options_nearest_word(words, n, str_c(word));
}
