// SPDX-License-Identifier: Apache-2.0
// JSON Pointer (RFC 6901).
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"

// One reference token with ~1 and ~0 resolved; a view of text where there is nothing to resolve.
static bool unescape(struct pool *pool, struct str text, struct str *token)
{
	struct buf out;

	*token = text;
	if (str_find(text, '~', 0) == text.n)
		return true;
	out = buf_new(pool, text.n);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '~') {
			buf_addc(&out, text.p[i]);
			continue;
		}
		if (++i == text.n || (text.p[i] != '0' && text.p[i] != '1'))
			return false;
		buf_addc(&out, text.p[i] == '0' ? '~' : '/');
	}
	*token = buf_str(&out);
	return true;
}

static size_t count_slashes(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '/' ? 1 : 0;
	return n;
}

bool pointer_parse(struct pool *pool, struct str text, struct pointer *pointer, const char **why)
{
	struct str rest, part, *tokens;

	*pointer = (struct pointer){ .n = 0 };
	if (text.n == 0)
		return true;
	*why = "begins with \"/\", unless it is empty";
	if (text.p[0] != '/')
		return false;
	*why = "has \"~\" only as \"~0\" (for \"~\") and \"~1\" (for \"/\")";
	pointer->tokens = tokens = POOL_ARRAY(pool, struct str, count_slashes(text));
	rest = str_part(text, 1, text.n);
	if (rest.n == 0)
		rest = STR(""); // str_split() would make one empty item of an empty text
	while (str_split(&rest, '/', &part)) {
		if (!unescape(pool, part, &tokens[pointer->n++]))
			return false;
	}
	return true;
}

bool pointer_index(struct str token, size_t *index)
{
	uint64_t value;

	if (token.n == 0 || token.n > 9 || (token.n > 1 && token.p[0] == '0') || !str_to_u64(token, &value))
		return false;
	*index = (size_t)value;
	return true;
}

void pointer_add_token(struct buf *out, struct str token)
{
	buf_addc(out, '/');
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~')
			BUF_LIT(out, "~0");
		else if (token.p[i] == '/')
			BUF_LIT(out, "~1");
		else
			buf_addc(out, token.p[i]);
	}
}
