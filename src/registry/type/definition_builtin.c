// SPDX-License-Identifier: Apache-2.0
// The built-in definitions, made of the rows of base/builtin_types.def.
#include "base/base.h"

#include "registry/type/definition_internal.h"

enum {
	MANY = VERBS_ALL,
	READ = VERB_GET | VERB_LIST | VERB_WATCH,
	OWN = VERB_GET | VERB_LIST | VERB_WATCH | VERB_PATCH | VERB_UPDATE,
};

static const struct definition_version v1[] = { { .name = STR_INIT("v1"), .served = true, .storage = true } };
static const struct definition_version crd_versions[] = {
	{ .name = STR_INIT("v1"), .served = true, .storage = true, .has_status = true },
	{ .name = STR_INIT("v1beta1"), .served = true, .has_status = true },
};
static const struct definition_version v1_status[] = {
	{ .name = STR_INIT("v1"), .served = true, .storage = true, .has_status = true }
};

#define NAMES(...) ((const struct str[]){ __VA_ARGS__ })
#define SHORT(name) .short_names = NAMES(STR_INIT(name)), .n_short_names = 1
#define METAL .verbs = MANY, .stored = true, .versions = v1, .n_versions = 1
#define ALL .categories = NAMES(STR_INIT("all")), .n_categories = 1

// The rest of the names stands in the types' rows in the database.
const struct builtin builtins[] = {
#define BUILTIN_TYPE(offered, group, plural, of_scope, ...) { group, plural, { .scope = SCOPE_##of_scope, __VA_ARGS__ } },
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
};
const size_t n_builtins = COUNT_OF(builtins);
