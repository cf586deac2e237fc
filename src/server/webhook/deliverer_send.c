// SPDX-License-Identifier: Apache-2.0
// Sends messages: begins the attempts that are due, within what each tenant may have at the same time, and writes down what
// became of those that have ended.
#include "base/base.h"

#include "server/webhook/deliverer_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "registry/core/stored.h"
#include "server/webhook/message.h"

enum {
	LETTERS = 100,      // that are looked at in one turn: streams, and the lease, do not wait for very many
	SCAN = 1000,        // changes that are read for one message
	SKIP_SAVED = 10000, // ids that a cursor may be ahead of what is stored, if nothing of them is asked for
	GONE = 410,         // a receiver that answers so wants no more messages
};

// ---- sending

// Sends a body. False: there is no memory; it is tried again.
static bool begin_attempt(struct deliverer *me, const struct webhook_target *target, const struct deliverer_attempt *what,
	struct str body)
{
	struct transfer_request request = { .url = target->url, .body = body };
	struct deliverer_attempt *attempt = malloc(sizeof(*attempt));

	static_assert((int)MESSAGE_HEADERS <= (int)TRANSFER_HEADERS_MAX, "room for the header fields of a message");
	if (attempt == NULL)
		return false;
	*attempt = *what;
	(void)snprintf(attempt->label, sizeof(attempt->label), "%.*s of %.*s", STR_ARG(target->name),
		STR_ARG(target->tenant.p != NULL ? target->tenant : STR("all")));
	if (!message_sign(me->registry->pool, target, &what->message, clock_now_us(), body, request.headers) ||
		!transfers_start(me->transfers, &request, attempt)) {
		free(attempt);
		return false;
	}
	assert(me->n_attempts < me->settings->parallel);
	me->attempts[me->n_attempts++] = attempt;
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

// Reads the changes behind the position and decides which of them the next message has. *body p NULL: the filters let none of
// them pass, and the position is behind them now.
static enum outcome begin_message(struct deliverer *me, struct deliverer_stream *stream, const struct webhook_target *target, struct str *body)
{
	struct pool *pool = me->registry->pool;
	const struct change_range ahead = { .after = stream->is.position, .up_to = me->horizon, .limit = SCAN };
	uint64_t upto = ahead.up_to;
	struct change *changes;
	size_t n, taken;
	bool written;
	enum outcome outcome = webhook_changes(me->registry, stream->is.tenant_id, ahead, &changes, &n);

	*body = STR_NONE;
	if (outcome != OUTCOME_OK)
		return outcome;
	bool more = n == SCAN;
	if (more)
		upto = changes[n - 1].id;
	size_t chosen = choose(me, target, stream->is.id, changes, n);
	if (chosen == 0) {
		stream->is.position = upto;
		stream->may_have_changes = more;
		if (upto - stream->stored < SKIP_SAVED)
			return OUTCOME_OK;
		outcome = webhook_skip(me->registry, &me->claim, &stream->is, 1, &written);
		stream->stored = upto;
		me->loaded = me->loaded && (outcome != OUTCOME_OK || written);
		return outcome;
	}
	size_t batch = chosen < me->settings->batch ? chosen : me->settings->batch;
	struct message_range range = { .tenant_id = stream->is.tenant_id, .after = ahead.after, .upto = upto };
	struct message_changes sent = { .list = changes, .n = batch };
	(void)message_body(pool, target, &range, sent, MESSAGE_BYTES_MAX, &taken);
	if (taken < chosen)
		range.upto = changes[taken - 1].id;
	sent.n = taken;
	*body = message_body(pool, target, &range, sent, SIZE_MAX, &taken);
	stream->is.begun_upto = range.upto;
	stream->is.message = uuid_new();
	stream->is.attempts = 0;
	outcome = webhook_begin(me->registry, &me->claim, &stream->is, &written);
	if (outcome == OUTCOME_OK && !written)
		me->loaded = false;
	return outcome;
}

// The body of a message that was begun before: all that is asked for in its range, however large a batch is by now.
static enum outcome render_range(struct deliverer *me, const struct webhook_target *target, uint64_t webhook_id,
	const struct message_range *range, struct str *body)
{
	const struct change_range log_range = { .after = range->after, .up_to = range->upto, .limit = SCAN };
	struct change *changes;
	size_t n, taken;
	enum outcome outcome = webhook_changes(me->registry, range->tenant_id, log_range, &changes, &n);

	*body = STR_NONE;
	if (outcome != OUTCOME_OK)
		return outcome;
	n = choose(me, target, webhook_id, changes, n);
	if (n > 0)
		*body = message_body(me->registry->pool, target, range, (struct message_changes){ .list = changes, .n = n }, SIZE_MAX, &taken);
	return OUTCOME_OK;
}

static enum outcome serve_stream(struct deliverer *me, struct deliverer_stream *stream)
{
	struct webhook_target target;
	struct str body;
	bool written;
	enum outcome outcome = webhook_target(me->registry, stream->is.id, &target);

