// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "db/settings.h"
#include "server/request/limits.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/setup/settings.h"

enum {
	FAILURES = 4096,      // addresses that can be counted at the same time
	NEIGHBOURS = 8,       // places in the table where an address may stand
	TOKENS = 8192,
	WATCHES = 32768,
	NAP_US = 100,         // between two checks whether another request has ended
	YIELD_US = 5000,      // a request that has waited so long gets the next free worker before new requests of its tenant
	IMPATIENT_US = 100000, // after a request of a tenant was refused, its others are refused without waiting for so long
	OTHERS_US = 2000000,  // other tenants that sent a request within this time count as active
	ADDRESS_ROOM = 64,
	NAME_ROOM = 1024,
	RECENT = 128,         // hashes remembered of each kind of name
	RECENT_ROOM = 128,
	WATCH_RETRY_S = 2,    // time in which dead clients are found among the watches that reached a limit
};

// One entry per process slot; 0 means none. endpoint is set as long as the process lives; the other members while it has a
// request. tenant not 0: the request is in progress; else it waits for a worker.
struct requests {
	_Atomic uint64_t endpoint[SHARED_PROCESSES];
	_Atomic uint64_t mark[SHARED_PROCESSES]; // shared_self() of the process
	_Atomic uint64_t tenant[SHARED_PROCESSES];
	_Atomic uint64_t user[SHARED_PROCESSES];
	_Atomic int64_t since_us[SHARED_PROCESSES]; // clock_tick_us() when the request was admitted
	_Atomic uint64_t waiting[SHARED_PROCESSES]; // tenant of a request that has waited so long that it is admitted before new
	                                            // ones
};

// Wrong tokens of one address. window: in the upper 32 bits the minute of the monotonic clock, in the lower 32 bits their number.
struct failure {
	_Atomic uint64_t address;
	_Atomic uint64_t window;
};

struct failures {
	struct failure of[FAILURES];
};

// A token that was right. until_s: seconds of the monotonic clock.
struct right_token {
	_Atomic uint64_t token;
	_Atomic uint64_t until_s;
};

struct tokens {
	struct right_token of[TOKENS];
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

struct recent {
	size_t n;
	uint64_t key;
	char text[RECENT_ROOM];
};

struct limits {
	struct recent *recent; // hashes computed lately, under the key of the file that is mapped now
	const struct server_settings *settings;
	const struct endpoint_config *endpoint;
	struct shared *shared; // NULL: nothing is limited
	unsigned processes;    // that serve the endpoint once all have started
	bool entered;
	uint64_t endpoint_key;
	// How long a request may wait depends on the tenants that this worker has met.
	uint64_t last_tenant;
	int64_t others_us;     // clock_tick_us() when it last met a different tenant
	uint64_t refused_tenant;
	int64_t refused_us;
	uint32_t checks;
};

static struct requests *requests_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_REQUESTS, sizeof(struct requests));
}

static struct failures *failures_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_FAILURES, sizeof(struct failures));
}

static struct tokens *tokens_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_TOKENS, sizeof(struct tokens));
}

static struct watches *watches_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_WATCHES, sizeof(struct watches));
}

// The hash of text. The last hash of each kind is kept, because a client that comes again has the same names.
static uint64_t recent_key(const struct limits *limits, struct recent *recent, struct str text)
{
	if (recent->n == text.n && memcmp(recent->text, text.p, text.n) == 0)
		return recent->key;
	uint64_t key = shared_hash(limits->shared, text);
	if (text.n <= sizeof(recent->text)) {
		memcpy(recent->text, text.p, text.n);
		recent->n = text.n;
		recent->key = key;
	}
	return key;
}

// The hash of a name within this endpoint. kind makes equal names of different things differ.
static uint64_t key_of(const struct limits *limits, char kind, struct str a, struct str b)
{
	char text[NAME_ROOM];
	size_t n = 1 + sizeof(uint64_t) + sizeof(size_t);

	text[0] = kind;
	memcpy(text + 1, &limits->endpoint_key, sizeof(uint64_t));
	memcpy(text + 1 + sizeof(uint64_t), &a.n, sizeof(size_t));
	// Longer names are cut: names that differ only behind the cut would be counted together, but no valid name is that long.
	a = str_part(a, 0, a.n < (NAME_ROOM - n) / 2 ? a.n : (NAME_ROOM - n) / 2);
	b = str_part(b, 0, b.n < (NAME_ROOM - n) / 2 ? b.n : (NAME_ROOM - n) / 2);
	if (a.n > 0)
		memcpy(text + n, a.p, a.n);
	if (b.n > 0)
		memcpy(text + n + a.n, b.p, b.n);
	return recent_key(limits, &limits->recent[(unsigned char)kind % RECENT], str_n(text, n + a.n + b.n));
}

// ---- the process

