// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/keystone/keystone_rules.h"
#include "base/buf.h"
#include "base/pool.h"

enum { PATTERN_MAX = 1024 }; // Keystone stores 128 characters

// The next token of a pattern, which is cut off: one character, a segment or anything.
enum token { LITERAL, SEGMENT, ANYTHING };

static enum token next_token(struct str *pattern, char *literal)
{
	char c = pattern->p[0];
	size_t n = 1;
	enum token token = LITERAL;

	if (c == '*') {
		token = pattern->n > 1 && pattern->p[1] == '*' ? ANYTHING : SEGMENT;
		n = token == ANYTHING ? 2 : 1;
	} else if (c == '{' && str_find(*pattern, '}', 0) < pattern->n) {
		token = SEGMENT;
		n = str_find(*pattern, '}', 0) + 1;
	}
	*literal = c;
	*pattern = str_part(*pattern, n, pattern->n);
	return token;
}

// reached[i]: the pattern up to here matches the first i bytes of the path. Goes on to what it matches with one token more.
static void advance(enum token token, char literal, struct str path, bool *reached)
{
	bool before = reached[0], inside = false;

	if (token != ANYTHING)
		reached[0] = false;
	for (size_t i = 0; i < path.n; i++) {
		bool here = before, is_slash = path.p[i] == '/';
		before = reached[i + 1];
		switch (token) {
		case LITERAL:
			reached[i + 1] = here && path.p[i] == literal;
			break;
		case SEGMENT:
			inside = (inside || here) && !is_slash;
			reached[i + 1] = inside;
			break;
		case ANYTHING:
			reached[i + 1] = reached[i + 1] || reached[i];
			break;
		}
	}
}

static bool path_matches(struct pool *pool, struct str pattern, struct str path)
{
	bool *reached = pool_calloc(pool, path.n + 1, sizeof(*reached));
	char literal;

	if (pattern.n > PATTERN_MAX)
		return false;
	reached[0] = true;
	while (pattern.n > 0) {
		enum token token = next_token(&pattern, &literal);
		advance(token, literal, path, reached);
	}
	return reached[path.n];
}

static struct str path_of(struct pool *pool, const struct uri *uri)
{
	struct buf path = buf_new(pool, uri->path.n + 1);

	for (size_t i = 0; i < uri->n_segments; i++) {
		buf_addc(&path, '/');
		buf_add(&path, uri->segments[i]);
	}
	if (uri->n_segments == 0 || uri->trailing_slash)
		buf_addc(&path, '/');
	return buf_str(&path);
}

bool keystone_rules_permit(struct pool *pool, struct str rules, struct str service, const struct request *request)
{
	struct str path = path_of(pool, &request->uri), line[3];

	while (str_split(&rules, '\n', &line[0]) && str_split(&rules, '\n', &line[1]) && str_split(&rules, '\n', &line[2])) {
		if (str_eq(line[0], service) && str_eq(line[1], request->method_text) && path_matches(pool, line[2], path))
			return true;
	}
	return false;
}
