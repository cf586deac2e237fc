// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <signal.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/control.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/settings.h"
#include "registry/cache/coherence.h"
#include "registry/core/stored.h"
#include "registry/log/horizon.h"
#include "registry/registry.h"
#include "registry/webhook/delivery.h"
#include "registry/webhook/settings.h"
#include "server/setup/signals.h"
#include "server/webhook/deliverer.h"
#include "server/webhook/message.h"
#include "server/webhook/transfer.h"

enum {
	LOOK_MS = 200,      // between two looks at the horizon, while there are webhooks
	IDLE_MS = 1000,     // between two looks at the lease, by those that don't send, or while there is nothing to send to
	SCAN = 1000,        // changes that are read for one message
	SKIP_SAVED = 10000, // ids that a cursor may be ahead of what is stored, if nothing of them is asked for,
	SAVE_MS = 15000,    // and how long: by what is stored, monitoring tells how late this process is
	TENANT_SHARE = 8,   // of the attempts at the same time one tenant has an eighth
	GONE = 410,         // a receiver that answers so wants no more messages
};

static volatile sig_atomic_t stop; // a global, for the signal handler

static void on_stop(int signal)
{
	UNUSED(signal);
	stop = 1;
}

// A webhook, or a letter, as this process knows it. Times are those of clock_tick_us().
struct stream {
	struct webhook_stream is;
	uint64_t stored; // the position in the database
	int64_t due_us;  // of the message that was begun
	bool wants;      // there may be changes that it asks for
	bool flies;      // an attempt is on its way
};
struct letter {
	struct webhook_letter is;
	int64_t due_us;
	bool flies, ended;
};

// One attempt on its way.
struct flight {
	uint64_t webhook_id, tenant_id, letter_id; // letter_id 0: it is the stream's message
	struct uuid message;
	bool is_ping;
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

	bool leads;                // it holds the lease
	int64_t lease_until_us;    // it must not send after this without having renewed the lease
	int64_t renew_us;          // when it is renewed next
	int64_t save_us;           // when positions that are ahead of what is stored are stored next
	struct webhook_lease seen; // by one that does not lead: the lease as it was seen last,
	int64_t seen_us;           // and since when it has been so; 0: not seen yet
	bool rests;                // during maintenance: what is on its way ends, nothing is begun
	bool away;                 // the database did not answer

	bool loaded;             // streams and letters are those of the database as of `edits`
	uint64_t edits, horizon; // horizon: what was looked at; 0: nothing yet
	struct stream *streams;  // in the order of their ids
	struct letter *letters;
	size_t n_streams, n_letters, turn; // turn: the stream that is looked at first
	struct flight **flying;            // the attempts on their way
	size_t n_flying;
};

// The settings were checked when the configuration was loaded.
static void read_rules(struct pool *pool, const struct webhook_settings *settings, struct transfer_rules *rules)
{
	struct str wrong;

	*rules = (struct transfer_rules){
		.http = strcmp(settings->allow_http, "yes") == 0, .ca_file = settings->ca_file, .timeout_ms = settings->timeout * 1000
	};
	bool ok = networks_read(pool, str_c(settings->allow), &rules->networks, &wrong) &&
		  ports_read(pool, str_c(settings->ports), &rules->ports, &wrong);
	assert(ok);
	UNUSED(ok);
}

// ---- what is on its way

static struct stream *find_stream(struct deliverer *me, uint64_t id)
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

static struct letter *find_letter(struct deliverer *me, uint64_t id)
{
	for (size_t i = 0; i < me->n_letters; i++) {
		if (me->letters[i].is.id == id)
			return &me->letters[i];
	}
	return NULL;
}

// May one more attempt of that tenant go on its way? Operators' webhooks share what all have.
static bool has_room(const struct deliverer *me, uint64_t tenant_id)
{
	size_t n = 0, most = me->settings->parallel, share = most / TENANT_SHARE > 0 ? most / TENANT_SHARE : 1;

	if (me->n_flying >= most)
		return false;
	for (size_t i = 0; i < me->n_flying; i++)
		n += me->flying[i]->tenant_id == tenant_id;
	return tenant_id == 0 || n < share;
}

static void flight_ends(struct deliverer *me, struct flight *flight)
{
	for (size_t i = 0; i < me->n_flying; i++) {
		if (me->flying[i] == flight) {
			me->flying[i] = me->flying[--me->n_flying];
			break;
		}
	}
	free(flight);
}

