// SPDX-License-Identifier: Apache-2.0
// Export: a Placement database gets all providers and consumers of the registry.
#ifndef TENURE_MANAGE_PLACEMENT_EXPORT_H
#define TENURE_MANAGE_PLACEMENT_EXPORT_H

#include "manage/placement/transfer.h"

// Writes all providers and consumers of the registry into Placement's database, to which source_check() has connected, so that
// it holds these and no others; in one transaction, of one snapshot of the registry. The database must hold none before, or
// exactly what it held when it was imported, or was exported to, last. All of it is compared with the registry before COMMIT.
// Rows of Placement that are right already stay; new ones get ids of the database's own. Returns the exit code.
int export_run(struct transfer *transfer);

#endif
