// SPDX-License-Identifier: Apache-2.0
// The rules of bare metal's types.
#ifndef TENURE_REGISTRY_BAREMETAL_RULES_H
#define TENURE_REGISTRY_BAREMETAL_RULES_H

#include "registry/type/rules.h"

extern const struct type_rules node_rules, port_rules, portgroup_rules, chassis_rules, volume_connector_rules,
	volume_target_rules, deploy_template_rules,
	allocation_rules;

#endif
