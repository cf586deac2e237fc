// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/memory.h"
#include "base/pool.h"
#include "db/maintenance.h"
#include "db/settings.h"
#include "registry/cache/coherence.h"
#include "registry/core/settings.h"
#include "registry/registry.h"
#include "registry/usage/usage_count.h"
#include "server/host/usage_counter.h"

enum {
	LOOK_MS_MAX = 10000, // longest time between two looks
	LOOK_MS_MIN = 100,
	LOOKS = 10,     // in a period
	MORE_MS = 20,   // pause where there is more to do, so that others get the processor and the database
	AWAY_MS = 5000, // pause if the database does not answer
};

struct counter {
	struct db *db;
	struct registry_store *store;
	struct registry registry[1];
	struct pool *pool;
	struct problem problem;
	uint64_t period_s;
	struct usage_counter usage;
};

static void counter_open(struct counter *counter, const struct config *config, const struct shared *host)
{
	*counter = (struct counter){ .db = db_open(db_settings(config), DB_APPLICATION), .pool = pool_new_or_end() };
	counter->period_s = registry_settings(config)->usage_period;
	counter->store = registry_store_new(config, counter->db);
	if (counter->store == NULL)
		memory_end(0);
	db_heed_maintenance(counter->db, true);
	coherence_join(counter->store, host);
	registry_attach(counter->registry, counter->store);
}

// Returns the milliseconds until the next look.
static unsigned look(struct counter *counter)
{
	struct uuid none = { 0 };
	uint64_t pause_ms = counter->period_s * 1000 / LOOKS;
	bool more;

	pool_clear(counter->pool);
	enum outcome outcome = registry_begin(counter->registry, counter->pool, &none, STR("tenured-host"), &counter->problem);
	if (outcome == OUTCOME_OK)
		outcome = usage_count(counter->registry, &counter->usage, counter->period_s, &more);
	if (outcome != OUTCOME_OK)
		return AWAY_MS;
	if (more)
		return MORE_MS;
	return pause_ms < LOOK_MS_MIN ? LOOK_MS_MIN : pause_ms > LOOK_MS_MAX ? LOOK_MS_MAX
									     : (unsigned)pause_ms;
}

void usage_counter_run(const struct config *config, struct shared *host)
{
	struct counter counter;

	counter_open(&counter, config, host);
	for (;;) {
		if (host != NULL)
			(void)shared_refresh(host, clock_tick_us());
		control_apply(host);
		clock_pause_ms(look(&counter));
	}
}