// Ends all attempts: they are made again by whoever holds the lease then.
static void drop_flights(struct deliverer *me)
{
	void *flight;

	while ((flight = transfers_drop(me->transfers)) != NULL)
		flight_ends(me, flight);
	assert(me->n_flying == 0);
	me->loaded = false;
}

// ---- the lease

static int64_t lease_us(const struct deliverer *me)
{
	return (int64_t)me->settings->lease * 1000000;
}

static void step_down(struct deliverer *me, const char *why)
{
	if (me->leads)
		log_info("another host sends to webhooks from now on, or none: %s", why);
	me->leads = false;
	me->seen_us = 0;
	drop_flights(me);
}

// The time counts from before the statement was sent, so another process that sees the beat stand still from then on waits longer than
// this one sends.
static void hold_from(struct deliverer *me, int64_t from_us)
{
	me->leads = true;
	me->lease_until_us = from_us + lease_us(me) * 2 / 3;
	me->renew_us = from_us + lease_us(me) / 4;
}

static enum outcome renew(struct deliverer *me)
{
	int64_t from_us = clock_tick_us();
	bool held;
	enum outcome outcome = webhook_lease_renew(me->registry, &me->claim, &held);

	if (outcome == OUTCOME_OK && held)
		hold_from(me, from_us);
	else if (outcome == OUTCOME_OK)
		step_down(me, "it took the lease");
	return outcome;
}

static bool same_lease(const struct webhook_lease *a, const struct webhook_lease *b)
{
	return a->beat == b->beat && memcmp(&a->claim, &b->claim, sizeof(a->claim)) == 0;
}

// Takes the lease if nobody holds it, if a predecessor did under the same claim, or if its beat has stood still for so long on this
// process's own clock.
static enum outcome try_to_lead(struct deliverer *me)
{
	static const struct uuid nobody;
	struct webhook_lease lease;
	int64_t now_us = clock_tick_us();
	bool held;
	enum outcome outcome = webhook_lease_read(me->registry, &lease);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (me->seen_us == 0 || !same_lease(&lease, &me->seen))
		me->seen_us = now_us;
	me->seen = lease;
	bool is_free = memcmp(&lease.claim, &nobody, sizeof(nobody)) == 0 || memcmp(&lease.claim, &me->claim, sizeof(nobody)) == 0;
	if (!is_free && now_us - me->seen_us < lease_us(me))
		return OUTCOME_OK;
	outcome = webhook_lease_take(me->registry, &lease, &me->claim, &held);
	if (outcome == OUTCOME_OK && held) {
		hold_from(me, now_us);
		me->loaded = false;
		log_info("sends to webhooks");
	}
	return outcome;
}

// ---- reading what there is

// Microseconds from one attempt to the next: twice as long each time, and of that a part that is drawn, so that not all come together.
static int64_t pause_us(const struct deliverer *me, uint64_t attempts)
{
	uint64_t ms = me->settings->retry_first, most = me->settings->retry_most;
	uint32_t drawn;

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
	int64_t wait_us = next_us != 0 ? next_us - clock_now_us() : 0, most_us = attempts > 0 ? pause_us(me, attempts) * 2 : 0;

	return clock_tick_us() + (wait_us < 0 ? 0 : wait_us < most_us ? wait_us
								      : most_us);
}

static void forget_loaded(struct deliverer *me)
{
	free(me->streams);
	free(me->letters);
	me->streams = NULL;
	me->letters = NULL;
	me->n_streams = me->n_letters = 0;
	me->loaded = false;
}

static bool same_message(const struct stream *stream, const struct flight *flight)
{
	return stream != NULL && flight->letter_id == 0 && stream->is.begun_upto != 0 &&
	       memcmp(&stream->is.message, &flight->message, sizeof(flight->message)) == 0;
}

static void mark_flying(struct deliverer *me)
{
	for (size_t i = 0; i < me->n_flying; i++) {
		const struct flight *flight = me->flying[i];
		struct stream *stream = find_stream(me, flight->webhook_id);
		struct letter *letter = flight->letter_id != 0 ? find_letter(me, flight->letter_id) : NULL;

		if (letter != NULL)
			letter->flies = true;
		if (same_message(stream, flight))
			stream->flies = true;
	}
}

