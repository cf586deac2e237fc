// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// conditional_parse: tags are parts of the input that match themselves, however they are written again.
#include "fuzz.h"

#include "http/conditional.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct tag_list list, again;

	if (!conditional_parse(input, &list))
		return;
	MUST(list.present && list.n <= CONDITIONAL_MAX_TAGS && (list.any || list.n > 0));
	for (size_t i = 0; i < list.n; i++) {
		struct str tag = list.tags[i];
		MUST(tag.n > 0 && tag.p >= input.p && tag.p + tag.n <= input.p + input.n && conditional_matches(&list, tag));
		if (str_starts(tag, STR("W/")) || str_starts(tag, STR("w/")))
			continue; // "W/W/W/": none of ours, and another one when it is written again
		MUST(conditional_parse(str_printf(pool, "\"none\", W/\"%.*s-gzip\"", STR_ARG(tag)), &again));
		MUST(conditional_matches(&again, tag));
	}
}
