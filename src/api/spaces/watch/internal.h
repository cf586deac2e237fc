// SPDX-License-Identifier: Apache-2.0
// For watch.c and watcher.c only: the handover, which a worker writes (call->handover) and the watch process of the same program
// reads. It is a struct watch_handover_head, then an array of struct known, then the texts of enum watch_text one after the
// other.
#ifndef TENURE_API_SPACES_WATCH_INTERNAL_H
#define TENURE_API_SPACES_WATCH_INTERNAL_H

#include "api/spaces/answer/answer.h"
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

struct watch_handover_head {
	uint64_t position;      // id of the change up to which the client was sent all changes
	uint64_t type_id;       // 0: the objects are not resources
	struct uuid definition; // uid of the definition that applied; zero for a built-in type
	uint64_t known_bytes;   // bytes of the array of struct known
	uint64_t sizes[WATCH_TEXTS]; // bytes of each text
	int64_t expires_us;     // of the caller: struct principal
	uint32_t seconds;       // how long the watch lasts at most
	uint32_t role;          // of the caller: enum role
	bool all, all_spaces; // as in struct target (common/spaces.h)
	bool tenants;         // the objects are Tenants
	bool named;           // it watches one object by its name
	bool selective;       // it has selectors
	bool varying;         // selectors use more than name and namespace, so a change can alter whether an object is selected
	bool reads_all;       // of the caller: struct principal
	bool bookmarks;
};

// Whether the client has an object that a later change may be about. Of objects without an entry the change log tells it.
enum known_state {
	KNOWN_CHOSEN, // the client has it
	KNOWN_ABSENT, // the client does not have it
};
struct known {
	uint64_t id; // of the resource; of the tenant if Tenants are watched
	enum known_state state;
};

// Where the events of one watch are appended, and in which form.
struct watch_output {
	struct call *call;
	const struct target *target;         // what the client watches
	struct answer_form form;             // of the objects in events
	const struct table_columns *columns; // of a Table; else NULL
	struct buf *out;
};
// Appends one event. type: "ADDED", "MODIFIED", "DELETED" or "BOOKMARK". object: its JSON; place: where it is stored, for errors.
void watch_event_add(const struct watch_output *output, const char *type, struct stored_place place, struct str object);
// Appends a BOOKMARK of that position.
void watch_bookmark_add(const struct watch_output *output, uint64_t position);

#endif
