// SPDX-License-Identifier: Apache-2.0
// Parses and compares entity tags of If-Match and If-None-Match.
#include "base/base.h"

#include "http/conditional.h"

// Removes blanks, and tabs, from the beginning of *rest.
static void skip_blanks(struct str *rest)
{
	while (rest->n > 0 && (rest->p[0] == ' ' || rest->p[0] == '\t'))
		*rest = str_part(*rest, 1, rest->n);
}

static struct str without_weak(struct str tag)
{
	return str_starts(tag, STR("W/")) || str_starts(tag, STR("w/")) ? str_part(tag, 2, tag.n) : tag;
}

// The tag without a suffix that a compressing proxy appended.
static struct str without_suffix(struct str tag)
{
	static const char *const suffixes[] = { "-gzip", ";gzip", "-br", "-deflate", "-zstd" };

	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		struct str suffix = str_c(suffixes[i]);
		if (tag.n > suffix.n && str_ends(tag, suffix))
			return str_part(tag, 0, tag.n - suffix.n);
	}
	return tag;
}

static bool is_tag_char(char c, bool quoted)
{
	unsigned char byte = (unsigned char)c;

	if (byte < 0x21 || byte == 0x7f || c == '"')
		return false;
	return quoted || c != ',';
}

// Cuts one tag off *rest, which is not empty. False if *rest does not begin with a tag.
static bool cut_tag(struct str *rest, struct str *tag)
{
	*rest = without_weak(*rest);
	bool quoted = str_starts(*rest, STR("\""));
	if (quoted)
		*rest = str_part(*rest, 1, rest->n);
	size_t n = 0;
	while (n < rest->n && is_tag_char(rest->p[n], quoted))
		n++;
	*tag = without_suffix(without_weak(str_part(*rest, 0, n)));
	*rest = str_part(*rest, n, rest->n);
	if (quoted) {
		if (!str_starts(*rest, STR("\"")))
			return false;
		*rest = str_part(*rest, 1, rest->n);
	}
	return tag->n > 0;
}

static bool add_tag(struct tag_list *list, struct str *rest)
{
	struct str tag;

	if (list->n == CONDITIONAL_MAX_TAGS || !cut_tag(rest, &tag) || str_eq_c(tag, "*"))
		return false;
	list->tags[list->n++] = tag;
	skip_blanks(rest);
	return rest->n == 0 || rest->p[0] == ',';
}

bool conditional_parse(struct str value, struct tag_list *list)
{
	*list = (struct tag_list){ .present = value.p != NULL };
	if (!list->present)
		return true;
	struct str rest = str_trim(value);
	if (str_eq_c(rest, "*")) {
		list->any = true;
		return true;
	}
	while (rest.n > 0) {
		if (rest.p[0] == ',' || rest.p[0] == ' ' || rest.p[0] == '\t')
			rest = str_part(rest, 1, rest.n);
		else if (!add_tag(list, &rest))
			return false;
	}
	return list->n > 0;
}

bool conditional_matches(const struct tag_list *list, struct str tag)
{
	if (list->any)
		return true;
	for (size_t i = 0; i < list->n; i++) {
		if (str_eq_nocase(list->tags[i], tag))
			return true;
	}
	return false;
}
