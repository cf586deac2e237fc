// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/memory.h"
#include "server/webhook/deliverer_internal.h"

#include <signal.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/shared.h"
#include "db/db.h"
#include "db/settings.h"
#include "registry/cache/coherence.h"
#include "server/setup/signals.h"

enum {
	LOOK_MS = 200,  // between two looks at the horizon, while there are webhooks
	IDLE_MS = 1000, // between two looks at the lease, by those that don't send, or while there is nothing to send to
};

static volatile sig_atomic_t stop; // a global, for the signal handler

static void on_stop(int signal)
{
	UNUSED(signal);
	stop = 1;
}

// ---- the lease

static int64_t lease_us(const struct deliverer *me)
{
	return (int64_t)me->settings->lease * 1000000;
}

static void step_down(struct deliverer *me, const char *why)
{
	if (me->holds_lease)
		log_info("another host sends to webhooks from now on, or none: %s", why);
	me->holds_lease = false;
	me->seen_us = 0;
	deliverer_drop_attempts(me);
}

// The time counts from before the statement was sent, so another process that sees the beat stand still from then on waits longer
// than this one sends.
static void hold_from(struct deliverer *me, int64_t from_us)
{
	me->holds_lease = true;
	me->lease_until_us = from_us + lease_us(me) * 2 / 3;
	me->renew_us = from_us + lease_us(me) / 4;
}

static enum outcome renew(struct deliverer *me)
{
	int64_t from_us = clock_tick_us();
	bool written;
	enum outcome outcome = webhook_lease_renew(me->registry, &me->claim, &written);

	if (outcome == OUTCOME_OK && written)
		hold_from(me, from_us);
	else if (outcome == OUTCOME_OK)
		step_down(me, "it took the lease");
	return outcome;
}

static bool same_lease(const struct webhook_lease *a, const struct webhook_lease *b)
{
	return a->beat == b->beat && memcmp(&a->claim, &b->claim, sizeof(a->claim)) == 0;
}

// Takes the lease if nobody holds it, if a predecessor did under the same claim, or if its beat has stood still for so long on
// this process's own clock.
static enum outcome try_to_lead(struct deliverer *me)
{
	static const struct uuid nobody;
	struct webhook_lease lease;
	int64_t now_us = clock_tick_us();
	bool written;
	enum outcome outcome = webhook_lease_read(me->registry, &lease);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (me->seen_us == 0 || !same_lease(&lease, &me->seen))
		me->seen_us = now_us;
	me->seen = lease;
	bool is_free = memcmp(&lease.claim, &nobody, sizeof(nobody)) == 0 || memcmp(&lease.claim, &me->claim, sizeof(nobody)) == 0;
	if (!is_free && now_us - me->seen_us < lease_us(me))
		return OUTCOME_OK;
	outcome = webhook_lease_take(me->registry, &lease, &me->claim, &written);
	if (outcome == OUTCOME_OK && written) {
		hold_from(me, now_us);
		me->loaded = false;
		me->horizon = 0;
		log_info("sends to webhooks");
	}
	return outcome;
}

// ---- turns

// One turn of the process that holds the lease. *pause_ms: until the next.
static enum outcome lead(struct deliverer *me, int64_t *look_us, int *pause_ms)
{
	struct webhook_lease lease;
	int64_t now_us = clock_tick_us();
	bool more = false;
	enum outcome outcome = now_us >= me->renew_us ? renew(me) : OUTCOME_OK;