// The text names the database: processes that use the same one share their counts.
struct shared *limits_open_shared(const struct config *config)
{
	const struct db_settings *db = db_settings(config);
	char *text = NULL;

	if (asprintf(&text, "%s\n%s\n%u\n%s", db->host, db->socket, db->port, db->name) < 0)
		return NULL;
	struct shared *shared = shared_open(server_settings(config)->runtime_dir, str_c(text));
	if (shared == NULL)
		log_warning("no memory to share: no limits hold");
	free(text);
	return shared;
}

// Enters this process into the shared memory as it is mapped now.
static void join(struct limits *limits)
{
	unsigned slot = shared_slot(limits->shared);

	limits->entered = false;
	// The kept hashes were made with the key of the file before.
	memset(limits->recent, 0, RECENT * sizeof(*limits->recent));
	limits->endpoint_key = shared_hash(limits->shared, str_c(limits->endpoint->name));
	if (slot == SHARED_NONE)
		return;
	struct requests *requests = requests_of(limits);
	atomic_store(&requests->tenant[slot], 0);
	atomic_store(&requests->user[slot], 0);
	atomic_store(&requests->waiting[slot], 0);
	atomic_store(&requests->mark[slot], shared_self(limits->shared));
	atomic_store(&requests->endpoint[slot], limits->processes > 0 ? limits->endpoint_key : 0);
}

struct limits *limits_new(const struct config *config, const struct endpoint_config *endpoint, struct shared *shared,
	unsigned processes)
{
	struct limits *limits = calloc(1, sizeof(*limits));

	if (limits != NULL)
		limits->recent = calloc(RECENT, sizeof(*limits->recent));
	if (limits == NULL || limits->recent == NULL) {
		free(limits);
		return NULL;
	}
	limits->settings = server_settings(config);
	limits->endpoint = endpoint;
	limits->shared = shared;
	limits->processes = processes;
	if (shared != NULL && shared_claim(shared))
		join(limits);
	else
		limits->shared = NULL;
	return limits;
}

void limits_free(struct limits **limits)
{
	if (*limits == NULL)
		return;
	if ((*limits)->shared != NULL) {
		limits_leave(*limits);
		unsigned slot = shared_slot((*limits)->shared);
		if (slot != SHARED_NONE)
			atomic_store(&requests_of(*limits)->endpoint[slot], 0);
	}
	free((*limits)->recent);
	free(*limits);
	*limits = NULL;
}

void limits_tick(struct limits *limits)
{
	if (limits->shared != NULL && shared_refresh(limits->shared, clock_tick_us()))
		join(limits);
}

// ---- requests

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
	struct requests *requests = requests_of(limits);
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

// How many of the processes one client may keep busy. configured 0: all but the reserve.
static unsigned share_of(const struct limits *limits, unsigned processes, unsigned configured)
{
	unsigned all = processes > limits->processes ? processes : limits->processes;
	unsigned reserve = server_endpoint_settings(limits->endpoint)->reserve, most = all > reserve ? all - reserve : 1;

	return configured != 0 && configured < most ? configured : most;
}

