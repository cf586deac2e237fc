// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "registry/baremetal/settings.h"

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, baremetal_settings, member, __VA_ARGS__)
#define BAREMETAL(key, type, member, ...) SETTING_ROW("baremetal", key, type, baremetal_settings, member, __VA_ARGS__)

static const struct setting baremetal_rows[] = {
	TENURE("baremetal_drivers", NAMES, drivers, "fake-hardware,ipmi,redfish", 1, SETTING_TEXT_MAX, NULL,
		"Drivers that bare-metal nodes may name, comma-separated."),
	BAREMETAL("create_owners", CHOICE, create_owners, "yes", 0, 0, "no,yes",
		"yes: if an operator names an unknown owner of a node, that tenant is created, with a warning. no: the request "
		"is refused."),
	BAREMETAL("conductor", TEXT, conductor, "", 0, 255, NULL,
		"The host name that answers give as the conductor of all nodes; empty: this host's. Behind a load balancer all hosts "
		"need the same."),
};

const struct config_table baremetal_settings_table = {
	.settings = baremetal_rows, .n = COUNT_OF(baremetal_rows), .size = sizeof(struct baremetal_settings),
};

const struct baremetal_settings *baremetal_settings(const struct config *config)
{
	return config_values(config, &baremetal_settings_table);
}
