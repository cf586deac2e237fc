// SPDX-License-Identifier: Apache-2.0
// The types that have rules.
#include "base/base.h"

#include "registry/baremetal/rules.h"
#include "registry/crd/rules.h"
#include "registry/placement/rules.h"
#include "registry/registry.h"

// A new type with rules is one line here.
const struct type_rules *const registry_type_rules[] = {
	&node_rules, &port_rules, &portgroup_rules, &chassis_rules, &provider_rules, &crd_rules, NULL
};