// An owner has changed some webhook: what is known of the others stays, so that they need not be asked for again.
static void keep_known(struct stream *stream, const struct stream *known)
{
	if (known == NULL || known->stored != stream->stored || (known->is.begun_upto != 0) != (stream->is.begun_upto != 0))
		return;
	stream->is.position = known->is.position;
	stream->wants = known->wants;
}

// Reads all webhooks and letters. Attempts that are on their way stay so: what becomes of them is compared with the rows.
static enum outcome load(struct deliverer *me, uint64_t edits)
{
	struct webhook_stream *streams;
	struct webhook_letter *letters;
	size_t n_streams, n_letters;
	enum outcome outcome = webhook_streams_read(me->registry, &streams, &n_streams);

	if (outcome == OUTCOME_OK)
		outcome = webhook_letters_read(me->registry, &letters, &n_letters);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct stream *fresh = calloc(n_streams + 1, sizeof(*fresh));
	struct letter *queued = calloc(n_letters + 1, sizeof(*queued));
	if (fresh == NULL || queued == NULL) {
		free(fresh);
		free(queued);
		return OUTCOME_UNAVAILABLE;
	}
	for (size_t i = 0; i < n_streams; i++) {
		fresh[i] = (struct stream){
			.is = streams[i], .stored = streams[i].position, .wants = true, .due_us = due_after(me, streams[i].next_us, streams[i].attempts)
		};
		if (me->loaded)
			keep_known(&fresh[i], find_stream(me, streams[i].id));
	}
	forget_loaded(me);
	me->streams = fresh;
	me->letters = queued;
	me->n_streams = n_streams;
	me->n_letters = n_letters;
	for (size_t i = 0; i < n_letters; i++)
		me->letters[i] = (struct letter){ .is = letters[i], .due_us = due_after(me, letters[i].next_us, letters[i].attempts) };
	mark_flying(me);
	me->edits = edits;
	me->loaded = true;
	return OUTCOME_OK;
}

// Notes which webhooks may have something to send, as the horizon has moved.
static enum outcome follow_horizon(struct deliverer *me)
{
	uint64_t horizon, newest, *tenants;
	size_t n;
	enum outcome outcome = horizon_advance(me->registry, &horizon, &newest);

	if (outcome != OUTCOME_OK || horizon <= me->horizon)
		return outcome;
	if (me->horizon != 0)
		outcome = webhook_tenants_changed(me->registry, me->horizon, horizon, &tenants, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < me->n_streams; i++) {
		uint64_t id = me->streams[i].is.tenant_id;
		bool touched = me->horizon == 0 || id == 0;
		for (size_t low = 0, high = me->horizon != 0 ? n : 0; !touched && low < high;) {
			size_t middle = low + (high - low) / 2;
			touched = tenants[middle] == id;
			if (tenants[middle] < id)
				low = middle + 1;
			else
				high = middle;
		}
		me->streams[i].wants = me->streams[i].wants || touched;
	}
	me->horizon = horizon;
	return OUTCOME_OK;
}

// Stores how far webhooks are for which nothing had to be sent since their positions were stored.
static enum outcome save_positions(struct deliverer *me)
{
	struct webhook_stream *ahead = POOL_ARRAY(me->registry->pool, struct webhook_stream, me->n_streams);
	size_t n = 0;
	bool held;

	for (size_t i = 0; i < me->n_streams; i++) {
		if (me->streams[i].is.begun_upto == 0 && me->streams[i].is.position > me->streams[i].stored)
			ahead[n++] = me->streams[i].is;
	}
	me->save_us = clock_tick_us() + SAVE_MS * INT64_C(1000);
	if (n == 0)
		return OUTCOME_OK;
	enum outcome outcome = webhook_skip(me->registry, &me->claim, ahead, n, &held);
	me->loaded = me->loaded && (outcome != OUTCOME_OK || held);
	for (size_t i = 0; i < me->n_streams; i++) {
		if (outcome == OUTCOME_OK && me->streams[i].is.begun_upto == 0)
			me->streams[i].stored = me->streams[i].is.position;
	}
	return outcome;
}

// ---- sending

