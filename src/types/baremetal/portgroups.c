// SPDX-License-Identifier: Apache-2.0
// Groups of ports of bare metal nodes: what `tenure portgroup list` shows of them. Their rules query the database, so they stand
// in registry/.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_noun_column noun_columns[] = {
	{ "uuid", "uuid", false }, { "name", "name", false }, { "address", "address", false },
	{ "node", "node_uuid", false }, { "mode", "mode", true }, { "standalone", "standalone_ports_supported", true },
	{ "extra", "extra", true }, { .name = NULL }
};

const struct type_parts baremetal_portgroups_parts = {
	.noun_columns = noun_columns,
};
