// SPDX-License-Identifier: Apache-2.0
// For watch.c and watcher.c only: the order that a worker writes and the watch process of the same program reads.
#ifndef TENURE_API_SPACES_WATCH_INTERNAL_H
#define TENURE_API_SPACES_WATCH_INTERNAL_H

#include "api/spaces/common/spaces.h"
#include "api/spaces/watch/watcher.h"

enum watch_text {
	WATCH_TARGET, WATCH_ACCEPT, WATCH_USER, WATCH_USER_TENANT, WATCH_TENANT, WATCH_SPACE, WATCH_NAME,
	WATCH_CREDENTIALS, // of the request's headers, lines of "name:value"
	WATCH_REMOTE_USER,
	WATCH_REMOTE_USER_SECRET,
	WATCH_TEXTS
};

// An order begins with this; known_bytes of struct known follow, then the texts.
struct watch_words {
	uint64_t position;
	uint64_t type_id;     // 0: of what has no objects that are resources
	struct uuid definition; // the uid of the one that answered; of a built-in type none
	uint64_t known_bytes;
	uint64_t sizes[WATCH_TEXTS];
	uint32_t seconds;
	uint32_t role;
	bool all, all_spaces; // as struct target has them
	bool tenants;         // the objects are Tenants
	bool named;           // the one of a name
	bool selective;       // there are selectors
	bool varying;         // which of them ask more than name and namespace: an object may come to be chosen, or no longer
	bool bookmarks;
};

// What the client has of an object that a later change can be about. Of objects without an entry the change log tells.
enum known_state {
	KNOWN_CHOSEN, // the client has it
	KNOWN_ABSENT, // the client has it not
};
struct known {
	uint64_t id; // of the resource, or of the tenant where tenants are watched
	enum known_state state;
};

// Appends one event. columns: of a Table, NULL for the object itself. place: what object was made of.
void event_add(struct call *call, const struct target *target, const struct table_columns *columns, const char *type,
	struct stored_place place, struct str object, struct buf *out);
// Appends a BOOKMARK of that position. initial: the one that stands behind what was there.
void bookmark_add(struct call *call, const struct target *target, const struct table_columns *columns, uint64_t position,
	bool initial, struct buf *out);

#endif