	if (outcome == OUTCOME_NOT_FOUND) { // its tenant was deleted: a change of the tenant wakes it, or an owner's
		stream->may_have_changes = false;
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
		const struct deliverer_attempt attempt = {
			.webhook_id = stream->is.id, .tenant_id = stream->is.tenant_id, .message = stream->is.message,
		};
		stream->in_flight = begin_attempt(me, &target, &attempt, body);
		stream->due_us = clock_tick_us();
		return OUTCOME_OK;
	}
	if (!begun)
		return OUTCOME_OK;
	// Its changes were purged, or other filters ask for none of them.
	const struct webhook_result result = { .error = STR(""), .now_us = clock_now_us(), .nothing = true };
	outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, &result, &written);
	if (outcome == OUTCOME_OK && !written)
		me->loaded = false;
	stream->is.position = stream->stored = stream->is.begun_upto;
	stream->is.begun_upto = 0;
	stream->is.failing_since_us = 0;
	return outcome;
}

static enum outcome serve_letter(struct deliverer *me, struct deliverer_letter *letter)
{
	struct webhook_target target;
	struct str body;
	size_t taken;
	bool written;
	enum outcome outcome = webhook_target(me->registry, letter->is.webhook_id, &target);
	const struct message_range range = {
		.tenant_id = letter->is.tenant_id, .after = letter->is.position, .upto = letter->is.upto,
		.ping_us = letter->is.is_ping ? clock_now_us() : 0,
	};

	if (outcome == OUTCOME_NOT_FOUND)
		letter->due_us = INT64_MAX;
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
	if (letter->is.is_ping)
		body = message_body(me->registry->pool, &target, &range, (struct message_changes){ .n = 0 }, SIZE_MAX, &taken);
	else
		outcome = render_range(me, &target, letter->is.webhook_id, &range, &body);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (body.p != NULL) {
		const struct deliverer_attempt attempt = {
			.webhook_id = letter->is.webhook_id, .tenant_id = letter->is.tenant_id, .letter_id = letter->is.id,
			.attempts = letter->is.attempts, .message = letter->is.message, .is_ping = letter->is.is_ping,
		};
		letter->in_flight = begin_attempt(me, &target, &attempt, body);
		return OUTCOME_OK;
	}
	// Its changes were purged, or other filters ask for none of them.
	const struct webhook_result result = { .error = STR("nothing of it is left to be sent"), .now_us = clock_now_us(), .nothing = true };
	letter->ended = true;
	outcome = webhook_letter_sent(me->registry, &me->claim, &letter->is, &result, true, &written);
	if (outcome == OUTCOME_OK && !written)
		me->loaded = false;
	return outcome;
}

// Letters have half of the time that a turn has, so that streams get theirs.
static enum outcome send_letters(struct deliverer *me, int64_t now_us)
{
	const struct pool_mark mark = pool_mark(me->registry->pool);
	int64_t until_us = now_us + (me->renew_us - now_us) / 2;
	size_t n_served = 0;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < me->n_letters && n_served < LETTERS && outcome == OUTCOME_OK && me->loaded; i++) {
		struct deliverer_letter *letter = &me->letters[i];
		if (letter->in_flight || letter->ended || letter->due_us > now_us || !deliverer_has_room(me, letter->is.tenant_id))
			continue;
		if (n_served > 0 && clock_tick_us() >= until_us)
			break;
		outcome = serve_letter(me, letter);
		pool_rewind(me->registry->pool, mark);
		n_served++;
	}
	return outcome;
}

