// SPDX-License-Identifier: Apache-2.0
// The types that have rules: all that registry_begin() knows. Other types take any JSON object.
#include "base/base.h"

#include "registry/baremetal/rules.h"
#include "registry/crd/rules.h"
#include "registry/placement/rules.h"
#include "registry/registry.h"

// A new type with rules is one more line here.
const struct type_rules *const registry_type_rules[] = {
#define RULES(name) &name,
#define NO_RULES
#define BUILTIN_TYPE(parts, rules, ...) rules
#include "base/builtin_types.def"
#undef BUILTIN_TYPE
	NULL
};
