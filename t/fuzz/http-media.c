// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// Accept and Content-Type: a choice among the offers, which is the same again; what is taken is never refused by q=0 alone.
#include "fuzz.h"

#include "http/media.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	static const char *const offers[] = { "application/json", "application/xml", "application/vnd.sun.wadl+xml", "text/plain",
		"application/json;as=Table;v=v1;g=meta.k8s.io" };
	struct str first = fuzz_first(&input);

	UNUSED(pool);
	for (size_t n = 1; n <= COUNT_OF(offers); n++) {
		int chosen = media_choose(input, offers, n);
		MUST(chosen >= -1 && chosen < (int)n);
		MUST(chosen == media_choose(input, offers, n));
		MUST(input.n > 0 || chosen == 0);
	}
	struct str charset = media_charset(first);
	MUST(charset.n <= first.n);
	for (size_t i = 0; i < 4; i++) // those without parameters
		MUST(!media_is(first, offers[i]) || first.n >= strlen(offers[i]));
}