static bool is_due(const struct deliverer *me, struct deliverer_stream *stream, int64_t now_us)
{
	bool begun = stream->is.begun_upto != 0;

	if (begun && stream->may_have_changes && stream->due_us == INT64_MAX)
		stream->due_us = now_us; // its tenant changed: it may have been recovered
	bool due = begun ? stream->due_us <= now_us : stream->may_have_changes && stream->is.position < me->horizon;
	return due && !stream->in_flight && deliverer_has_room(me, stream->is.tenant_id);
}

// The lease is renewed between two turns, so none of them goes on until its time is over, however many webhooks there are. Each
// one's memory is given back when it was served: streams, letters and attempts point to nothing in the pool, and
// transfers_start() copies a request.
enum outcome deliverer_send_due(struct deliverer *me, bool *more)
{
	const struct pool_mark mark = pool_mark(me->registry->pool);
	int64_t now_us = clock_tick_us();
	size_t n_served = 0, first = me->turn;
	enum outcome outcome = send_letters(me, now_us);

	*more = false;
	me->turn = me->n_streams > 0 ? (first + 1) % me->n_streams : 0;
	for (size_t i = 0; i < me->n_streams && outcome == OUTCOME_OK && me->loaded; i++) {
		size_t at = (first + i) % me->n_streams;
		if (!is_due(me, &me->streams[at], now_us))
			continue;
		if (n_served > 0 && clock_tick_us() >= me->renew_us) {
			me->turn = at;
			*more = true;
			break;
		}
		outcome = serve_stream(me, &me->streams[at]);
		pool_rewind(me->registry->pool, mark);
		n_served++;
	}
	return outcome;
}

// ---- what became of attempts

// Operators are told all about their own webhooks, those of all tenants.
static struct webhook_result result_of(struct pool *pool, const struct deliverer_attempt *attempt, const struct transfer_end *end)
{
	const char *error = attempt->tenant_id == 0 && end->reason[0] != '\0' ? end->reason : end->error;
	struct webhook_result result = { .status = end->status, .error = str_dup(pool, str_c(error)), .now_us = clock_now_us() };

	if (result.error.n == 0 && (end->status < 200 || end->status > 299))
		result.error = str_printf(pool, "the receiver answered %u", end->status);
	return result;
}

// Does the receiver say that it wants no more, or have all attempts failed for as long as disable_after?
static bool is_disabled_by(const struct deliverer *me, const struct deliverer_stream *stream, const struct webhook_result *result)
{
	int64_t limit_us = (int64_t)me->settings->disable_after * 1000000;

	return result->status == GONE || (limit_us > 0 && clock_tick_us() - stream->failing_from_us >= limit_us);
}

// The message stays the stream's if it disables the webhook: whoever enables it has it sent again.
static enum outcome note_failure(struct deliverer *me, struct deliverer_stream *stream, struct webhook_result *result,
	bool *written)
{
	uint64_t attempts = stream->is.attempts + 1;
	int64_t pause = deliverer_pause_us(me, attempts);
	enum outcome outcome;

	if (stream->is.failing_since_us == 0) {
		stream->is.failing_since_us = result->now_us;
		stream->failing_from_us = clock_tick_us();
	}
	result->disables = is_disabled_by(me, stream, result);
	result->next_us = result->now_us + pause;
	if (!result->disables && attempts >= me->settings->attempts) {
		metrics_add(me->host, METRICS_WEBHOOK_GIVEN_UP, 1);
		outcome = webhook_give_up(me->registry, &me->claim, stream->is.id, &stream->is.message, result, written);
		stream->is.position = stream->stored = stream->is.begun_upto;
		stream->is.begun_upto = 0;
		stream->may_have_changes = true;
		return outcome;
	}
	metrics_add(me->host, METRICS_WEBHOOK_FAILED, 1);
	outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, result, written);
	stream->is.attempts = attempts;
	stream->due_us = result->disables ? INT64_MAX : clock_tick_us() + pause;
	if (result->disables)
		me->loaded = false;
	return outcome;
}