// Sends a body. False: there is no memory; it is tried again.
static bool begin_attempt(struct deliverer *me, const struct webhook_target *target, const struct flight *what, struct str body)
{
	struct transfer_request request = { .url = target->url, .body = body };
	struct flight *flight = malloc(sizeof(*flight));

	static_assert((int)MESSAGE_HEADERS <= (int)TRANSFER_HEADERS_MAX, "room for the header fields of a message");
	if (flight == NULL)
		return false;
	*flight = *what;
	if (!message_sign(me->registry->pool, target, &what->message, clock_now_us(), body, request.headers) ||
		!transfers_start(me->transfers, &request, flight)) {
		free(flight);
		return false;
	}
	assert(me->n_flying < me->settings->parallel);
	me->flying[me->n_flying++] = flight;
	return true;
}

// Leaves in *changes only those that the webhook asks for, of n. Returns how many.
static size_t choose(struct deliverer *me, const struct webhook_target *target, uint64_t id, struct change *changes, size_t n)
{
	const struct stored_place place = { .table = "webhooks", .column = "filters", .id = id };
	const struct doc *filters = stored_document(me->registry->pool, place, target->filters);
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++) {
		if (webhook_asks_for(filters, &changes[i]))
			changes[chosen++] = changes[i];
	}
	return chosen;
}

// Reads behind the position and decides what the next message has: *body p NULL: nothing is asked for up to stream->is.position.
static enum outcome begin_message(struct deliverer *me, struct stream *stream, const struct webhook_target *target, struct str *body)
{
	struct pool *pool = me->registry->pool;
	uint64_t after = stream->is.position, upto = me->horizon;
	struct change *changes;
	size_t n, taken;
	bool held;
	enum outcome outcome = webhook_changes(me->registry, stream->is.tenant_id, after, upto, SCAN, &changes, &n);

	*body = STR_NONE;
	if (outcome != OUTCOME_OK)
		return outcome;
	bool more = n == SCAN;
	if (more)
		upto = changes[n - 1].id;
	size_t chosen = choose(me, target, stream->is.id, changes, n);
	if (chosen == 0) {
		stream->is.position = upto;
		stream->wants = more;
		if (upto - stream->stored < SKIP_SAVED)
			return OUTCOME_OK;
		outcome = webhook_skip(me->registry, &me->claim, &stream->is, 1, &held);
		stream->stored = upto;
		me->loaded = me->loaded && (outcome != OUTCOME_OK || held);
		return outcome;
	}
	size_t batch = chosen < me->settings->batch ? chosen : me->settings->batch;
	struct message_range range = { .tenant_id = stream->is.tenant_id, .after = after, .upto = upto };
	(void)message_body(pool, target, &range, 0, changes, batch, MESSAGE_BYTES_MAX, &taken);
	if (taken < chosen)
		range.upto = changes[taken - 1].id;
	*body = message_body(pool, target, &range, 0, changes, taken, SIZE_MAX, &taken);
	stream->is.begun_upto = range.upto;
	stream->is.message = uuid_new();
	stream->is.attempts = 0;
	outcome = webhook_begin(me->registry, &me->claim, &stream->is, &held);
	if (outcome == OUTCOME_OK && !held)
		me->loaded = false;
	return outcome;
}

// The body of a message that was begun before: all that is asked for in its range, however large a batch is by now.
static enum outcome render_range(struct deliverer *me, const struct webhook_target *target, uint64_t webhook_id,
	const struct message_range *range, struct str *body)
{
	struct change *changes;
	size_t n, taken;
	enum outcome outcome = webhook_changes(me->registry, range->tenant_id, range->after, range->upto, SCAN, &changes, &n);

	*body = STR_NONE;
	if (outcome != OUTCOME_OK)
		return outcome;
	n = choose(me, target, webhook_id, changes, n);
	if (n > 0)
		*body = message_body(me->registry->pool, target, range, 0, changes, n, SIZE_MAX, &taken);
	return OUTCOME_OK;
}

static enum outcome serve_stream(struct deliverer *me, struct stream *stream)
{
	struct webhook_target target;
	struct str body;
	bool held;
	enum outcome outcome = webhook_target(me->registry, stream->is.id, &target);

