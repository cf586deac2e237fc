// SPDX-License-Identifier: Apache-2.0
// For watch.c and watcher.c only: the order. A worker writes it, and the watch process of the same program reads it.
#ifndef TENURE_API_SPACES_WATCH_INTERNAL_H
#define TENURE_API_SPACES_WATCH_INTERNAL_H

#include "api/spaces/common/spaces.h"
#include "api/spaces/watch/watcher.h"

struct table_columns;

enum watch_text {
	WATCH_TARGET, WATCH_ACCEPT, WATCH_USER, WATCH_USER_TENANT, WATCH_TENANT, WATCH_SPACE, WATCH_NAME,
	WATCH_CREDENTIALS, // header fields of the request, lines of "name:value"
	WATCH_REMOTE_USER,
	WATCH_REMOTE_USER_SECRET,
	WATCH_CLIENT_VERIFY,
	WATCH_CLIENT_CERTIFICATE,
	WATCH_CERTIFICATE_SECRET,
	WATCH_TEXTS
};

// The beginning of an order; known_bytes of struct known follow, then the texts.
struct watch_words {
	uint64_t position;
	uint64_t type_id;     // 0: the objects are not resources
	struct uuid definition; // uid of the definition that applied; zero for a built-in type
	uint64_t known_bytes;
	uint64_t sizes[WATCH_TEXTS];
	uint32_t seconds;
	uint32_t role;
	bool all, all_spaces; // as in struct target (common/spaces.h)
	bool tenants;         // the objects are Tenants
	bool named;           // it watches one object by its name
	bool selective;       // it has selectors
	bool varying;         // selectors use more than name and namespace, so a change can alter whether an object is selected
	bool bookmarks;
};

// Whether the client has an object that a later change may be about. For objects without an entry the change log says it.
enum known_state {
	KNOWN_CHOSEN, // the client has it
	KNOWN_ABSENT, // the client does not have it
};
struct known {
	uint64_t id; // of the resource; of the tenant if Tenants are watched
	enum known_state state;
};

// Appends one event. columns: of a Table; NULL: the event has the object itself. place: where object is stored, for errors.
void watch_event_add(struct call *call, const struct target *target, const struct table_columns *columns, const char *type,
	struct stored_place place, struct str object, struct buf *out);
// Appends a BOOKMARK of that position.
void watch_bookmark_add(struct call *call, const struct target *target, const struct table_columns *columns, uint64_t position,
	struct buf *out);
// The same, marked as the end of the initial objects.
void watch_initial_end_add(struct call *call, const struct target *target, const struct table_columns *columns, uint64_t position,
	struct buf *out);

#endif
