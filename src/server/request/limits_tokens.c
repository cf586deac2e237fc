// SPDX-License-Identifier: Apache-2.0
// The limit on wrong tokens of one address, and which tokens were right lately.
#include "base/base.h"

#include <arpa/inet.h>

#include "base/clock.h"
#include "server/request/limits_internal.h"
#include "server/setup/settings.h"

enum {
	FAILURES = 4096,      // addresses that can be counted at the same time
	NEIGHBOURS = 8,       // places in the table where an address may stand
	TOKENS = 8192,
	ADDRESS_ROOM = 64,
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

static struct failures *failures_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_FAILURES, sizeof(struct failures));
}

static struct tokens *tokens_of(const struct limits *limits)
{
	return shared_area(limits->shared, SHARED_TOKENS, sizeof(struct tokens));
}

static uint64_t minute_now(void)
{
	return (uint64_t)(clock_tick_us() / 1000000 / LIMITS_WINDOW_S);
}

// An IPv6 address is cut to its first 64 bits, because each customer has 2^64 addresses. One that stands for an IPv4 address
// ("::ffff:192.0.2.1", as a server that listens for both may report it) counts as that: the first 64 bits of all of them are 0.
static uint64_t address_key(const struct limits *limits, struct str address)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	char text[ADDRESS_ROOM];
	unsigned char bytes[16];

	if (address.n == 0 || address.n >= sizeof(text))
		return limits_key(limits, 'x', str_part(address, 0, ADDRESS_ROOM), STR(""));
	memcpy(text, address.p, address.n);
	text[address.n] = '\0';
	if (strchr(text, ':') != NULL && inet_pton(AF_INET6, text, bytes) == 1) {
		if (memcmp(bytes, mapped, sizeof(mapped)) != 0)
			return limits_key(limits, '6', str_n((const char *)bytes, 8), STR(""));
		address = str_c(inet_ntop(AF_INET, bytes + sizeof(mapped), text, sizeof(text)));
	}
	return limits_key(limits, '4', address, STR(""));
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
	uint64_t key = limits_key(limits, 'k', token, STR("")), now_s = (uint64_t)(clock_tick_us() / 1000000);
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
	uint64_t key = limits_key(limits, 'k', token, STR(""));
	struct right_token *known = &tokens_of(limits)->of[token_place(key)];
	uint64_t now_s = (uint64_t)(clock_tick_us() / 1000000), until_s = atomic_load(&known->until_s);

	// A session is told of with each request: what is new enough is left alone, as other processes have it in their caches,
	// too.
	if (atomic_load(&known->token) == key && until_s > now_s + LIMITS_REMEMBER_S / 2 && until_s <= now_s + LIMITS_REMEMBER_S)
		return;
	// The entry is invalid while token changes, so no reader combines the new token with the old time.
	atomic_store(&known->until_s, 0);
	atomic_store(&known->token, key);
	atomic_store(&known->until_s, now_s + LIMITS_REMEMBER_S);
}
