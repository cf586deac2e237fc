// SPDX-License-Identifier: Apache-2.0
// Moves between tenants: previews, makes and watches them.
#ifndef TENURE_CLI_COMMAND_MOVE_H
#define TENURE_CLI_COMMAND_MOVE_H

#include "base/str.h"
#include "lib/client.h"

struct cli;

// Previews the move (--preview) or makes it; frees the move. key: the path under which the ETag of its preview is kept, for a
// later
// --if-match auto. Exit code.
int cli_move_as_told(struct cli *cli, struct tenure_move *move, const char *label, const char *key);

// Waits for the end of the background move at that location, as a 202 has it, with a progress bar on a terminal. Exit code.
int cli_move_watch(struct cli *cli, struct str location, const char *label);

#endif
