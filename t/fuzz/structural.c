// SPDX-License-Identifier: Apache-2.0
// Structural schemas: the schema's text, a line feed, an object's. What was pruned and filled in stays so.
#include "fuzz.h"

#include "repr/structural.h"

static struct str written(struct pool *pool, const struct doc *doc)
{
	struct buf out = buf_new(pool, 0);

	doc_write_json(doc, &out);
	return buf_str(&out);
}

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 2000 };
	struct doc *schema_doc, *object;
	struct str first = fuzz_first(&input), error = STR_NONE;
	struct field_faults faults = field_faults_new(pool), others = field_faults_new(pool);
	struct field_path at = field_name(NULL, STR("schema"));

	if (!doc_parse_json(pool, first, limits, &schema_doc, &error) ||
		!doc_parse_json(pool, input, limits, &object, &error))
		return;
	const struct structural *schema = structural_read(pool, schema_doc, &at, &faults);
	MUST((schema == NULL) == (faults.n > 0));
	if (schema == NULL)
		return;
	structural_check(schema, &at, &faults);
	field_faults_text(pool, &faults);
	structural_prune(schema, object);
	MUST(structural_prune(schema, object) == 0);
	if (structural_default(schema, object, 5000)) {
		struct str filled = written(pool, object);
		MUST(structural_default(schema, object, 0) && str_eq(written(pool, object), filled));
	}
	structural_validate(schema, object, &others);
}
