// SPDX-License-Identifier: Apache-2.0
// Checks the network_data of a node: the links, networks and services that its ramdisk sets up where there is no DHCP.
#ifndef TENURE_REGISTRY_BAREMETAL_NETWORK_DATA_H
#define TENURE_REGISTRY_BAREMETAL_NETWORK_DATA_H

#include "repr/json/doc.h"

// Does the object fit Ironic's network-data-schema.json? An empty one does. False: *why says what is wrong and where, allocated
// from pool: "'vlan_id' is a required property, in network_data['links'][0]".
bool network_data_ok(struct pool *pool, const struct doc *data, struct str *why);

#endif
