// SPDX-License-Identifier: Apache-2.0
// The objects of the bare metal API.
#ifndef TENURE_CLI_COMMAND_BAREMETAL_H
#define TENURE_CLI_COMMAND_BAREMETAL_H

#include "cli/change/change.h"
#include "repr/json/doc.h"

struct cli;

// Makes a target of the command's noun. False: an error was printed. The caller frees target->resource.
bool cli_baremetal_target(struct cli *cli, const char *ident, struct target *target);

// Prints one document; in formats for people without its links.
void cli_thing_print(struct cli *cli, const struct doc *document);

#endif
