// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/maintenance.h"
#include "db/settings.h"
#include "registry/cache/coherence.h"
#include "registry/registry.h"
#include "registry/upkeep/reap.h"
#include "server/host/reaper.h"
#include "server/setup/settings.h"

enum {
	LOOK_S = 60,  // longest time between two looks whether a purge is due: another host, or an operator, may have purged
	AWAY_S = 5,   // the same if the database does not answer
};

struct reaper {
	struct db *db;
	struct registry_store *store;
	struct registry registry[1];
	struct pool *pool;
	struct problem problem;
	uint64_t interval_us;
};

static void reaper_open(struct reaper *reaper, const struct config *config, const struct shared *host)
{
	*reaper = (struct reaper){ .db = db_open(db_settings(config), DB_APPLICATION), .pool = pool_new_or_end() };
	reaper->interval_us = host_settings(config)->reap_interval * 1000000;
	reaper->store = registry_store_new(config, reaper->db);
	if (reaper->store == NULL)
		memory_end(0);
	db_heed_maintenance(reaper->db, true);
	coherence_join(reaper->store, host);
	registry_attach(reaper->registry, reaper->store);
}

static void purge(struct reaper *reaper)
{
	struct reap_counts n = { 0 };
	enum outcome outcome = reap(reaper->registry, REAP_PURGE, NULL, &n);

	log_info("purged %llu tenants, %llu resources, %llu forwards, %llu moves, %llu changes, %llu periods of usage, %llu tokens%s",
		(unsigned long long)n.tenants, (unsigned long long)n.resources, (unsigned long long)n.forwards,
		(unsigned long long)n.moves, (unsigned long long)n.changes, (unsigned long long)n.periods, (unsigned long long)n.tokens,
		outcome == OUTCOME_OK ? "" : ", then the database failed; the rest follows");
	if (n.ahead_s != 0)
		log_warning("this host's clock is %lld s %s the database's: only what is past its time by both is purged",
			llabs((long long)n.ahead_s), n.ahead_s > 0 ? "ahead of" : "behind");
}

// Purges if that is due. Returns the seconds until the next look.
static unsigned look(struct reaper *reaper)
{
	struct uuid none = { 0 };
	struct db_maintenance maintenance;
	int64_t last_us, now_us;

	pool_clear(reaper->pool);
	if (registry_begin(reaper->registry, reaper->pool, &none, STR("tenured-host"), &reaper->problem) != OUTCOME_OK ||
		reap_last(reaper->registry, &last_us) != OUTCOME_OK || reap_now(reaper->registry, &now_us) != OUTCOME_OK)
		return AWAY_S;
	// A time in the future was written by a host whose clock is wrong: it must not prevent purges.
	if (last_us <= now_us && (uint64_t)(now_us - last_us) < reaper->interval_us) {
		uint64_t rest_s = (reaper->interval_us - (uint64_t)(now_us - last_us)) / 1000000 + 1;
		return rest_s < LOOK_S ? (unsigned)rest_s : LOOK_S;
	}
	if (db_maintenance_read(reaper->db, reaper->pool, &maintenance) != DB_OK)
		return AWAY_S;
	if (maintenance.on)
		return LOOK_S;
	purge(reaper);
	return AWAY_S;
}

void reaper_run(const struct config *config, struct shared *host)
{
	struct reaper reaper;

	assert(host_settings(config)->reap_interval > 0);
	reaper_open(&reaper, config, host);
	for (;;) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		clock_pause_ms(look(&reaper) * INT64_C(1000));
	}
}
