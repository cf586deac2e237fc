// SPDX-License-Identifier: Apache-2.0
// Limits on requests in progress: which request is admitted at once, which one waits, and which one is refused.
#include "base/base.h"

#include "base/clock.h"
#include "server/request/limits_internal.h"
#include "server/setup/settings.h"

enum {
	NAP_US = 100,         // between two checks whether another request has ended
	YIELD_US = 5000,      // a request that has waited so long gets the next free worker before new requests of its tenant
	IMPATIENT_US = 100000, // after a request of a tenant was refused, its others are refused without waiting for so long
	OTHERS_US = 2000000,  // other tenants that sent a request within this time count as active
};

struct requests *limits_requests(const struct limits *limits)
{
	assert(limits->shared != NULL);
	return shared_area(limits->shared, SHARED_REQUESTS, sizeof(struct requests));
}

struct count {
	unsigned processes; // how many serve the endpoint
	unsigned tenant, user;                 // requests in progress
	unsigned tenant_waiting, user_waiting;
	unsigned stuck;                        // the tenant's requests in progress that were admitted before old_us
};

// Counts in one pass over the slots in use. A request admitted before old_us counts as stuck. Entries of processes that have
// ended are ignored.
static struct count count_requests(const struct limits *limits, uint64_t tenant, uint64_t user, int64_t old_us)
{
	struct requests *requests = limits_requests(limits);
	unsigned used = shared_used(limits->shared);
	struct count count = { .processes = 0 };

	for (unsigned i = 0; i < used; i++) {
		if (atomic_load_explicit(&requests->endpoint[i], memory_order_relaxed) != limits->endpoint_key ||
			!shared_is_alive(limits->shared, atomic_load_explicit(&requests->mark[i], memory_order_relaxed)))
			continue;
		count.processes++;
		uint64_t busy = atomic_load_explicit(&requests->tenant[i], memory_order_relaxed);
		bool same_user = atomic_load_explicit(&requests->user[i], memory_order_relaxed) == user;
		count.tenant += busy == tenant;
		count.stuck += busy == tenant && atomic_load_explicit(&requests->since_us[i], memory_order_relaxed) <= old_us;
		count.user += busy != 0 && same_user;
		uint64_t waiting = busy == 0 ? atomic_load_explicit(&requests->waiting[i], memory_order_relaxed) : 0;
		count.tenant_waiting += waiting == tenant;
		count.user_waiting += waiting != 0 && same_user;
	}
	return count;
}

// How many processes of the endpoint one tenant, or one user, may keep busy: as many as configured, but never any of the reserve,
// and at least 1. configured 0: all but the reserve.
static unsigned share_of(const struct limits *limits, unsigned processes, unsigned configured)
{
	unsigned all = processes > limits->processes ? processes : limits->processes;
	unsigned reserve = server_endpoint_settings(limits->endpoint)->reserve, most = all > reserve ? all - reserve : 1;

	return configured != 0 && configured < most ? configured : most;
}

// Writes into this process's slot whose request it serves. tenant 0: none that is in progress.
static void publish(const struct limits *limits, uint64_t tenant, uint64_t user, int64_t now_us)
{
	struct requests *requests = limits_requests(limits);
	unsigned slot = shared_slot(limits->shared);

	assert(shared_slot(limits->shared) < SHARED_PROCESSES);
	atomic_store_explicit(&requests->user[slot], user, memory_order_relaxed);
	if (tenant != 0)
		atomic_store_explicit(&requests->since_us[slot], now_us, memory_order_relaxed);
	atomic_store(&requests->tenant[slot], tenant); // sequentially consistent: of two processes that publish at the same time
	                                               // at least one counts the other
}

// Has this worker served no other tenant lately?
static bool is_alone(const struct limits *limits, int64_t now_us)
{
	return limits->others_us == 0 || now_us - limits->others_us > OTHERS_US;
}

