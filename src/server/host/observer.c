// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/token_uses.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/maintenance.h"
#include "db/settings.h"
#include "registry/registry.h"
#include "registry/upkeep/observe.h"
#include "registry/webhook/health.h"
#include "registry/webhook/settings.h"
#include "server/host/observer.h"
#include "server/setup/settings.h"

enum {
	LOOK_S = 5,
	WEBHOOKS_PAUSE = 20, // a look at webhooks is followed by a pause 20 times as long, so it takes at most 5 % of the time
};

struct observer {
	struct shared *host;
	struct db *db;
	struct registry_store *store;
	struct registry registry[1];
	struct pool *pool;
	struct problem problem;
	bool away;             // the database did not answer at the last look
	uint64_t horizon;      // at the last look
	int64_t held_since_us; // since when the horizon has not moved though there are changes above it; 0: it is not held up
	int64_t use_interval_us; // after which a token's last use is written again; 0: it is not written
	int64_t lease_us;      // after which a process that sends to webhooks and shows no sign of life counts as gone
	struct webhook_health webhooks;
	int64_t webhooks_due_us; // clock_tick_us() before which it does not look at webhooks again
	int64_t beat_us;         // clock_tick_us() when the beat of the process that sends was first seen as it is
};

static void observer_open(struct observer *observer, const struct config *config, struct shared *host)
{
	*observer = (struct observer){ .host = host, .db = db_open(db_settings(config), DB_APPLICATION), .pool = pool_new_or_end() };
	observer->use_interval_us = (int64_t)host_settings(config)->token_use_interval * 1000000;
	observer->lease_us = (int64_t)webhook_settings(config)->lease * 1000000;
	observer->store = registry_store_new(config, observer->db);
	if (observer->store == NULL)
		memory_end(0);
	registry_attach(observer->registry, observer->store);
	db_join(observer->db, host);
	db_heed_maintenance(observer->db, true); // uses of tokens wait until it is over
}

static void note_horizon(struct observer *observer, const struct observation *seen, int64_t now_us)
{
	if (seen->above_horizon == 0)
		observer->held_since_us = 0;
	else if (observer->held_since_us == 0 || seen->horizon > observer->horizon)
		observer->held_since_us = now_us;
	observer->horizon = seen->horizon;
}

// Looks at webhooks, but not so often that it is at nothing else where there are very many.
static enum outcome look_at_webhooks(struct observer *observer, uint64_t horizon)
{
	const struct webhook_health before = observer->webhooks;
	int64_t began_us = clock_tick_us();

	if (began_us < observer->webhooks_due_us)
		return OUTCOME_OK;
	enum outcome outcome = webhook_health(observer->registry, horizon, &observer->webhooks);
	int64_t now_us = clock_tick_us();
	observer->webhooks_due_us = now_us + (now_us - began_us) * WEBHOOKS_PAUSE;
	if (observer->beat_us == 0 || observer->webhooks.beat != before.beat)
		observer->beat_us = now_us;
	return outcome;
}

static void show_webhooks(const struct observer *observer, int64_t gauges[METRICS__GAUGES])
{
	static const struct uuid nobody;
	const struct webhook_health *webhooks = &observer->webhooks;
	int64_t quiet_us = clock_tick_us() - observer->beat_us;
	bool held = memcmp(&webhooks->claim, &nobody, sizeof(nobody)) != 0;

	gauges[METRICS_WEBHOOKS_ACTIVE] = (int64_t)webhooks->active;
	gauges[METRICS_WEBHOOKS_FAILING] = (int64_t)webhooks->failing;
	gauges[METRICS_WEBHOOKS_PAUSED] = (int64_t)webhooks->paused;
	gauges[METRICS_WEBHOOKS_DISABLED] = (int64_t)webhooks->disabled;
	gauges[METRICS_WEBHOOK_MESSAGES_DEAD] = (int64_t)webhooks->dead;
	gauges[METRICS_WEBHOOK_MESSAGES_QUEUED] = (int64_t)webhooks->queued;
	gauges[METRICS_WEBHOOK_SENDER_WORKS] = held && quiet_us < observer->lease_us + LOOK_S * INT64_C(1000000);
	gauges[METRICS_WEBHOOK_WAITING_US] = webhooks->waiting_us;
	gauges[METRICS_WEBHOOK_FAILING_US] = webhooks->failing_us;
}

// What fails is tried again after the next look: the uses stay noted.
static void store_token_uses(struct observer *observer)
{
	if (observer->use_interval_us > 0)
		(void)token_uses_store(observer->db, observer->pool, observer->host, observer->use_interval_us);
}

// Reads everything into gauges. A schema of another version is shown, and nothing else of that database.
static enum outcome look(struct observer *observer, int64_t gauges[METRICS__GAUGES])
{
	struct uuid none = { 0 };
	struct observation seen;
	uint64_t version;

	pool_clear(observer->pool);
	enum outcome outcome = registry_schema_version(observer->db, observer->pool, &version);
	if (outcome != OUTCOME_OK)
		return outcome;
	gauges[METRICS_DATABASE_ANSWERS] = 1;
	gauges[METRICS_SCHEMA_VERSION] = (int64_t)version;
	outcome = registry_begin(observer->registry, observer->pool, &none, STR("tenured-host"), &observer->problem);
	if (outcome == OUTCOME_OK)
		outcome = observe(observer->registry, &seen);
	if (outcome == OUTCOME_OK)
		outcome = look_at_webhooks(observer, seen.horizon);
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_UNAVAILABLE ? outcome : OUTCOME_OK;
	note_horizon(observer, &seen, clock_now_us());
	gauges[METRICS_MOVES_QUEUED] = (int64_t)seen.moves_queued;
	gauges[METRICS_MOVES_RUNNING] = (int64_t)seen.moves_running;
	gauges[METRICS_OLDEST_MOVE_US] = seen.oldest_move_us;
	gauges[METRICS_NAMESPACES_DELETING] = (int64_t)seen.namespaces;
	gauges[METRICS_HORIZON_LAG] = (int64_t)seen.above_horizon;
	gauges[METRICS_HORIZON_HELD_SINCE_US] = observer->held_since_us;
	gauges[METRICS_REAPED_AT_US] = seen.reaped_at_us;
	gauges[METRICS_MAINTENANCE_SINCE_US] = seen.maintenance_us;
	gauges[METRICS_USAGE_CLOSED_US] = seen.usage_closed_us;
	gauges[METRICS_USAGE_DUE_SINCE_US] = seen.usage_due_us;
	show_webhooks(observer, gauges);
	store_token_uses(observer);
	return OUTCOME_OK;
}

static void look_and_tell(struct observer *observer, struct shared *host)
{
	int64_t gauges[METRICS__GAUGES] = { 0 };
	bool away = look(observer, gauges) != OUTCOME_OK;

	if (away && !observer->away)
		log_warning("the database does not answer: %s", db_error(observer->db));
	else if (!away && observer->away)
		log_info("the database answers again");
	observer->away = away;
	if (away)
		metrics_observe_nothing(host, clock_now_us());
	else
		metrics_observe(host, gauges, clock_now_us());
}

void observer_run(const struct config *config, struct shared *host)
{
	struct observer observer;

	observer_open(&observer, config, host);
	for (;;) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		look_and_tell(&observer, host);
		clock_pause_ms(LOOK_S * 1000);
	}
}
