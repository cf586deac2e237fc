// SPDX-License-Identifier: Apache-2.0
// Which version a reading of objects has: the one from where a watch tells of what was not read, and of nothing that was.
#ifndef TENURE_API_SPACES_OBJECT_AS_OF_H
#define TENURE_API_SPACES_OBJECT_AS_OF_H

#include "api/spaces/common/spaces.h"
#include "api/spaces/object/object.h"

// One object as it was read; of Tenants, the tenant's id.
struct sighting {
	uint64_t id, changed;
};

// Begun before the first object is read, told of each one, chosen or not, and ended after the last.
struct as_of {
	struct call *call;
	const struct target *target;
	struct str name;          // the only one that is looked at; p NULL: all
	int64_t until_us;         // how long it may take
	uint64_t horizon;         // published when it began
	uint64_t newest;          // the newest change behind the reading; 0: whoever read did not ask
	struct sighting *seen;
	size_t n, room;
	// Of a page: what stands behind its last object was not looked at.
	bool is_page;
	uint64_t last_id;
	struct str last_space, last_name;
};

// OUTCOME_OK.
enum outcome as_of_begin(struct as_of *as_of, struct call *call, const struct target *target, struct str name);
// Begins again, for another reading. OUTCOME_OK.
enum outcome as_of_again(struct as_of *as_of);
void as_of_saw(struct as_of *as_of, uint64_t id, uint64_t changed);
// The page ends with that one, and there are more. Of a Tenant: its id and name.
void as_of_page_ends(struct as_of *as_of, uint64_t id, struct str space, struct str name);
// *version: that of what was read; where *exact is false a watch from it tells of some of that again. *again: what was
// read is a mixture, for which there is no version; reading again might do. OUTCOME_OK.
enum outcome as_of_end(struct as_of *as_of, uint64_t *version, bool *exact, bool *again);
// Instead: is what was read what was there at that version, and still is? OUTCOME_OK.
enum outcome as_of_is_same(struct as_of *as_of, uint64_t version, bool *same);

#endif
