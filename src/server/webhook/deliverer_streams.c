// SPDX-License-Identifier: Apache-2.0
// What there is to send: the webhooks and letters as they were read from the database, the changes that may concern them, and the
// attempts in flight.
#include "base/base.h"

#include "server/webhook/deliverer_internal.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/log/horizon.h"

enum {
	SAVE_MS = 15000,    // how far the stored positions may lag, in ms; metrics show by them how late this process is
	LETTERS_MS = 15000, // if there are more letters than are read at once, they are read again after so many ms
	// Change ids that are searched for the tenants concerned; beyond that, all tenants are assumed to have changes.
	TENANT_SCAN_MAX = 100000,
	TENANT_SHARE = 8,   // one tenant may have at most an eighth of the attempts that are in flight at the same time
};

// ---- what is in flight

struct deliverer_stream *deliverer_find_stream(struct deliverer *me, uint64_t id)
{
	size_t low = 0, high = me->n_streams;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (me->streams[middle].is.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < me->n_streams && me->streams[low].is.id == id ? &me->streams[low] : NULL;
}

struct deliverer_letter *deliverer_find_letter(struct deliverer *me, uint64_t id)
{
	for (size_t i = 0; i < me->n_letters; i++) {
		if (me->letters[i].is.id == id)
			return &me->letters[i];
	}
	return NULL;
}

bool deliverer_has_room(const struct deliverer *me, uint64_t tenant_id)
{
	size_t n = 0, most = me->settings->parallel, share = most / TENANT_SHARE > 0 ? most / TENANT_SHARE : 1;

	assert(me->settings->parallel > 0);
	if (me->n_attempts >= most)
		return false;
	for (size_t i = 0; i < me->n_attempts; i++)
		n += me->attempts[i]->tenant_id == tenant_id;
	return tenant_id == 0 || n < share;
}

void deliverer_attempt_ends(struct deliverer *me, struct deliverer_attempt *attempt)
{
	assert(me->n_attempts > 0);
	for (size_t i = 0; i < me->n_attempts; i++) {
		if (me->attempts[i] == attempt) {
			me->attempts[i] = me->attempts[--me->n_attempts];
			break;
		}
	}
	free(attempt);
}

void deliverer_drop_attempts(struct deliverer *me)
{
	void *attempt;

	while ((attempt = transfers_drop(me->transfers)) != NULL)
		deliverer_attempt_ends(me, attempt);
	assert(me->n_attempts == 0);
	me->loaded = false;
}

// ---- reading what there is

int64_t deliverer_pause_us(const struct deliverer *me, uint64_t attempts)
{
	uint64_t ms = me->settings->retry_first, most = me->settings->retry_most;
	uint32_t drawn;

	assert(me->settings->retry_first > 0);
	for (uint64_t i = 1; i < attempts && ms < most; i++)
		ms *= 2;
	if (ms > most)
		ms = most;
	digest_random(&drawn, sizeof(drawn));
	return (int64_t)(ms * 500 + ms * 500 * drawn / UINT32_MAX);
}

// When something is due that another process may have put off by its own clock: no later than the longest pause from now.
static int64_t due_after(const struct deliverer *me, int64_t next_us, uint64_t attempts)
{
	int64_t wait_us = next_us != 0 ? next_us - clock_now_us() : 0, most_us = attempts > 0 ? deliverer_pause_us(me, attempts) * 2 : 0;

	return clock_tick_us() + (wait_us < 0 ? 0 : wait_us < most_us ? wait_us
								      : most_us);
}

// Since when the attempts fail. The clocks of this host and of the database may have been set meanwhile, and a webhook that is
// disabled stays so until its owner comes: the shortest time counts, by either clock or as this process saw it. known: what it
// knew of the stream; NULL: nothing.
static int64_t failing_from(const struct webhook_stream *is, const struct deliverer_stream *known)
{
	int64_t here_us = clock_now_us() - is->failing_since_us, us = here_us < is->failing_us ? here_us : is->failing_us;
	int64_t from_us = clock_tick_us() - (us > 0 ? us : 0);
	bool saw = known != NULL && known->is.failing_since_us != 0;

	return saw && known->failing_from_us > from_us ? known->failing_from_us : from_us;
}

void deliverer_forget(struct deliverer *me)
{
	free(me->streams);
	free(me->letters);
	me->streams = NULL;
	me->letters = NULL;
	me->n_streams = me->n_letters = 0;
	me->loaded = false;
}

bool deliverer_is_message_of(const struct deliverer_stream *stream, const struct deliverer_attempt *attempt)
{
	return stream != NULL && attempt->letter_id == 0 && stream->is.begun_upto != 0 &&
	       memcmp(&stream->is.message, &attempt->message, sizeof(attempt->message)) == 0;
}

static void mark_flying(struct deliverer *me)
{
	for (size_t i = 0; i < me->n_attempts; i++) {
		const struct deliverer_attempt *attempt = me->attempts[i];
		struct deliverer_stream *stream = deliverer_find_stream(me, attempt->webhook_id);
		struct deliverer_letter *letter = attempt->letter_id != 0 ? deliverer_find_letter(me, attempt->letter_id) : NULL;

		if (letter != NULL)
			letter->in_flight = true;
		if (deliverer_is_message_of(stream, attempt))
			stream->in_flight = true;
	}
}

// An owner has changed some webhook: what is known of the others stays, so that they need not be asked for again.
static void keep_known(struct deliverer_stream *stream, const struct deliverer_stream *known)
{
	if (known == NULL || known->stored != stream->stored || (known->is.begun_upto != 0) != (stream->is.begun_upto != 0))
		return;
	stream->is.position = known->is.position;
	stream->may_have_changes = known->may_have_changes;
}

enum outcome deliverer_load(struct deliverer *me, uint64_t edits)
{
	struct webhook_stream *streams;
	struct webhook_letter *letters;
	size_t n_streams, n_letters;
	enum outcome outcome = webhook_streams_read(me->registry, &streams, &n_streams);

