// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// Structural schemas: the schema's text, a line feed, an object's. What was pruned and filled in stays so.
#include "documents.h"
#include "registry/core/failure.h"
#include "repr/schema/structural.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *schema_doc, *object;
	struct field_faults faults = field_faults_new(pool), others = field_faults_new(pool);
	struct field_path at = field_name(NULL, STR("schema"));

	if (!fuzz_documents(pool, input, &schema_doc, &object))
		return;
	const struct structural *schema = structural_read(pool, schema_doc, &at, &faults);
	MUST((schema == NULL) == (faults.n > 0));
	if (schema == NULL)
		return;
	structural_check(schema, &at, STRUCTURAL_OLD_RULES, &faults);
	size_t old = faults.n;
	structural_check(schema, &at, STRUCTURAL_ALL_RULES, &faults);
	MUST(faults.n >= 2 * old); // the old rules are among all
	field_faults_text(pool, &faults);
	structural_prune(schema, object);
	MUST(structural_prune(schema, object) == 0);
	if (structural_default(schema, object, 5000)) {
		struct str filled = written(pool, object);
		MUST(structural_default(schema, object, 0) && str_eq(written(pool, object), filled));
	}
	structural_validate(schema, object, &others);
}
