// SPDX-License-Identifier: Apache-2.0
// What the process that sends to webhooks asks of the database (server/webhook/deliverer.h), and what it writes there.
//
// A webhook is a cursor over the change log: position is the id of the change up to which nothing is left to be sent. A message is a range
// of the log behind it. It is written down before it is sent for the first time, and has one id however often it is sent.
//
//          position                begun_upto                     horizon
//     ────────┼───────────────────────┼──────────────────────────────┼────────> ids of changes
//       sent, │   message: sent,      │  not looked at yet           │ may still change
//     or dead │   or tried again      │                              │
//
// One process of all hosts sends. It holds the lease, whose claim is a name that no other process has, and each function below that
// writes asks for this name in the same statement. So a process that was taken for dead by mistake writes nothing any more. Nothing here
// goes by the clocks of hosts: a process takes the lease only after it saw the beat stand still for a time, by its own clock.
//
// All functions run outside of transactions, after registry_begin(), and return OUTCOME_OK, _UNAVAILABLE or _INTERNAL unless said otherwise.
// *held: false if the process has lost the lease, or the webhook is not as the caller knows it; then nothing was written.
#ifndef TENURE_REGISTRY_WEBHOOK_DELIVERY_H
#define TENURE_REGISTRY_WEBHOOK_DELIVERY_H

#include "registry/tenant/change_list.h"

// ---- the lease

struct webhook_lease {
	struct uuid claim; // zero: nobody holds it
	uint64_t beat;     // grows while the process lives that holds it
	uint64_t edits;    // grows with each change of a webhook that an owner makes
	bool maintenance;  // the operator has stopped all changes (db/maintenance.h): no message is to be sent
};
enum outcome webhook_lease_read(struct registry *registry, struct webhook_lease *lease);
// Takes it if it is still as it was seen.
enum outcome webhook_lease_take(struct registry *registry, const struct webhook_lease *seen, const struct uuid *claim, bool *held);
enum outcome webhook_lease_renew(struct registry *registry, const struct uuid *claim, bool *held);
// Gives it up, so that another process may take it at once.
enum outcome webhook_lease_leave(struct registry *registry, const struct uuid *claim);

// ---- what there is to send

struct webhook_stream {
	uint64_t id;        // of the webhook
	uint64_t tenant_id; // 0: of all tenants
	uint64_t position;
	uint64_t begun_upto;      // 0: no message was begun
	struct uuid message;      // its id
	uint64_t attempts;        // of it, that failed
	int64_t next_us;          // when it is due, by the clock of the process that wrote that; 0: now
	int64_t failing_since_us; // the first failure since something was received last; 0: none
};
// A message that is sent apart from the webhook's stream: a ping, or a message that was given up and then revived.
struct webhook_letter {
	uint64_t id, webhook_id, tenant_id;
	struct uuid message;
	bool is_ping;
	uint64_t position, upto; // the range of the log; of a ping 0
	uint64_t attempts;
	int64_t next_us;
};
enum { WEBHOOK_LETTERS_MAX = 10000 }; // that are read at once

// Reads the webhooks that are neither paused nor disabled, in the order of their ids, into the pool.
enum outcome webhook_streams_read(struct registry *registry, struct webhook_stream **streams, size_t *n);
// Reads the oldest queued letters.
enum outcome webhook_letters_read(struct registry *registry, struct webhook_letter **letters, size_t *n);
// The ids of the tenants that changes in (after, upto] are about, in rising order.
enum outcome webhook_tenants_changed(struct registry *registry, uint64_t after, uint64_t upto, uint64_t **ids, size_t *n);

struct webhook_target {
	struct str name, url, filters;
	struct str tenant;             // p NULL: it is the operators', for changes of all tenants
	struct str secret, old_secret; // keys; old_secret p NULL: none signs beside the present one
};
// OUTCOME_NOT_FOUND: there is none, or its tenant is deleted.
enum outcome webhook_target(struct registry *registry, uint64_t id, struct webhook_target *target);
// The changes with after < id <= upto of that tenant and of what left it, or of all (0), at most limit, in order. etags and names as clients
// see them.
enum outcome webhook_changes(struct registry *registry, uint64_t tenant_id, uint64_t after, uint64_t upto, uint64_t limit,
	struct change **changes, size_t *n);
// Does a webhook with these filters ask for that change?
bool webhook_asks_for(const struct doc *filters, const struct change *change);

// ---- what became of it

// Nothing up to its position is asked for by each of these webhooks. *held: this is so of all of them.
enum outcome webhook_skip(struct registry *registry, const struct uuid *claim, const struct webhook_stream *streams, size_t n, bool *held);
// Writes down the message of the stream: position, begun_upto and message.
enum outcome webhook_begin(struct registry *registry, const struct uuid *claim, const struct webhook_stream *stream, bool *held);

struct webhook_result {
	uint64_t status;  // of the answer; 0: there was none
	struct str error; // "": the message was received
	int64_t now_us;
	int64_t next_us; // if it failed: when it is due again
	bool nothing;    // there was nothing to send
	bool disables;   // if it failed: the webhook is disabled
};
// The message was received, or it failed and is tried again.
enum outcome webhook_sent(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *held);
// The message failed and is given up: it can be revived, and the stream goes on behind it. Messages that ended before the setting
// retention are forgotten.
enum outcome webhook_give_up(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *held);
// What became of a letter. gives_up: if it failed, it is not tried again.
enum outcome webhook_letter_sent(struct registry *registry, const struct uuid *claim, const struct webhook_letter *letter,
	const struct webhook_result *result, bool gives_up, bool *held);

#endif
