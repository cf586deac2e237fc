// SPDX-License-Identifier: Apache-2.0
// Fills in the defaults of built-in types.
#include "base/base.h"

#include "base/pool.h"
#include "types/common/parts.h"

static void fill(struct pool *pool, struct doc *value, const char *const *path, size_t steps, const char *preset)
{
	for (size_t i = 0; doc_kind(value) == DOC_ARRAY && i < doc_length(value); i++)
		fill(pool, doc_own_item(value, i), path, steps, preset);
	if (doc_kind(value) != DOC_OBJECT)
		return;
	struct doc *member = doc_own_member(value, str_c(path[0]));
	if (steps > 1 && member != NULL)
		fill(pool, member, path + 1, steps - 1, preset);
	else if (steps == 1 && (member == NULL || (doc_kind(member) == DOC_STRING && doc_string(member).n == 0)))
		doc_set_str(pool, value, path[0], str_c(preset));
}

void type_preset_fill(struct pool *pool, const struct type_preset *presets, struct doc *object)
{
	for (const struct type_preset *preset = presets; preset != NULL && preset->value != NULL; preset++) {
		size_t steps = 0;
		while (steps < COUNT_OF(preset->path) && preset->path[steps] != NULL)
			steps++;
		fill(pool, object, preset->path, steps, preset->value);
	}
}
