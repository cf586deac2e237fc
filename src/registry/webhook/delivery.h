// SPDX-License-Identifier: Apache-2.0
// What the process that sends to webhooks asks of the database (server/webhook/deliverer.h), and what it writes there.
//
// A webhook is a cursor over the change log: position is the id of the change up to which nothing is left to be sent. A message
// is a range of the log behind it. It is written down before it is sent for the first time, and has one id however often it is
// sent.
//
//          position                begun_upto                     horizon
//     ────────┼───────────────────────┼──────────────────────────────┼────────> ids of changes
//       sent, │   message: sent,      │  not looked at yet           │ may still change
//     or dead │   or tried again      │                              │
//
// One process of all hosts sends. It holds the lease, whose claim is a name that no other process has, and each function below
// that writes checks this name in the same statement. So a process that was taken for dead by mistake writes nothing any more. No
// clocks of different hosts are compared: a process takes the lease only after it saw the beat stand still for a time, by its own
// clock.
//
// All functions run outside of transactions, after registry_begin(), and return OUTCOME_OK, _UNAVAILABLE or _INTERNAL unless said
// otherwise.
// *written: false if the process has lost the lease, or the webhook is not as the caller knows it; then nothing was written.
#ifndef TENURE_REGISTRY_WEBHOOK_DELIVERY_H
#define TENURE_REGISTRY_WEBHOOK_DELIVERY_H

#include "registry/tenant/change_list.h"

// ---- the lease

struct webhook_lease {
	struct uuid claim; // zero: nobody holds it
	uint64_t beat;     // grows as long as the holder lives
	uint64_t edits;    // grows whenever an owner changes a webhook
	bool maintenance;  // the operator has stopped all changes (db/maintenance.h): no message is to be sent
};
enum outcome webhook_lease_read(struct registry *registry, struct webhook_lease *lease);
// Takes the lease for claim if it has the holder and the beat that the caller has seen.
enum outcome webhook_lease_take(struct registry *registry, const struct webhook_lease *seen,
	const struct uuid *claim, bool *written);
// Makes the beat grow, if claim holds the lease.
enum outcome webhook_lease_renew(struct registry *registry, const struct uuid *claim, bool *written);
// Gives the lease up if claim holds it, so that another process may take it at once.
enum outcome webhook_lease_leave(struct registry *registry, const struct uuid *claim);

// ---- what there is to send

struct webhook_stream {
	uint64_t id;        // of the webhook
	uint64_t tenant_id; // 0: of all tenants
	uint64_t position;
	uint64_t begun_upto;      // 0: no message was begun
	struct uuid message;      // its id
	uint64_t attempts;        // failed ones to send it
	int64_t next_us;          // when the next is due, by the clock of the process that wrote the time; 0: now
	int64_t failing_since_us; // the first failure since a message was received last; 0: none
	int64_t failing_us;       // how long ago that is by the database's clock
};
// A message outside the order of the webhook's stream: a ping, or a message that was given up and then revived.
struct webhook_letter {
	uint64_t id, webhook_id, tenant_id;
	struct uuid message;
	bool is_ping;
	uint64_t position, upto; // the range of the log; of a ping 0
	uint64_t attempts;
	int64_t next_us;
	bool tenant_deleted; // it waits until its tenant is recovered or purged
};
enum { WEBHOOK_LETTERS_MAX = 2000 }; // that are read at once

// Reads the webhooks that are neither paused nor disabled, in the order of their ids, into the pool.
enum outcome webhook_streams_read(struct registry *registry, struct webhook_stream **streams, size_t *n);
// Reads queued letters, at most WEBHOOK_LETTERS_MAX: in turn for each tenant, its pings first; those of deleted tenants last.
enum outcome webhook_letters_read(struct registry *registry, struct webhook_letter **letters, size_t *n);
// The ids of the tenants that changes in (after, upto] are about, in rising order.
enum outcome webhook_tenants_changed(struct registry *registry, uint64_t after, uint64_t upto, uint64_t **ids, size_t *n);

struct webhook_target {
	struct str name, url, filters;
	struct str tenant;             // p NULL: it is the operators', for changes of all tenants
	struct str secret, old_secret; // keys, both sign; old_secret p NULL: there is none, or its time is over
};
// Reads where the webhook with this id sends, and what it signs with. OUTCOME_NOT_FOUND: there is none, or its tenant is deleted.
enum outcome webhook_target(struct registry *registry, uint64_t id, struct webhook_target *target);
// Reads the changes of the range in the order of their ids, into the pool: those of that tenant and of what left it, or all if
// tenant_id is 0.
enum outcome webhook_changes(struct registry *registry, uint64_t tenant_id, struct change_range range, struct change **changes, size_t *n);
// Does a webhook with these filters ask for that change?
bool webhook_asks_for(const struct doc *filters, const struct change *change);

// ---- what was sent

// Moves webhooks on to the positions that the n > 0 streams have, since their filters let nothing up to there pass. *written: all
// of them moved.
enum outcome webhook_skip(struct registry *registry, const struct uuid *claim, const struct webhook_stream *streams,
	size_t n, bool *written);
// Writes down the message that is to be sent next: position, begun_upto and message of the stream.
enum outcome webhook_begin(struct registry *registry, const struct uuid *claim, const struct webhook_stream *stream,
	bool *written);

struct webhook_result {
	uint64_t status;  // of the answer; 0: there was none
	struct str error; // "": the message was received
	int64_t now_us;
	int64_t next_us; // if it failed: when it is due again
	bool nothing;    // no change was left to be sent: no attempt was made, and nobody received anything
	bool disables;   // if it failed: disable the webhook
};
// Writes down that the message was received, or that an attempt failed and another is due.
enum outcome webhook_sent(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *written);
// Writes down that the last attempt failed: the message is kept as one that was given up and may be revived, and the webhook
// moves on to its end.
enum outcome webhook_give_up(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *written);
// Writes down an attempt to send a letter, of which only id and attempts count. gives_up: if it failed, there is no other.
enum outcome webhook_letter_sent(struct registry *registry, const struct uuid *claim, const struct webhook_letter *letter,
	const struct webhook_result *result, bool gives_up, bool *written);

#endif
