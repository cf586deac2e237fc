// SPDX-License-Identifier: Apache-2.0
// Finds members of an object in its compact JSON text, without making a tree.
#include "base/base.h"

#include "base/budget.h"
#include "repr/json/internal.h"
#include "repr/json/part.h"

size_t json_skip_string(struct str text, size_t at)
{
	size_t backslashes;

	do {
		at = str_find(text, '"', at + 1);
		backslashes = 0;
		while (at < text.n && text.p[at - backslashes - 1] == '\\') // ends at the opening quote at the latest
			backslashes++;
	} while (backslashes % 2 == 1);
	return at + 1;
}

size_t json_skip_value(struct str text, size_t at)
{
	size_t depth = 0;

	while (at < text.n) {
		char c = text.p[at];
		if (c == '"') {
			at = json_skip_string(text, at);
			if (depth == 0)
				break;
			continue;
		}
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break; // behind a number or a word
		at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			break;
	}
	return at < text.n ? at : text.n;
}

bool json_members_next(struct json_members *members, struct str *name, struct str *value)
{
	struct str text = members->text;
	size_t quote = members->at + 1; // behind '{' or ','

	budget_work(1);
	if (quote >= text.n || text.p[quote] != '"')
		return false;
	size_t colon = json_skip_string(text, quote);
	members->at = json_skip_value(text, colon + 1);
	*name = str_part(text, quote + 1, colon - 1);
	*value = str_part(text, colon + 1, members->at);
	return true;
}

struct json_members json_members(struct str object)
{
	return (struct json_members){ object, 0 };
}

struct str json_members_rest(const struct json_members *members)
{
	size_t first = members->text.n > 0 ? 1 : 0; // behind the opening brace

	return str_part(members->text, members->at > first ? members->at : first, members->text.n);
}

bool json_members_find(struct json_members *members, struct str name, struct str *value)
{
	size_t start = members->at;
	struct str found;

	while (json_members_next(members, &found, value)) {
		if (str_eq(found, name))
			return true;
	}
	members->at = 0;
	while (members->at < start && json_members_next(members, &found, value)) {
		if (str_eq(found, name))
			return true;
	}
	*value = STR_NONE;
	return false;
}
