// SPDX-License-Identifier: Apache-2.0
// Determines the version (resourceVersion) of objects that were read: a watch from that version sends all changes that the
// reading does not contain, and none that it contains.
#ifndef TENURE_API_SPACES_OBJECT_AS_OF_H
#define TENURE_API_SPACES_OBJECT_AS_OF_H

#include "api/spaces/common/spaces.h"
#include "api/spaces/object/object.h"

// An object that was read and its latest change; for Tenants id is the tenant's.
struct sighting {
	uint64_t id, changed;
};

// One reading of objects: as_of_begin() before the first object is read, as_of_note() for every object, selected or not,
// as_of_end() after the last one.
struct as_of {
	struct call *call;
	const struct target *target;
	struct str name;          // the only object that is looked at; p NULL: all
	int64_t until_us;         // clock_tick_us() after which no further reading is asked for
	uint64_t horizon;         // the horizon that was published when the reading began
	uint64_t newest;          // newest change id in the log after the reading; 0: not read
	struct sighting *seen;
	size_t n, room;
	// The last object that was looked at. Of a page: those behind it were not.
	uint64_t last_id;
	struct str last_space, last_name; // last_name.p NULL: none was
	bool is_page;
	bool counts_forced;       // as_of_is_unchanged() only: changes of the system's definitions count, too
};

// Begins a reading of the target's collection. name: the only object that is looked at; p NULL: all. target and name must live as
// long as *as_of. OUTCOME_OK, or the database's outcome.
enum outcome as_of_begin(struct as_of *as_of, struct call *call, const struct target *target, struct str name);
// Begins another reading of the same objects. OUTCOME_OK, or the database's outcome.
enum outcome as_of_restart(struct as_of *as_of);
// Notes that the resource (or tenant) of that id was read, whose latest change is `changed`.
void as_of_note(struct as_of *as_of, uint64_t id, uint64_t changed);
// Notes which object is the last one that was looked at so far. Of a Tenant: space is "".
void as_of_note_last(struct as_of *as_of, uint64_t id, struct str space, struct str name);
// Notes that the page ends with the object that as_of_note_last() noted, and that more follow.
void as_of_note_page_end(struct as_of *as_of);
// *version: the version of what was read; if *exact is false, a watch from there repeats some of the changes. *again: the reading
// mixed two states of the log, so no version fits it; reading again may help (as_of_restart()). May wait up to 0.1 seconds since
// as_of_begin(). OUTCOME_OK, or the database's outcome.
enum outcome as_of_end(struct as_of *as_of, uint64_t *version, bool *exact, bool *again);
// Instead of as_of_end(): *same tells whether everything that was read is unchanged since that version. A tenant's list of
// definitions counts as changed if any definition of the system has changed, since it shows those that are forced. May wait as
// as_of_end() does. OUTCOME_OK, or the database's outcome.
enum outcome as_of_is_unchanged(struct as_of *as_of, uint64_t version, bool *same);

#endif
