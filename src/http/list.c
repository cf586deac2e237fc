// SPDX-License-Identifier: Apache-2.0
// Lists in header fields, whose items may contain quoted strings.
#include "base/base.h"

#include "base/ascii.h"
#include "http/list.h"

// The offset of the separator, or the end of s. A quoted string that is not closed extends to the end.
static size_t item_end(struct str s, char separator)
{
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++) {
		if (quoted && s.p[i] == '\\')
			i++;
		else if (s.p[i] == '"')
			quoted = !quoted;
		else if (!quoted && s.p[i] == separator)
			return i;
	}
	return s.n;
}

bool list_next(struct str *rest, char separator, struct str *item)
{
	if (rest->p == NULL)
		return false;
	size_t end = item_end(*rest, separator);
	*item = str_trim(str_part(*rest, 0, end));
	*rest = end < rest->n ? str_part(*rest, end + 1, rest->n) : STR_NONE;
	return true;
}

bool list_pair(struct str item, struct str *name, struct str *value)
{
	size_t at = str_find(item, '=', 0);

	*name = str_trim(str_part(item, 0, at));
	*value = STR_NONE;
	if (at == item.n)
		return false;
	*value = str_trim(str_part(item, at + 1, item.n));
	if (value->n >= 2 && value->p[0] == '"' && value->p[value->n - 1] == '"')
		*value = str_part(*value, 1, value->n - 1);
	return true;
}

bool list_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!ascii_is_alnum(c) && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
			return false;
	}
	return s.n > 0;
}
