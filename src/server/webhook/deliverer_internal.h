// SPDX-License-Identifier: Apache-2.0
// For the files of the process that sends to webhooks: deliverer.c, which holds the lease and takes its turns;
// deliverer_streams.c, which knows what there is to send; deliverer_send.c, which sends it and notes what became of it.
#ifndef TENURE_SERVER_WEBHOOK_DELIVERER_INTERNAL_H
#define TENURE_SERVER_WEBHOOK_DELIVERER_INTERNAL_H

#include "base/problem.h"
#include "base/uuid.h"
#include "registry/registry.h"
#include "registry/webhook/delivery.h"
#include "registry/webhook/settings.h"
#include "server/webhook/deliverer.h"
#include "server/webhook/transfer.h"

// A webhook, or a letter (registry/webhook/delivery.h), as this process knows it. Times are those of clock_tick_us().
struct deliverer_stream {
	struct webhook_stream is;
	uint64_t stored; // the position in the database
	int64_t due_us;  // of the message that was begun
	int64_t failing_from_us; // if is.failing_since_us is not 0: when its attempts began to fail
	bool may_have_changes; // the change log may have changes for it that were not looked at yet
	bool in_flight;        // an attempt to send its message has begun and has not ended
};
struct deliverer_letter {
	struct webhook_letter is;
	int64_t due_us; // INT64_MAX: when its tenant was recovered
	bool in_flight;
	bool ended;     // it was received or given up, so it is not sent again, and is forgotten when letters are read again
};

// An attempt to send a message that is in flight.
enum { DELIVERER_LABEL_MAX = 160 };
struct deliverer_attempt {
	uint64_t webhook_id, tenant_id, letter_id; // letter_id 0: it is the stream's message
	uint64_t attempts;                         // of a letter: how many failed before
	struct uuid message;
	bool is_ping;
	char label[DELIVERER_LABEL_MAX]; // for the log: whose webhook, and which; cut off if it is longer
};

struct deliverer {
	const struct webhook_settings *settings;
	struct shared *host;
	struct db *db;
	struct registry_store *store;
	struct registry registry[1];
	struct pool *pool; // of one turn
	struct pool *kept; // what the rules are made of
	struct problem problem;
	struct transfer_rules rules;
	struct transfers *transfers;
	struct uuid claim;

	bool holds_lease;          // as far as it knows: until lease_until_us at most
	int64_t lease_until_us;    // it must not send after this without having renewed the lease
	int64_t renew_us;          // when it is renewed next
	int64_t save_us;           // when positions that are ahead of what is stored are stored next
	struct webhook_lease seen; // of a process that does not hold the lease: the lease as it last saw it,
	int64_t seen_us;           // and since when the lease has looked like that; 0: not seen yet
	bool in_maintenance;       // the operator has stopped all changes: attempts in flight end, and none begins
	bool away;                 // the database did not answer

	bool loaded;             // streams and letters are those of the database as of `edits`
	uint64_t edits, horizon; // horizon: the changes up to this id have been looked at; 0: none yet, or the horizon was not followed lately
	struct deliverer_stream *streams;  // in the order of their ids
	struct deliverer_letter *letters;  // not more than are read at once
	int64_t letters_us;                // when they were read
	size_t n_streams, n_letters, turn; // turn: the stream that is looked at first
	struct deliverer_attempt **attempts; // in flight; at most settings->parallel
	size_t n_attempts;
};

// ---- deliverer_streams.c: what there is to send, and what is in flight

// The webhook, or the letter, of that id; NULL: there is none.
struct deliverer_stream *deliverer_find_stream(struct deliverer *me, uint64_t id);
struct deliverer_letter *deliverer_find_letter(struct deliverer *me, uint64_t id);
// Is the attempt one of the message that the stream has begun? stream may be NULL.
bool deliverer_is_message_of(const struct deliverer_stream *stream, const struct deliverer_attempt *attempt);
// May one more attempt of that tenant begin? tenant_id 0, of an operators' webhook: only the total limits them.
bool deliverer_has_room(const struct deliverer *me, uint64_t tenant_id);
// Forgets an attempt that has ended, and frees it.
void deliverer_attempt_ends(struct deliverer *me, struct deliverer_attempt *attempt);
// Ends all attempts: they are made again by whoever holds the lease then.
void deliverer_drop_attempts(struct deliverer *me);

// Microseconds to wait before the next attempt: doubles with each attempt, less a random part, so that retries do not all come
// together.
int64_t deliverer_pause_us(const struct deliverer *me, uint64_t attempts);
// Reads all webhooks and letters. Attempts that are in flight stay so: what becomes of them is compared with the rows. edits: the
// number of owners' changes that they are as of. OUTCOME_OK, or that of a failed statement; as the next two.
enum outcome deliverer_load(struct deliverer *me, uint64_t edits);
// Does the database have more letters than were read, and is it time to read again?
bool deliverer_must_read_letters(const struct deliverer *me);
// Frees what was read.
void deliverer_forget(struct deliverer *me);
// Has something that a change can wake: a webhook, or a letter of a deleted tenant?
bool deliverer_needs_horizon(const struct deliverer *me);
// Notes which webhooks, and letters of deleted tenants, may have something to send, as the horizon has moved. If it has gone
// back, all has to be loaded again.
enum outcome deliverer_follow_horizon(struct deliverer *me);
// Stores how far webhooks are for which nothing had to be sent since their positions were stored.
enum outcome deliverer_save_positions(struct deliverer *me);

// ---- deliverer_send.c

// Begins what is due and has room. Every turn begins with another webhook. A turn ends when the lease is to be renewed, but
// serves one webhook at least; *more: others were due, with which the next turn begins. OUTCOME_OK, or that of a failed
// statement; as the next.
enum outcome deliverer_send_due(struct deliverer *me, bool *more);
// Writes down what became of the attempts that have ended.
enum outcome deliverer_take_ends(struct deliverer *me);

#endif
