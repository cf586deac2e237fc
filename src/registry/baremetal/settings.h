// SPDX-License-Identifier: Apache-2.0
// The settings of bare metal.
#ifndef TENURE_REGISTRY_BAREMETAL_SETTINGS_H
#define TENURE_REGISTRY_BAREMETAL_SETTINGS_H

struct config;
struct config_table;

struct baremetal_settings {
	const char *drivers;       // names of the drivers that nodes may have, comma-separated
	const char *create_owners; // yes | no: may an operator name an unknown owner of a node, which creates that tenant?
	const char *conductor;     // the host name of the conductor of all nodes; "": this host's
};
extern const struct config_table baremetal_settings_table;
const struct baremetal_settings *baremetal_settings(const struct config *config);

#endif