	if (outcome == OUTCOME_NOT_FOUND) { // its tenant was deleted: a change of the tenant wakes it, or an owner's
		stream->wants = false;
		stream->due_us = INT64_MAX;
		return OUTCOME_OK;
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	bool begun = stream->is.begun_upto != 0;
	const struct message_range range = { .tenant_id = stream->is.tenant_id, .after = stream->is.position, .upto = stream->is.begun_upto };
	outcome = begun ? render_range(me, &target, stream->is.id, &range, &body) : begin_message(me, stream, &target, &body);
	if (outcome != OUTCOME_OK || !me->loaded)
		return outcome;
	if (body.p != NULL) {
		const struct flight flight = { .webhook_id = stream->is.id, .tenant_id = stream->is.tenant_id, .message = stream->is.message };
		stream->flies = begin_attempt(me, &target, &flight, body);
		stream->due_us = clock_tick_us();
		return OUTCOME_OK;
	}
	if (!begun)
		return OUTCOME_OK;
	// Its changes were purged, or other filters ask for none of them.
	const struct webhook_result result = { .error = STR(""), .now_us = clock_now_us(), .nothing = true };
	outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, &result, &held);
	if (outcome == OUTCOME_OK && !held)
		me->loaded = false;
	stream->is.position = stream->stored = stream->is.begun_upto;
	stream->is.begun_upto = 0;
	stream->is.failing_since_us = 0;
	return outcome;
}

static enum outcome serve_letter(struct deliverer *me, struct letter *letter)
{
	struct webhook_target target;
	struct str body;
	size_t taken;
	bool held;
	enum outcome outcome = webhook_target(me->registry, letter->is.webhook_id, &target);
	const struct message_range range = {
		.tenant_id = letter->is.tenant_id, .after = letter->is.position, .upto = letter->is.upto, .is_ping = letter->is.is_ping
	};

	if (outcome == OUTCOME_NOT_FOUND)
		letter->due_us = INT64_MAX;
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
	if (letter->is.is_ping)
		body = message_body(me->registry->pool, &target, &range, clock_now_us(), NULL, 0, SIZE_MAX, &taken);
	else
		outcome = render_range(me, &target, letter->is.webhook_id, &range, &body);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (body.p != NULL) {
		const struct flight flight = { .webhook_id = letter->is.webhook_id, .tenant_id = letter->is.tenant_id, .letter_id = letter->is.id, .message = letter->is.message, .is_ping = letter->is.is_ping };
		letter->flies = begin_attempt(me, &target, &flight, body);
		return OUTCOME_OK;
	}
	const struct webhook_result result = { .error = STR(""), .now_us = clock_now_us(), .nothing = true };
	letter->ended = true;
	return webhook_letter_sent(me->registry, &me->claim, &letter->is, &result, true, &held);
}

// Begins what is due and has room. Every turn begins with another webhook.
static enum outcome serve_due(struct deliverer *me)
{
	int64_t now_us = clock_tick_us();
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < me->n_letters && outcome == OUTCOME_OK && me->loaded; i++) {
		struct letter *letter = &me->letters[i];
		if (!letter->flies && !letter->ended && letter->due_us <= now_us && has_room(me, letter->is.tenant_id))
			outcome = serve_letter(me, letter);
	}
	for (size_t i = 0; i < me->n_streams && outcome == OUTCOME_OK && me->loaded; i++) {
		struct stream *stream = &me->streams[(me->turn + i) % me->n_streams];
		bool begun = stream->is.begun_upto != 0;
		if (begun && stream->wants && stream->due_us == INT64_MAX)
			stream->due_us = now_us; // its tenant changed: it may have been recovered
		bool due = begun ? stream->due_us <= now_us : stream->wants && stream->is.position < me->horizon;
		if (!stream->flies && due && has_room(me, stream->is.tenant_id))
			outcome = serve_stream(me, stream);
	}
	me->turn = me->n_streams > 0 ? (me->turn + 1) % me->n_streams : 0;
	return outcome;
}

// ---- what became of attempts

static struct webhook_result result_of(struct pool *pool, const struct transfer_end *end)
{
	struct webhook_result result = { .status = end->status, .error = str_dup(pool, str_c(end->error)), .now_us = clock_now_us() };

	if (result.error.n == 0 && (end->status < 200 || end->status > 299))
		result.error = str_printf(pool, "the receiver answered %u", end->status);
	return result;
}

// Does the receiver say that it wants no more, or have all attempts failed for as long as disable_after?
static bool is_disabled_by(const struct deliverer *me, const struct stream *stream, const struct webhook_result *result)
{
	int64_t limit_us = (int64_t)me->settings->disable_after * 1000000;

	return result->status == GONE || (limit_us > 0 && result->now_us - stream->is.failing_since_us >= limit_us);
}

