// SPDX-License-Identifier: Apache-2.0
// Import: the registry gets all that a Placement database holds.
#ifndef TENURE_MANAGE_PLACEMENT_IMPORT_H
#define TENURE_MANAGE_PLACEMENT_IMPORT_H

#include "manage/placement/transfer.h"

// Takes over Placement's database, to which source_check() has connected: checks all of it, and all that the registry has of it
// already; imports what is missing, by batches of one transaction each; compares all of it again. It reads one snapshot of
// Placement's database throughout. If there is any problem, all are reported and nothing is imported. What an import that was
// interrupted has brought is found and left as it is. Returns the exit code.
int import_run(struct transfer *transfer);

#endif
