// SPDX-License-Identifier: Apache-2.0
// Limits on open watches.
#include "base/base.h"

#include "server/request/limits_internal.h"
#include "server/setup/settings.h"

enum {
	WATCHES = 32768,
	WATCH_RETRY_S = 2,    // time in which dead clients are found among the watches that reached a limit
};

// One counted watch. owner: mark of the process that has the watch; 0: the place is free. check: distinguishes this watch from
// earlier ones in the place.
struct watch {
	_Atomic uint64_t owner;
	_Atomic uint64_t endpoint;
	_Atomic uint32_t check;
	_Atomic uint32_t token;  // 32 bits of the hashes are enough to tell them apart
	_Atomic uint32_t tenant;
	_Atomic uint32_t suspect; // 1: a limit is nearly reached, so check whether its client is still there
};

struct watches {
	struct watch of[WATCHES];
};

static_assert(sizeof(struct watch) == 32, "two in a cache line");

static struct watches *watches_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_WATCHES, sizeof(struct watches));
}

// Claims a free place, or that of a watch whose process has ended. 0: there is none, since place 0 is never used.
static uint32_t claim_watch(const struct limits *limits, uint64_t self, uint64_t from)
{
	struct watches *watches = watches_of(limits);

	for (uint32_t i = 0; i < WATCHES - 1; i++) {
		uint32_t at = 1 + (uint32_t)((from + i) % (WATCHES - 1));
		uint64_t owner = atomic_load_explicit(&watches->of[at].owner, memory_order_relaxed);
		if ((owner == 0 || !shared_is_alive(limits->shared, owner)) &&
			atomic_compare_exchange_strong(&watches->of[at].owner, &owner, self))
			return at;
	}
	return 0;
}

struct watch_count {
	unsigned endpoint, tenant, token;
};

// Counts the watches of this endpoint, in all and with that tenant and token. Watches of processes that have ended are ignored.
static struct watch_count count_watches(const struct limits *limits, uint32_t tenant, uint32_t token)
{
	struct watches *watches = watches_of(limits);
	struct watch_count count = { .endpoint = 0 };

	for (uint32_t i = 1; i < WATCHES; i++) {
		struct watch *watch = &watches->of[i];
		uint64_t owner = atomic_load_explicit(&watch->owner, memory_order_relaxed);
		if (owner == 0 || atomic_load_explicit(&watch->endpoint, memory_order_relaxed) != limits->endpoint_key ||
			!shared_is_alive(limits->shared, owner))
			continue;
		count.endpoint++;
		count.tenant += atomic_load_explicit(&watch->tenant, memory_order_relaxed) == tenant;
		count.token += atomic_load_explicit(&watch->token, memory_order_relaxed) == token;
	}
	return count;
}

static bool is_over(unsigned count, unsigned limit)
{
	return limit != 0 && count > limit;
}

static bool is_near(unsigned count, unsigned limit)
{
	return limit != 0 && count > limit / 2;
}

// Marks the watches that count towards a limit that was reached: those of the tenant and token at this endpoint; 0 stands for
// any.
static void suspect_watches(const struct limits *limits, uint32_t tenant, uint32_t token)
{
	struct watches *watches = watches_of(limits);

	for (uint32_t i = 1; i < WATCHES; i++) {
		struct watch *watch = &watches->of[i];
		if (atomic_load_explicit(&watch->owner, memory_order_relaxed) != 0 &&
			atomic_load_explicit(&watch->endpoint, memory_order_relaxed) == limits->endpoint_key &&
			(tenant == 0 || atomic_load_explicit(&watch->tenant, memory_order_relaxed) == tenant) &&
			(token == 0 || atomic_load_explicit(&watch->token, memory_order_relaxed) == token))
			atomic_store_explicit(&watch->suspect, 1, memory_order_relaxed);
	}
}

// The limit that a new watch exceeds; NULL: none.
static const char *met_watch_limit(const struct limits *limits, const struct principal *who, uint32_t tenant, uint32_t token)
{
	struct watch_count count = count_watches(limits, tenant, token);
	unsigned all = server_endpoint_settings(limits->endpoint)->watches;

	// Old watches are checked from half of a limit on, so that a client which closes its watches before it begins new ones
	// seldom reaches the limit.
	if (is_near(count.token, limits->settings->watches_per_token))
		suspect_watches(limits, 0, token);
	if (who->tenant.n > 0 && is_near(count.tenant, limits->settings->watches_per_tenant))
		suspect_watches(limits, tenant, 0);
	if (is_over(count.token, limits->settings->watches_per_token))
		return "as many watches as one token may have are open with yours";
	if (who->tenant.n > 0 && is_over(count.tenant, limits->settings->watches_per_tenant))
		return "your tenant has as many watches open as it may have";
	if (is_over(count.endpoint, who->role == ROLE_OPERATOR ? all : all - all / 10)) {
		suspect_watches(limits, 0, 0);
		return "as many watches are open here as may be";
	}
	return NULL;
}

bool limits_watch_begin(struct limits *limits, const struct principal *who, struct str credential, struct limits_watch *watch,
	struct limits_refusal *refusal)
{
	*watch = (struct limits_watch){ .index = 0 };
	if (limits->shared == NULL || shared_slot(limits->shared) == SHARED_NONE)
		return true;
	uint64_t token = limits_key(limits, 'k', credential, STR("")), tenant = limits_key(limits, 't', who->tenant, STR(""));
	watch->index = claim_watch(limits, shared_self(limits->shared), token);
	if (watch->index == 0)
		return true; // no free place: thousands of watches more than any web server has connections
	watch->check = (uint32_t)(token >> 32) + ++limits->checks;
	struct watch *mine = &watches_of(limits)->of[watch->index];
	atomic_store(&mine->check, watch->check);
	atomic_store(&mine->token, (uint32_t)token);
	atomic_store(&mine->tenant, (uint32_t)tenant);
	atomic_store(&mine->suspect, 0);
	atomic_store(&mine->endpoint, limits->endpoint_key);
	const char *met = met_watch_limit(limits, who, (uint32_t)tenant, (uint32_t)token);
	if (met == NULL)
		return true;
	limits_watch_end(limits, watch);
	*refusal = (struct limits_refusal){ .retry_s = WATCH_RETRY_S, .what = met };
	return false;
}

static struct watch *find_watch(const struct limits *limits, const struct limits_watch *watch)
{
	if (limits->shared == NULL || watch->index == 0 || watch->index >= WATCHES)
		return NULL;
	struct watch *found = &watches_of(limits)->of[watch->index];
	return atomic_load(&found->check) == watch->check ? found : NULL;
}

void limits_watch_take(struct limits *limits, const struct limits_watch *watch)
{
	struct watch *found = find_watch(limits, watch);
	uint64_t self = limits->shared != NULL ? shared_self(limits->shared) : 0;

	if (found != NULL && self != 0)
		atomic_store(&found->owner, self);
}

bool limits_watch_is_suspect(struct limits *limits, const struct limits_watch *watch)
{
	struct watch *found = find_watch(limits, watch);

	return found != NULL && atomic_load_explicit(&found->suspect, memory_order_relaxed) != 0 &&
	       atomic_exchange_explicit(&found->suspect, 0, memory_order_relaxed) != 0;
}

void limits_watch_end(struct limits *limits, const struct limits_watch *watch)
{
	struct watch *found = find_watch(limits, watch);

	if (found == NULL)
		return;
	uint64_t self = shared_self(limits->shared);
	atomic_store(&found->check, 0);
	(void)atomic_compare_exchange_strong(&found->owner, &self, 0);
}
