// SPDX-License-Identifier: Apache-2.0
// max_len: 32768
// Label and field selectors: the selector, a line feed, the text of labels or of an object.
#include "fuzz.h"

#include "api/selector.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	static const char *const fields[] = { "status.phase", "spec.x", NULL };
	const struct doc_limits limits = { 32, 2000 };
	const struct label_selector *labels;
	const struct field_selector *of_fields;
	struct str first = fuzz_first(&input), error = STR_NONE;
	struct doc *object = NULL;

	if (!doc_parse_json(pool, input, limits, &object, &error))
		object = NULL;
	if (label_selector_parse(pool, first, &labels, &error)) {
		bool match = label_selector_matches(labels, object);
		MUST(match || !label_selector_is_empty(labels));
	}
	if (field_selector_parse(pool, first, fields, &of_fields, &error)) {
		bool match = field_selector_matches(of_fields, object);
		MUST(match || !field_selector_is_empty(of_fields));
		(void)field_selector_value(of_fields, "metadata.name");
	}
}