// The message stays the stream's if it disables the webhook: whoever enables it has it sent again.
static enum outcome note_failure(struct deliverer *me, struct stream *stream, struct webhook_result *result, bool *held)
{
	uint64_t attempts = stream->is.attempts + 1;
	int64_t pause = pause_us(me, attempts);
	enum outcome outcome;

	if (stream->is.failing_since_us == 0)
		stream->is.failing_since_us = result->now_us;
	result->disables = is_disabled_by(me, stream, result);
	result->next_us = result->now_us + pause;
	if (!result->disables && attempts >= me->settings->attempts) {
		metrics_add(me->host, METRICS_WEBHOOK_GIVEN_UP, 1);
		outcome = webhook_give_up(me->registry, &me->claim, stream->is.id, &stream->is.message, result, held);
		stream->is.position = stream->stored = stream->is.begun_upto;
		stream->is.begun_upto = 0;
		stream->wants = true;
		return outcome;
	}
	metrics_add(me->host, METRICS_WEBHOOK_FAILED, 1);
	outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, result, held);
	stream->is.attempts = attempts;
	stream->due_us = result->disables ? INT64_MAX : clock_tick_us() + pause;
	if (result->disables)
		me->loaded = false;
	return outcome;
}

static enum outcome end_stream(struct deliverer *me, struct stream *stream, struct webhook_result *result)
{
	bool held = true;
	enum outcome outcome;

	stream->flies = false;
	if (result->error.n == 0) {
		metrics_add(me->host, METRICS_WEBHOOK_RECEIVED, 1);
		outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, result, &held);
		stream->is.position = stream->stored = stream->is.begun_upto;
		stream->is.begun_upto = 0;
		stream->is.failing_since_us = 0;
		stream->wants = true;
	} else {
		outcome = note_failure(me, stream, result, &held);
	}
	if (!held)
		me->loaded = false;
	return outcome;
}

static enum outcome end_letter(struct deliverer *me, struct letter *letter, struct webhook_result *result)
{
	uint64_t attempts = letter->is.attempts + 1;
	bool held, gives_up = letter->is.is_ping || attempts >= me->settings->attempts;
	int64_t pause = pause_us(me, attempts);

	metrics_add(me->host, result->error.n == 0 ? METRICS_WEBHOOK_RECEIVED : gives_up ? METRICS_WEBHOOK_GIVEN_UP : METRICS_WEBHOOK_FAILED, 1);
	letter->flies = false;
	letter->ended = result->error.n == 0 || gives_up;
	result->next_us = result->now_us + pause;
	enum outcome outcome = webhook_letter_sent(me->registry, &me->claim, &letter->is, result, gives_up, &held);
	letter->is.attempts = attempts;
	letter->due_us = clock_tick_us() + pause;
	if (!held)
		me->loaded = false;
	return outcome;
}

static enum outcome take_ends(struct deliverer *me)
{
	struct transfer_end end;
	bool held;
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && transfers_next(me->transfers, &end)) {
		struct flight *flight = end.arg;
		struct stream *stream = find_stream(me, flight->webhook_id);
		struct letter *letter = flight->letter_id != 0 ? find_letter(me, flight->letter_id) : NULL;
		struct webhook_result result = result_of(me->registry->pool, &end);

		if (letter != NULL)
			outcome = end_letter(me, letter, &result);
		else if (same_message(stream, flight))
			outcome = end_stream(me, stream, &result);
		else if (flight->letter_id == 0 && result.error.n == 0) // it was paused meanwhile: what was received need not be sent again
			outcome = webhook_sent(me->registry, &me->claim, flight->webhook_id, &flight->message, &result, &held);
		flight_ends(me, flight);
	}
	return outcome;
}

// ---- turns

// One turn of the process that holds the lease. *pause_ms: until the next.
static enum outcome lead(struct deliverer *me, int64_t *look_us, int *pause_ms)
{
	struct webhook_lease lease;
	int64_t now_us = clock_tick_us();
	enum outcome outcome = now_us >= me->renew_us ? renew(me) : OUTCOME_OK;