static enum outcome end_stream(struct deliverer *me, struct deliverer_stream *stream, struct webhook_result *result)
{
	bool written = true;
	enum outcome outcome;

	stream->in_flight = false;
	if (result->error.n == 0) {
		metrics_add(me->host, METRICS_WEBHOOK_RECEIVED, 1);
		outcome = webhook_sent(me->registry, &me->claim, stream->is.id, &stream->is.message, result, &written);
		stream->is.position = stream->stored = stream->is.begun_upto;
		stream->is.begun_upto = 0;
		stream->is.failing_since_us = 0;
		stream->may_have_changes = true;
	} else {
		outcome = note_failure(me, stream, result, &written);
	}
	if (!written)
		me->loaded = false;
	return outcome;
}

// As with a stream's message, what disables the webhook is not given up: whoever enables it has it sent again. A ping is sent
// once. What is received ends the failing of the stream, which may have nothing to send for long.
static enum outcome end_letter(struct deliverer *me, struct deliverer_letter *letter, struct webhook_result *result)
{
	uint64_t attempts = letter->is.attempts + 1;
	bool written, is_received = result->error.n == 0;
	int64_t pause = deliverer_pause_us(me, attempts);
	struct deliverer_stream *stream = deliverer_find_stream(me, letter->is.webhook_id);

	result->disables = result->status == GONE;
	bool gives_up = letter->is.is_ping || (!result->disables && attempts >= me->settings->attempts);
	metrics_add(me->host, is_received ? METRICS_WEBHOOK_RECEIVED : gives_up ? METRICS_WEBHOOK_GIVEN_UP : METRICS_WEBHOOK_FAILED, 1);
	letter->in_flight = false;
	letter->ended = is_received || gives_up;
	result->next_us = result->now_us + pause;
	enum outcome outcome = webhook_letter_sent(me->registry, &me->claim, &letter->is, result, gives_up, &written);
	letter->is.attempts = attempts;
	letter->due_us = clock_tick_us() + pause;
	if (is_received && stream != NULL)
		stream->is.failing_since_us = 0;
	if (!written || result->disables)
		me->loaded = false;
	return outcome;
}

// The webhook was paused or disabled meanwhile: what was received need not be sent again.
static enum outcome end_unknown(struct deliverer *me, const struct deliverer_attempt *attempt,
	const struct webhook_result *result)
{
	const struct webhook_letter letter = { .id = attempt->letter_id, .attempts = attempt->attempts };
	bool written;

	if (result->error.n > 0)
		return OUTCOME_OK;
	if (attempt->letter_id != 0)
		return webhook_letter_sent(me->registry, &me->claim, &letter, result, false, &written);
	return webhook_sent(me->registry, &me->claim, attempt->webhook_id, &attempt->message, result, &written);
}

enum outcome deliverer_take_ends(struct deliverer *me)
{
	struct transfer_end end;
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && transfers_next(me->transfers, &end)) {
		struct deliverer_attempt *attempt = end.arg;
		struct deliverer_stream *stream = deliverer_find_stream(me, attempt->webhook_id);
		struct deliverer_letter *letter = attempt->letter_id != 0 ? deliverer_find_letter(me, attempt->letter_id) : NULL;
		struct webhook_result result = result_of(me->registry->pool, attempt, &end);

		if (end.reason[0] != '\0' && (letter != NULL ? letter->is.attempts : stream != NULL ? stream->is.attempts : 0) == 0)
			log_info("webhook %s: its host can't be reached: %s", attempt->label, end.reason);
		if (letter != NULL)
			outcome = end_letter(me, letter, &result);
		else if (deliverer_is_message_of(stream, attempt))
			outcome = end_stream(me, stream, &result);
		else
			outcome = end_unknown(me, attempt, &result);
		deliverer_attempt_ends(me, attempt);
	}
	return outcome;
}
