// SPDX-License-Identifier: Apache-2.0
// Where a reader of the change log is: the id of the last change that it knows. The log may no longer have what came after that.
#ifndef TENURE_REGISTRY_LOG_LOG_POSITION_H
#define TENURE_REGISTRY_LOG_LOG_POSITION_H

#include "registry/core/context.h"

enum log_position {
	LOG_POSITION_KEPT,   // the log has all changes after it
	LOG_POSITION_PURGED, // some were purged: what is left begins with oldest
	LOG_POSITION_LOST,   // some are lost: the database was restored from a backup without them
	LOG_POSITION_AHEAD,  // no change has had that id yet
};

struct log_place {
	enum log_position position;
	uint64_t oldest; // the id of the oldest change in the log, or of the next one if the log is empty
	uint64_t newest; // the highest id known; 0: there never was any
};

// After a restore, ids of changes go on by the clock, so many to a second: far above all those that were given after the backup
// was made. So a number is never the id of two changes, and a wide gap in the ids shows which changes are lost.
enum { LOG_IDS_A_SECOND = 1000000 };

// Finds what the log has after position. May be called within a transaction or outside. OUTCOME_OK, or that of a failed
// statement.
enum outcome log_position_find(struct registry *registry, uint64_t position, struct log_place *place);

#endif