// Writes into this process's slot whose request it serves. tenant 0: none that is in progress.
static void publish(const struct limits *limits, uint64_t tenant, uint64_t user, int64_t now_us)
{
	struct requests *requests = requests_of(limits);
	unsigned slot = shared_slot(limits->shared);

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

static void nap(void)
{
	const struct timespec pause = { .tv_nsec = NAP_US * 1000 };

	(void)nanosleep(&pause, NULL);
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
	_Atomic uint64_t *waiting = &requests_of(limits)->waiting[shared_slot(limits->shared)];
	int64_t from_us = clock_tick_us(), now_us = from_us, until_us = now_us + patience_us(limits, tenant, now_us);

	publish(limits, 0, user, 0);
	for (; met != NULL && !stuck && now_us < until_us; now_us = clock_tick_us()) {
		// New requests of the tenant count this one from now on, so it gets the next free worker before them.
		if (now_us - from_us >= YIELD_US)
			atomic_store(waiting, tenant);
		nap();
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
		*tenant = *user = key_of(limits, 'a', address, STR(""));
		return;
	}
	*user = key_of(limits, 'u', who->tenant, who->user);
	*tenant = who->tenant.n > 0 ? key_of(limits, 't', who->tenant, STR("")) : *user;
}

bool limits_enter(struct limits *limits, const struct principal *who, struct str address, struct limits_refusal *refusal)
{
	uint64_t tenant, user;

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

// ---- wrong tokens

static uint64_t minute_now(void)
{
	return (uint64_t)(clock_tick_us() / 1000000 / LIMITS_WINDOW_S);
}

// An IPv6 address is cut to its first 64 bits, because each customer has 2^64 addresses.
static uint64_t address_key(const struct limits *limits, struct str address)
{
	char text[ADDRESS_ROOM];
	unsigned char bytes[16];

	if (address.n == 0 || address.n >= sizeof(text))
		return key_of(limits, 'x', str_part(address, 0, ADDRESS_ROOM), STR(""));
	memcpy(text, address.p, address.n);
	text[address.n] = '\0';
	if (strchr(text, ':') != NULL && inet_pton(AF_INET6, text, bytes) == 1)
		return key_of(limits, '6', str_n((const char *)bytes, 8), STR(""));
	return key_of(limits, '4', address, STR(""));
}

// The number of wrong tokens in `minute`; 0 if window is of another minute.
static uint32_t count_of(uint64_t window, uint64_t minute)
{
	return window >> 32 == (minute & UINT32_MAX) ? (uint32_t)window : 0;
}

// The entry of the address; NULL if there is none. An address may stand in one of NEIGHBOURS places behind that of its hash.
static struct failure *find_failure(const struct limits *limits, uint64_t key)
{
	struct failures *failures = failures_of(limits);

	for (size_t i = 0; i < NEIGHBOURS; i++) {
		struct failure *failure = &failures->of[(key + i) % FAILURES];
		if (atomic_load_explicit(&failure->address, memory_order_relaxed) == key)
			return failure;
	}
	return NULL;
}

// A place for the address: its own, else the place of the address with the fewest wrong tokens.
static struct failure *make_failure(const struct limits *limits, uint64_t key, uint64_t minute)
{
	struct failure *failure = find_failure(limits, key), *least = NULL;
	struct failures *failures = failures_of(limits);

	for (size_t i = 0; failure == NULL && i < NEIGHBOURS; i++) {
		struct failure *other = &failures->of[(key + i) % FAILURES];
		if (least == NULL || count_of(atomic_load(&other->window), minute) < count_of(atomic_load(&least->window),
			minute))
			least = other;
	}
	if (failure != NULL)
		return failure;
	atomic_store(&least->window, 0);
	atomic_store(&least->address, key);
	return least;
}

static size_t token_place(uint64_t key)
{
	return (size_t)(key % TOKENS);
}

// Was this token validated within the last LIMITS_REMEMBER_S? An until_s further in the future is invalid: the file may contain
// anything.
static bool was_right(const struct limits *limits, struct str token)
{
	uint64_t key = key_of(limits, 'k', token, STR("")), now_s = (uint64_t)(clock_tick_us() / 1000000);
	const struct right_token *known = &tokens_of(limits)->of[token_place(key)];
	uint64_t until_s = atomic_load(&known->until_s);

	return token.n > 0 && atomic_load(&known->token) == key && now_s < until_s && until_s <= now_s + LIMITS_REMEMBER_S;
}

bool limits_may_try(struct limits *limits, struct str address, struct str token, struct limits_refusal *refusal)
{
	if (limits->shared == NULL || limits->settings->wrong_tokens == 0 || token.n == 0)
		return true;
	const struct failure *failure = find_failure(limits, address_key(limits, address));
	if (failure == NULL || count_of(atomic_load(&failure->window), minute_now()) < limits->settings->wrong_tokens ||
		was_right(limits, token))
		return true;
	int64_t now_s = clock_tick_us() / 1000000;
	*refusal = (struct limits_refusal){ .retry_s = (unsigned)(LIMITS_WINDOW_S - now_s % LIMITS_WINDOW_S),
		.what = "too many wrong tokens came from your address; wait, or use a token that was right before" };
	return false;
}

void limits_was_wrong(struct limits *limits, struct str address)
{
	uint64_t minute = minute_now();

	if (limits->shared == NULL || limits->settings->wrong_tokens == 0)
		return;
	struct failure *failure = make_failure(limits, address_key(limits, address), minute);
	uint64_t window = atomic_load(&failure->window), next;
	do {
		uint32_t n = count_of(window, minute);
		next = (minute & UINT32_MAX) << 32 | (n < UINT32_MAX ? n + 1 : n);
	} while (!atomic_compare_exchange_weak(&failure->window, &window, next));
}

void limits_was_right(struct limits *limits, struct str token)
{
	if (limits->shared == NULL || limits->settings->wrong_tokens == 0 || token.n == 0)
		return;
	uint64_t key = key_of(limits, 'k', token, STR(""));
	struct right_token *known = &tokens_of(limits)->of[token_place(key)];
	// The entry is invalid while token changes, so no reader combines the new token with the old time.
	atomic_store(&known->until_s, 0);
	atomic_store(&known->token, key);
	atomic_store(&known->until_s, (uint64_t)(clock_tick_us() / 1000000) + LIMITS_REMEMBER_S);
}

// ---- watches

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
	uint64_t token = key_of(limits, 'k', credential, STR("")), tenant = key_of(limits, 't', who->tenant, STR(""));
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