// The limit that this request exceeds, the request itself counted; NULL: none. A new request (newly) also counts those that have
// waited long, otherwise it would take each place before them.
// *stuck: all requests that it would have to wait for are stuck.
static const char *met_limit(const struct limits *limits, uint64_t tenant, uint64_t user, bool newly, bool *stuck)
{
	int64_t now_us = clock_tick_us();
	int64_t stuck_us = (is_alone(limits, now_us) ? LIMITS_STUCK_ALONE_MS : LIMITS_STUCK_MS) * INT64_C(1000);
	struct count count = count_requests(limits, tenant, user, now_us - stuck_us);

	*stuck = count.stuck > 0 && count.stuck + 1 >= count.tenant;

	if (newly) {
		count.tenant += count.tenant_waiting;
		count.user += count.user_waiting;
	}
	if (count.tenant > share_of(limits, count.processes, limits->settings->tenant_requests))
		return "your tenant has as many requests in progress as it may have";
	if (count.user > share_of(limits, count.processes, limits->settings->user_requests))
		return "you have as many requests in progress as you may have";
	return NULL;
}

// How long the request may wait, in microseconds.
static int64_t patience_us(struct limits *limits, uint64_t tenant, int64_t now_us)
{
	if (limits->refused_tenant == tenant && now_us - limits->refused_us < IMPATIENT_US)
		return 0;
	return (is_alone(limits, now_us) ? LIMITS_WAIT_ALONE_MS : LIMITS_WAIT_MS) * INT64_C(1000);
}

// While a request waits it is not counted: otherwise two waiting requests of one tenant would keep each other out.
static const char *wait_for_place(struct limits *limits, uint64_t tenant, uint64_t user, const char *met,
	bool stuck)
{
	_Atomic uint64_t *waiting = &limits_requests(limits)->waiting[shared_slot(limits->shared)];
	int64_t from_us = clock_tick_us(), now_us = from_us, until_us = now_us + patience_us(limits, tenant, now_us);

	publish(limits, 0, user, 0);
	for (; met != NULL && !stuck && now_us < until_us; now_us = clock_tick_us()) {
		// New requests of the tenant count this one from now on, so it gets the next free worker before them.
		if (now_us - from_us >= YIELD_US)
			atomic_store(waiting, tenant);
		clock_pause_us(NAP_US);
		publish(limits, tenant, user, clock_tick_us());
		met = met_limit(limits, tenant, user, false, &stuck);
		if (met != NULL)
			publish(limits, 0, user, 0);
	}
	atomic_store(waiting, 0);
	if (met != NULL) {
		limits->refused_tenant = tenant;
		limits->refused_us = clock_tick_us();
	}
	return met;
}

// A caller without a tenant, such as an operator, is counted like a tenant of its own; an anonymous caller by its address.
static void find_keys(const struct limits *limits, const struct principal *who, struct str address, uint64_t *tenant,
	uint64_t *user)
{
	if (who->user.n == 0) {
		*tenant = *user = limits_key(limits, 'a', address, STR(""));
		return;
	}
	*user = limits_key(limits, 'u', who->tenant, who->user);
	*tenant = who->tenant.n > 0 ? limits_key(limits, 't', who->tenant, STR("")) : *user;
}

bool limits_enter(struct limits *limits, const struct principal *who, struct str address, struct limits_refusal *refusal)
{
	uint64_t tenant, user;

	assert(!limits->entered);
	limits_tick(limits);
	if (limits->shared == NULL || shared_slot(limits->shared) == SHARED_NONE)
		return true;
	find_keys(limits, who, address, &tenant, &user);
	int64_t now_us = clock_tick_us();
	bool stuck;
	if (limits->last_tenant != tenant && limits->last_tenant != 0)
		limits->others_us = now_us;
	limits->last_tenant = tenant;
	publish(limits, tenant, user, now_us);
	limits->entered = true;
	const char *met = met_limit(limits, tenant, user, true, &stuck);
	if (met == NULL)
		return true;
	met = wait_for_place(limits, tenant, user, met, stuck);
	*refusal = (struct limits_refusal){ .retry_s = 1, .what = met };
	return met == NULL;
}

void limits_leave(struct limits *limits)
{
	if (limits->entered && shared_slot(limits->shared) != SHARED_NONE)
		publish(limits, 0, 0, 0);
	limits->entered = false;
}

uint64_t limits_tenant(const struct limits *limits)
{
	return limits->entered ? limits->last_tenant : 0;
}
