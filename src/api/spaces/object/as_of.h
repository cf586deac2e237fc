// SPDX-License-Identifier: Apache-2.0
// Determines the version (resourceVersion) of objects that were read: a watch from that version gets all changes that the reading
// missed, and none that it contains.
#ifndef TENURE_API_SPACES_OBJECT_AS_OF_H
#define TENURE_API_SPACES_OBJECT_AS_OF_H

#include "api/spaces/common/spaces.h"
#include "api/spaces/object/object.h"

// An object that was read and its latest change; for Tenants id is the tenant's.
struct sighting {
	uint64_t id, changed;
};

// State of one reading. It begins before the first object is read, is told of every object read, selected or not, and ends after
// the last one.
struct as_of {
	struct call *call;
	const struct target *target;
	struct str name;          // the only object that is looked at; p NULL: all
	int64_t until_us;         // clock_tick_us() at which it gives up
	uint64_t horizon;         // the horizon that was published when the reading began
	uint64_t newest;          // newest change id in the log after the reading; 0: not read
	struct sighting *seen;
	size_t n, room;
	// Of a page: objects behind its last one were not looked at.
	bool is_page;
	uint64_t last_id;
	struct str last_space, last_name;
};

// Begins a reading. OUTCOME_OK, or the database's outcome.
enum outcome as_of_begin(struct as_of *as_of, struct call *call, const struct target *target, struct str name);
// Begins another reading of the same objects.
enum outcome as_of_restart(struct as_of *as_of);
void as_of_note(struct as_of *as_of, uint64_t id, uint64_t changed);
// The page ends with that object, and more follow. Of a Tenant: its id and name.
void as_of_note_page_end(struct as_of *as_of, uint64_t id, struct str space, struct str name);
// *version: the version of what was read; if *exact is false, a watch from there repeats some of the changes. *again: the reading
// mixed two states of the log, so no version fits it; reading again may help.
enum outcome as_of_end(struct as_of *as_of, uint64_t *version, bool *exact, bool *again);
// Instead of as_of_end(): was everything read unchanged since that version? OUTCOME_OK with *same.
enum outcome as_of_is_unchanged(struct as_of *as_of, uint64_t version, bool *same);

#endif
