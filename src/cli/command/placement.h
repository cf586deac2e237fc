// SPDX-License-Identifier: Apache-2.0
// Calls below /placement, and resource providers.
#ifndef TENURE_CLI_COMMAND_PLACEMENT_H
#define TENURE_CLI_COMMAND_PLACEMENT_H

#include "lib/client.h"
#include "repr/json/doc.h"

struct cli;

// Calls the placement API; wish.path is below /placement. body NULL: none. *answer is NULL if there is no body; answer may be
// NULL.
enum tenure_status cli_placement_call(struct cli *cli, struct wish wish, const struct doc *body, struct doc **answer,
	int *http);

struct provider {
	const char *label; // "provider rack-7"
	const char *uuid;
	const char *path;  // "/placement/resource_providers/UUID"
};
// Finds a provider by UUID or name. Exit code.
int provider_find(struct cli *cli, const char *ident, struct provider *provider);

#endif
