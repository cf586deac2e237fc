// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "types/types.h"

const struct type_parts no_parts = { .description = NULL };

#define PARTS(name) extern const struct type_parts name##_parts;
#define NO_PARTS
#define BUILTIN_TYPE(parts, ...) parts
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
#undef PARTS
#undef NO_PARTS

static const struct {
	const char *group, *kind, *plural;
	const struct type_parts *parts;
} types[] = {
#define PARTS(name) &name##_parts
#define NO_PARTS &no_parts
#define BUILTIN_TYPE(parts, rules, offered, group, kind, plural, ...) { group, kind, plural, parts },
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
};

const struct type_parts *type_parts_by_plural(struct str group, struct str plural)
{
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (str_eq_c(plural, types[i].plural) && str_eq_c(group, types[i].group))
			return types[i].parts;
	}
	return &no_parts;
}

const struct type_parts *type_parts_by_kind(struct str group, struct str kind)
{
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (str_eq_c(kind, types[i].kind) && str_eq_c(group, types[i].group))
			return types[i].parts;
	}
	return &no_parts;
}
