// SPDX-License-Identifier: Apache-2.0
// The watch of one client in the watch process: what it watches, up to which change it was told, and its events. It is made from
// the handover (call->handover) that a worker wrote after checking the request.
#ifndef TENURE_API_SPACES_WATCH_WATCHER_H
#define TENURE_API_SPACES_WATCH_WATCHER_H

#include "api/call.h"
#include "base/buf.h"
#include "registry/watch/change_stream.h"

struct auth;
struct db;
struct watcher;

// Makes a watcher from a copy of the handover. NULL: the handover is invalid, or there is no memory.
struct watcher *watcher_new(struct str handover);
// Frees it, and sets *watcher to NULL.
void watcher_free(struct watcher **watcher);

// The only tenant, beside the system's, whose changes concern the watch; p NULL: those of all tenants may.
struct str watcher_tenant(const struct watcher *watcher);
// The caller's tenant; "" for an operator without one.
struct str watcher_user_tenant(const struct watcher *watcher);
// The change id up to which the client was told all changes.
uint64_t watcher_position(const struct watcher *watcher);
// Raises the position; never lowers it.
void watcher_advance(struct watcher *watcher, uint64_t position);
// For how many seconds after its beginning the watch lasts.
unsigned watcher_seconds(const struct watcher *watcher);
// Does the client want bookmarks (allowWatchBookmarks)?
bool watcher_wants_bookmarks(const struct watcher *watcher);

// What a change means for a watch. Of each change above the position the caller asks, in this order: watcher_wants(), and, if so,
// whether watcher_needs_state_before(); once the events of that change are sent, or if it has none, watcher_is_invalidated(); and
// last watcher_may_change_definition(), after which watcher_check_type() says whether the watch may go on.
//
// May the change concern this watch, so that its contents have to be read? True may turn out to be wrong.
bool watcher_wants(const struct watcher *watcher, const struct streamed_change *change);
// Does the event depend on what selectors saw before the change? If so, the caller lets
// change_stream_contents() read that.
bool watcher_needs_state_before(const struct watcher *watcher, const struct streamed_change *change);
// Does this change invalidate everything the client knows, so that it must list again?
bool watcher_is_invalidated(const struct watcher *watcher, const struct streamed_change *change);
// May this change alter which definition applies to the watched type, if any?
bool watcher_may_change_definition(const struct watcher *watcher, const struct streamed_change *change);
// OUTCOME_OK: the same definition still applies, and the caller may watch. _UNAVAILABLE: the database can't be reached. call: as
// for watcher_add_events().
enum outcome watcher_check_type(struct watcher *watcher, struct call *call);
// Do the credentials of the request still give the same user, tenant, role and right to read everything? OUTCOME_OK,
// _UNAUTHENTICATED, _UNAVAILABLE.
enum outcome watcher_check_user(struct watcher *watcher, struct call *call, struct auth *auth, struct db *db);
// Appends the events of a change, if any. The caller sets pool, config, endpoint, routes and registry of call; the rest is set
// from the handover. OUTCOME_OK; _UNAVAILABLE: the database can't be reached; others: the type is gone for this client, or it is
// not known whether the client has the object.
enum outcome watcher_add_events(struct watcher *watcher, struct call *call, const struct streamed_change *change,
	struct buf *out);
// Appends a BOOKMARK of the watch's position. call and outcomes: as for watcher_add_events().
enum outcome watcher_add_bookmark(struct watcher *watcher, struct call *call, struct buf *out);
// Each of these appends an ERROR event, after which the watch has to end.
//
// Code 410: the history is not kept, so the client has to list again.
void watch_add_expired(struct buf *out);
// Code 401: the credentials are no longer valid.
void watch_add_unauthenticated(struct buf *out);
// Code 413: making an event took more memory or computing time than one may take.
void watch_add_too_costly(struct buf *out);
// Code 500: stored data can't be read.
void watch_add_broken(struct buf *out);

#endif
