// SPDX-License-Identifier: Apache-2.0
// What export.c and export_write.c share: an export that is under way, and the writing of pages.
#ifndef TENURE_MANAGE_PLACEMENT_EXPORT_WRITE_H
#define TENURE_MANAGE_PLACEMENT_EXPORT_WRITE_H

#include "db/db.h"
#include "manage/placement/transfer.h"
#include "registry/placement/record.h"

struct export {
	struct transfer *transfer;
	struct transfer_counts in_registry; // all that the registry has
	bool removes;             // the pass deletes what is different or not in the registry; else it only compares
	bool reports_differences; // each difference is a problem of the transfer
	struct transfer_counts equal, to_remove; // records of Placement, by the last pass: as in the registry; different, or not in the registry
	struct transfer_counts written;
	struct transfer_digest digest;   // of what Placement's database holds, by the last pass
	struct transfer_digest found;    // of what it held when the export began
	bool found_is_known;             // found is what an earlier import or export left in that database
	struct name_set classes, traits; // of Placement's database
	bool nothing_to_do;
	// There was nothing to do, or all was written and verified; and the digest of the result is remembered. Unless this is
	// set, nothing may be committed or reported as done.
	bool complete;
	enum db_result result; // of the transaction of Placement's database
};

// Writes those of the providers that Placement's database lacks, with inventories, traits and aggregates, each as a root of its
// own. Records that cannot be written are problems of the transfer. False: the database failed.
bool export_write_providers(struct export *export, const struct provider_record *list, size_t n);
// Gives the providers that were written their places in trees, once all of them are there. False: the database failed.
bool export_plant_providers(struct export *export, const struct provider_record *list, size_t n);
// Writes those of the consumers that Placement's database lacks, with their allocations; otherwise as export_write_providers().
bool export_write_consumers(struct export *export, const struct consumer_record *list, size_t n);

#endif