	if (outcome == OUTCOME_OK)
		outcome = webhook_letters_read(me->registry, &letters, &n_letters);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct deliverer_stream *fresh = calloc(n_streams + 1, sizeof(*fresh));
	struct deliverer_letter *queued = calloc(n_letters + 1, sizeof(*queued));
	if (fresh == NULL || queued == NULL) {
		free(fresh);
		free(queued);
		return OUTCOME_UNAVAILABLE;
	}
	for (size_t i = 0; i < n_streams; i++) {
		fresh[i] = (struct deliverer_stream){
			.is = streams[i], .stored = streams[i].position, .may_have_changes = true,
			.due_us = due_after(me, streams[i].next_us, streams[i].attempts),
		};
		const struct deliverer_stream *known = deliverer_find_stream(me, streams[i].id);
		fresh[i].failing_from_us = failing_from(&streams[i], known);
		if (me->loaded)
			keep_known(&fresh[i], known);
	}
	deliverer_forget(me);
	me->streams = fresh;
	me->letters = queued;
	me->n_streams = n_streams;
	me->n_letters = n_letters;
	for (size_t i = 0; i < n_letters; i++) {
		me->letters[i] = (struct deliverer_letter){ .is = letters[i], .due_us = INT64_MAX };
		if (!letters[i].tenant_deleted)
			me->letters[i].due_us = due_after(me, letters[i].next_us, letters[i].attempts);
	}
	mark_flying(me);
	me->letters_us = clock_tick_us();
	me->edits = edits;
	me->loaded = true;
	return OUTCOME_OK;
}

// Those that were read may fail for hours, so the others do not wait until all of them have ended.
bool deliverer_must_read_letters(const struct deliverer *me)
{
	size_t n_ended = 0;

	if (me->n_letters < WEBHOOK_LETTERS_MAX)
		return false;
	for (size_t i = 0; i < me->n_letters; i++)
		n_ended += me->letters[i].ended;
	return n_ended == me->n_letters || clock_tick_us() - me->letters_us >= LETTERS_MS * INT64_C(1000);
}

bool deliverer_needs_horizon(const struct deliverer *me)
{
	bool needs = me->n_streams > 0;

	for (size_t i = 0; i < me->n_letters && !needs; i++)
		needs = !me->letters[i].ended && me->letters[i].due_us == INT64_MAX;
	return needs;
}

// May a change since the last look concern the webhooks of that tenant? tenants: those that have changes since, in rising order;
// NULL: it is not known which have.
static bool is_touched(const uint64_t *tenants, size_t n, uint64_t tenant_id)
{
	if (tenants == NULL || tenant_id == 0)
		return true;
	for (size_t low = 0, high = n; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (tenants[middle] == tenant_id)
			return true;
		if (tenants[middle] < tenant_id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

enum outcome deliverer_follow_horizon(struct deliverer *me)
{
	uint64_t horizon, newest, *tenants = NULL;
	size_t n = 0;
	enum outcome outcome = horizon_advance(me->registry, &horizon, &newest);

	// Another database is in the place of this one, as after a restore: what is known is of the old one, and its ids will be
	// given again.
	if (outcome == OUTCOME_OK && horizon < me->horizon) {
		me->horizon = 0;
		me->loaded = false;
		return OUTCOME_OK;
	}
	if (outcome != OUTCOME_OK || horizon == me->horizon)
		return outcome;
	if (me->horizon != 0 && horizon - me->horizon <= TENANT_SCAN_MAX)
		outcome = webhook_tenants_changed(me->registry, me->horizon, horizon, &tenants, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < me->n_streams; i++)
		me->streams[i].may_have_changes =
			me->streams[i].may_have_changes || is_touched(tenants, n, me->streams[i].is.tenant_id);
	for (size_t i = 0; i < me->n_letters; i++) {
		struct deliverer_letter *letter = &me->letters[i];
		if (letter->due_us == INT64_MAX && is_touched(tenants, n, letter->is.tenant_id))
			letter->due_us = clock_tick_us(); // it may have been recovered
	}
	me->horizon = horizon;
	return OUTCOME_OK;
}

enum outcome deliverer_save_positions(struct deliverer *me)
{
	struct webhook_stream *ahead = POOL_ARRAY(me->registry->pool, struct webhook_stream, me->n_streams);
	size_t n = 0;
	bool written;

	assert(me->loaded);
	for (size_t i = 0; i < me->n_streams; i++) {
		if (me->streams[i].is.begun_upto == 0 && me->streams[i].is.position > me->streams[i].stored)
			ahead[n++] = me->streams[i].is;
	}
	me->save_us = clock_tick_us() + SAVE_MS * INT64_C(1000);
	if (n == 0)
		return OUTCOME_OK;
	enum outcome outcome = webhook_skip(me->registry, &me->claim, ahead, n, &written);
	me->loaded = me->loaded && (outcome != OUTCOME_OK || written);
	for (size_t i = 0; i < me->n_streams; i++) {
		if (outcome == OUTCOME_OK && me->streams[i].is.begun_upto == 0)
			me->streams[i].stored = me->streams[i].is.position;
	}
	return outcome;
}