	if (outcome != OUTCOME_OK || !me->holds_lease)
		return outcome;
	if (now_us >= *look_us || !me->loaded) {
		outcome = webhook_lease_read(me->registry, &lease);
		if (outcome == OUTCOME_OK && memcmp(&lease.claim, &me->claim, sizeof(lease.claim)) != 0) {
			step_down(me, "it took the lease");
			return OUTCOME_OK;
		}
		me->in_maintenance = lease.maintenance;
		if (outcome == OUTCOME_OK && (!me->loaded || lease.edits != me->edits || deliverer_must_read_letters(me)))
			outcome = deliverer_load(me, lease.edits);
		if (outcome == OUTCOME_OK && deliverer_needs_horizon(me))
			outcome = deliverer_follow_horizon(me);
		else if (outcome == OUTCOME_OK)
			me->horizon = 0; // it is not followed, so all that is there later has to be looked at
		*look_us = now_us + (me->n_streams > 0 ? LOOK_MS : IDLE_MS) * INT64_C(1000);
	}
	if (outcome == OUTCOME_OK)
		outcome = deliverer_take_ends(me);
	if (outcome == OUTCOME_OK && me->loaded && now_us >= me->save_us)
		outcome = deliverer_save_positions(me);
	// Whoever was held up for longer than the lease sends nothing: another process may have taken it. During maintenance the
	// database may be copied elsewhere, and what was sent here would be sent again there.
	if (outcome == OUTCOME_OK && me->loaded && !me->in_maintenance && clock_tick_us() < me->lease_until_us)
		outcome = deliverer_send_due(me, &more);
	*pause_ms = me->loaded && !more ? (me->n_attempts > 0 || me->n_streams > 0 ? LOOK_MS / 4 : IDLE_MS / 4) : 0;
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
	if (!me->holds_lease)
		outcome = try_to_lead(me);
	if (outcome == OUTCOME_OK && me->holds_lease)
		outcome = lead(me, look_us, pause_ms);
	return outcome;
}

// It is not known what a failed statement did, so all webhooks and letters are read again.
static void note_database(struct deliverer *me, bool away)
{
	if (away && !me->away)
		log_warning("webhooks wait for the database: %s", db_error(me->db));
	me->away = away;
	if (away)
		deliverer_drop_attempts(me);
	registry_store_trim(me->store);
}

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

static void open_all(struct deliverer *me, const struct config *config, struct shared *host, const struct uuid *claim)
{
	*me = (struct deliverer){ .settings = webhook_settings(config), .host = host, .claim = *claim };
	me->pool = pool_new_or_end();
	me->kept = pool_new_or_end();
	me->db = db_open(db_settings(config), DB_APPLICATION);
	read_rules(me->kept, me->settings, &me->rules);
	me->attempts = memory_zeroed(me->settings->parallel, sizeof(*me->attempts));
	me->transfers = transfers_new(&me->rules);
	me->store = registry_store_new(config, me->db);
	if (me->transfers == NULL || me->store == NULL)
		memory_end(0);
	coherence_join(me->store, host);
	registry_attach(me->registry, me->store);
}

static void close_all(struct deliverer *me)
{
	deliverer_drop_attempts(me);
	deliverer_forget(me);
	transfers_free(&me->transfers);
	registry_store_free(&me->store);
	db_close(&me->db);
	free(me->attempts);
	pool_free(&me->kept);
	pool_free(&me->pool);
}

int deliverer_run(const struct config *config, struct shared *host, const struct uuid *claim)
{
	struct deliverer me;
	int64_t look_us = 0;
	int pause_ms;

	signals_stop_by(on_stop);
	open_all(&me, config, host, claim);
	while (!stop) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		note_database(&me, take_turn(&me, &look_us, &pause_ms) != OUTCOME_OK);
		if (me.n_attempts > 0 && clock_tick_us() >= me.lease_until_us)
			deliverer_drop_attempts(&me);
		if (!stop)
			transfers_wait(me.transfers, me.away ? IDLE_MS : pause_ms);
	}
	if (me.holds_lease && me.loaded && !me.away) {
		pool_clear(me.pool);
		(void)deliverer_save_positions(&me);
	}
	if (me.holds_lease)
		(void)webhook_lease_leave(me.registry, &me.claim);
	close_all(&me);
	return EX_OK;
}