	if (outcome != OUTCOME_OK || !me->leads)
		return outcome;
	if (now_us >= *look_us || !me->loaded) {
		outcome = webhook_lease_read(me->registry, &lease);
		if (outcome == OUTCOME_OK && memcmp(&lease.claim, &me->claim, sizeof(lease.claim)) != 0) {
			step_down(me, "it took the lease");
			return OUTCOME_OK;
		}
		me->rests = lease.maintenance;
		if (outcome == OUTCOME_OK && (!me->loaded || lease.edits != me->edits))
			outcome = load(me, lease.edits);
		if (outcome == OUTCOME_OK && me->n_streams > 0)
			outcome = follow_horizon(me);
		*look_us = now_us + (me->n_streams > 0 ? LOOK_MS : IDLE_MS) * INT64_C(1000);
	}
	if (outcome == OUTCOME_OK)
		outcome = take_ends(me);
	if (outcome == OUTCOME_OK && me->loaded && now_us >= me->save_us)
		outcome = save_positions(me);
	// Whoever was held up for longer than the lease sends nothing: another process may have taken it. During maintenance the database may be
	// copied elsewhere, and what was sent here would be sent again there.
	if (outcome == OUTCOME_OK && me->loaded && !me->rests && clock_tick_us() < me->lease_until_us)
		outcome = serve_due(me);
	*pause_ms = me->loaded ? (me->n_flying > 0 || me->n_streams > 0 ? LOOK_MS / 4 : IDLE_MS / 4) : 0;
	return outcome;
}

static enum outcome take_turn(struct deliverer *me, int64_t *look_us, int *pause_ms)
{
	struct uuid none = { 0 };

	pool_clear(me->pool);
	*pause_ms = IDLE_MS;
	enum outcome outcome = registry_begin(me->registry, me->pool, &none, STR("tenured-host"), &me->problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!me->leads)
		outcome = try_to_lead(me);
	if (outcome == OUTCOME_OK && me->leads)
		outcome = lead(me, look_us, pause_ms);
	return outcome;
}

// After a statement failed nobody knows what it did, so all is read again.
static void note_database(struct deliverer *me, bool away)
{
	if (away && !me->away)
		log_warning("webhooks wait for the database: %s", db_error(me->db));
	me->away = away;
	if (away)
		drop_flights(me);
	registry_store_trim(me->store);
}

static bool open_all(struct deliverer *me, const struct config *config, struct shared *host, const struct uuid *claim)
{
	*me = (struct deliverer){ .settings = webhook_settings(config), .host = host, .claim = *claim };
	me->pool = pool_new();
	me->kept = pool_new();
	me->db = db_open(db_settings(config), false);
	if (me->pool == NULL || me->kept == NULL || me->db == NULL)
		return false;
	read_rules(me->kept, me->settings, &me->rules);
	me->flying = calloc(me->settings->parallel, sizeof(*me->flying));
	me->transfers = transfers_new(&me->rules);
	me->store = registry_store_new(config, me->db);
	if (me->flying == NULL || me->transfers == NULL || me->store == NULL)
		return false;
	coherence_join(me->store, host);
	registry_attach(me->registry, me->store);
	return true;
}

static void close_all(struct deliverer *me)
{
	if (me->transfers != NULL && me->flying != NULL)
		drop_flights(me);
	forget_loaded(me);
	transfers_free(&me->transfers);
	registry_store_free(&me->store);
	db_close(&me->db);
	free(me->flying);
	pool_free(&me->kept);
	pool_free(&me->pool);
}

int deliverer_run(const struct config *config, struct shared *host, const struct uuid *claim)
{
	struct deliverer me;
	int64_t look_us = 0;
	int pause_ms;

	signals_stop_by(on_stop);
	if (!open_all(&me, config, host, claim)) {
		log_error("no memory for webhooks");
		close_all(&me);
		return EX_OSERR;
	}
	while (!stop) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		note_database(&me, take_turn(&me, &look_us, &pause_ms) != OUTCOME_OK);
		if (me.n_flying > 0 && clock_tick_us() >= me.lease_until_us)
			drop_flights(&me);
		if (!stop)
			transfers_wait(me.transfers, me.away ? IDLE_MS : pause_ms);
	}
	if (me.leads && me.loaded && !me.away) {
		pool_clear(me.pool);
		(void)save_positions(&me);
	}
	if (me.leads)
		(void)webhook_lease_leave(me.registry, &me.claim);
	close_all(&me);
	return EX_OK;
}
