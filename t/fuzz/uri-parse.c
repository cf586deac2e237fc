// SPDX-License-Identifier: Apache-2.0
// max_len: 40000
// uri_parse: segments are what they must be, and encoded again they are read as the same.
#include "fuzz.h"

#include "http/uri.h"

static bool same(const struct uri *a, const struct uri *b)
{
	if (a->n_segments != b->n_segments || a->n_pairs != b->n_pairs)
		return false;
	for (size_t i = 0; i < a->n_segments; i++) {
		if (!str_eq(a->segments[i], b->segments[i]))
			return false;
	}
	for (size_t i = 0; i < a->n_pairs; i++) {
		if (!str_eq(a->pairs[i].name, b->pairs[i].name) || !str_eq(a->pairs[i].value, b->pairs[i].value))
			return false;
	}
	return true;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	struct uri *uri = POOL_NEW(pool, struct uri), *again = POOL_NEW(pool, struct uri);
	struct str detail = STR_NONE;

	if (uri_parse(pool, input, 32768, uri, &detail) != OUTCOME_OK) {
		MUST(detail.n > 0 || input.n > 32768);
		return;
	}
	struct buf out = buf_new(pool, 0);
	for (size_t i = 0; i < uri->n_segments; i++) {
		struct str segment = uri->segments[i];
		MUST(segment.n > 0 && str_utf8_ok(segment, NULL) && str_find(segment, '\0', 0) == segment.n);
		MUST(!str_eq(segment, STR(".")) && !str_eq(segment, STR("..")) && str_find(segment, '/', 0) == segment.n);
		buf_addc(&out, '/');
		uri_add_segment(&out, segment);
	}
	if (uri->n_segments == 0)
		buf_addc(&out, '/');
	for (size_t i = 0; i < uri->n_pairs; i++) {
		buf_addc(&out, i == 0 ? '?' : '&');
		uri_add_value(&out, uri->pairs[i].name);
		buf_addc(&out, '=');
		uri_add_value(&out, uri->pairs[i].value);
	}
	MUST(uri_parse(pool, buf_str(&out), 200000, again, &detail) == OUTCOME_OK && same(uri, again));
}
