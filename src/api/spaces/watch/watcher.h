// SPDX-License-Identifier: Apache-2.0
// One client's watch, in the process that serves all of them: what it is about, how far it is told, and its events. Made
// from the order that a worker wrote (call->order) when it had looked at the request.
#ifndef TENURE_API_SPACES_WATCH_WATCHER_H
#define TENURE_API_SPACES_WATCH_WATCHER_H

#include "api/call.h"
#include "base/buf.h"
#include "registry/watch/change_stream.h"

struct auth;
struct db;
struct watcher;

// A copy of what the order says. NULL: it is none, or there is no memory.
struct watcher *watcher_new(struct str order);
void watcher_free(struct watcher **watcher);

// The tenant whose changes, beside the system's, are all that it is about; p NULL: others' are, too.
struct str watcher_tenant(const struct watcher *watcher);
// The tenant of who watches; "" for an operator without one.
struct str watcher_user_tenant(const struct watcher *watcher);
// Every change up to this id is told.
uint64_t watcher_position(const struct watcher *watcher);
void watcher_advance(struct watcher *watcher, uint64_t position);
unsigned watcher_seconds(const struct watcher *watcher);
bool watcher_wants_bookmarks(const struct watcher *watcher);

// May the change be something for it? Asked before the resource is read.
bool watcher_wants(const struct watcher *watcher, const struct followed *change);
// Does it take what selectors could ask before the change to say what the change means for it? Then follow_contents is to
// read that. Asked where it wants the change.
bool watcher_asks_before(const struct watcher *watcher, const struct followed *change);
// Is with this change nothing of what it watches as the client knows it? It has to list again.
bool watcher_is_lost(const struct watcher *watcher, const struct followed *change);
// May it be with this change that another definition of its type answers than did, or none?
bool watcher_may_lose_type(const struct watcher *watcher, const struct followed *change);
// OUTCOME_OK: the same answers as did, and it may be watched. _UNAVAILABLE: the database is away. call as for watcher_tell.
enum outcome watcher_check_type(struct watcher *watcher, struct call *call);
// Do the credentials it began with still say that its user is who it was? OUTCOME_OK, _UNAUTHENTICATED, _UNAVAILABLE.
enum outcome watcher_check_user(struct watcher *watcher, struct call *call, struct auth *auth, struct db *db);
// Appends the change's events, of which there may be none. call has pool, config, endpoint, routes and registry; the rest
// is set from the order. OUTCOME_OK; _UNAVAILABLE: the database is away; others: the type is no longer there for it, or
// nobody knows any more whether it was told of the object.
enum outcome watcher_tell(struct watcher *watcher, struct call *call, const struct followed *change, struct buf *out);
// Appends a BOOKMARK of the position.
enum outcome watcher_bookmark(struct watcher *watcher, struct call *call, struct buf *out);
// Appends the ERROR event that makes a client list again; that says its credentials are no longer good.
void watch_expired(struct buf *out);
void watch_unauthenticated(struct buf *out);
// Appends the ERROR event that says that an event would take too much.
void watch_too_costly(struct buf *out);
// Appends the ERROR event, with code 500, that says that what is stored can't be read.
void watch_broken(struct buf *out);

#endif
