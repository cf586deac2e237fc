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

static const struct str in_all[] = { STR_INIT("all") };

#define SHORT(one) .short_names = { STR_INIT(one) }, .n_short_names = 1
#define SHORTS(one, two) .short_names = { STR_INIT(one), STR_INIT(two) }, .n_short_names = 2
#define NO_SHORT .n_short_names = 0
#define STORED .verbs = MANY, .stored = true
#define V1 .versions = v1, .n_versions = 1
#define V1_STATUS .versions = v1_status, .n_versions = 1
#define IN_ALL .categories = in_all, .n_categories = COUNT_OF(in_all)

// Kind and singular name are in the rows of table `types`.
const struct builtin builtins[] = {
#define BUILTIN_TYPE(parts, rules, offered, of_group, of_kind, of_plural, of_scope, shorts, ...) \
	{ .group = of_group, .kind = of_kind, .plural = of_plural, shorts, \
		.definition = { .scope = SCOPE_##of_scope, __VA_ARGS__ } },
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
};
const size_t n_builtins = COUNT_OF(builtins);
