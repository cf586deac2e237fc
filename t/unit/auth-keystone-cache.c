// SPDX-License-Identifier: Apache-2.0
// What processes know together of Keystone's tokens: what is found again, what gives way, what is damaged or half written, who
// asks, and when nobody does.
#include "base/base.h"

#include <glob.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/keystone/keystone_cache.h"
#include "auth/core/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/shared.h"
#include "process.h"
#include "tap.h"

enum {
	SECOND = 1000000,
	TRIAL = 100 * SECOND,   // longer than the test runs
	SHORT = 10000,
	LONG = 1000 * SECOND,   // believed as long as the test runs
	ENTRY = 1024,           // bytes of a small entry, see keystone_cache.h
	LARGEST = 65536,        // of one of the largest
	AREA = 6307904,         // bytes of the area, see base/shared.c
	ENTRIES = 2048,         // small ones
};

static char dir[] = "/tmp/tenure-keystone-XXXXXX";
static struct pool *pool;
static struct shared *shared;
static struct keystone_cache *cache;

static struct keystone_token make(const char *user, const char *roles)
{
	return (struct keystone_token){ .user = str_c(user), .user_name = STR("ann"), .project = STR("p1"), .project_name = STR("red"),
		.project_domain = STR("Default"), .roles = str_c(roles), .rules = STR("placement\nGET\n/traits\n"), .has_rules = true,
		.system_scope = true, .is_lent = true, .expires_us = 1234567 };
}

static enum keystone_known find(struct keystone_key key, struct keystone_token *token)
{
	return keystone_cache_find(cache, &key, LONG, LONG, INT64_MAX, pool, token);
}

static bool is_same(const struct keystone_token *a, const struct keystone_token *b)
{
	return str_eq(a->user, b->user) && str_eq(a->user_name, b->user_name) && str_eq(a->project, b->project) &&
		str_eq(a->project_name, b->project_name) && str_eq(a->project_domain, b->project_domain) && str_eq(a->roles, b->roles) &&
		str_eq(a->rules, b->rules) && a->has_rules == b->has_rules && a->system_scope == b->system_scope && a->is_lent == b->is_lent &&
		a->expires_us == b->expires_us;
}

static void test_found(void)
{
	struct keystone_key key = keystone_key(cache, 7, STR("T"));
	struct keystone_token token = make("u1", "member,reader"), got, plain = { .user = STR("u2"), .expires_us = 9 };
	char *text = pool_alloc(pool, LARGEST);

	is_int(find(key, &got), KEYSTONE_UNKNOWN, "nothing is known at first");
	keystone_cache_keep(cache, &key, &token, LONG, false);
	is_int(find(key, &got), KEYSTONE_GOOD, "a token that was stored is found");
	ok(is_same(&got, &token), "as it was stored");
	is_int(find(keystone_key(cache, 8, STR("T")), &got), KEYSTONE_UNKNOWN, "for another purpose it is not");
	is_int(find(keystone_key(cache, 7, STR("T2")), &got), KEYSTONE_UNKNOWN, "another token is not");
	keystone_cache_keep(cache, &key, NULL, LONG, false);
	is_int(find(key, &got), KEYSTONE_BAD, "when Keystone refuses it, that takes its place");
	keystone_cache_keep(cache, &key, &plain, LONG, false);
	ok(find(key, &got) == KEYSTONE_GOOD && is_same(&got, &plain), "and the other way round, of another length");

	// Each size and its neighbours, growing and shrinking: the same token is never found as it was before.
	static const size_t lengths[] = { 0, 800, ENTRY - 72, ENTRY, 4000, 8 * ENTRY - 72, 8 * ENTRY, 30000, LARGEST - 72, 8 * ENTRY, 0 };
	struct keystone_key large = keystone_key(cache, 7, STR("large"));
	memset(text, 'r', LARGEST);
	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		plain.roles = str_n(text, lengths[i]);
		plain.expires_us = (int64_t)i;
		keystone_cache_keep(cache, &large, &plain, LONG, false);
		ok(find(large, &got) == KEYSTONE_GOOD && is_same(&got, &plain), "an answer with %zu bytes of roles is found", lengths[i]);
	}
	keystone_cache_keep(cache, &large, NULL, LONG, false);
	is_int(find(large, &got), KEYSTONE_BAD, "until Keystone refuses it");
	struct keystone_key larger = keystone_key(cache, 7, STR("larger"));
	plain.roles = str_n(text, LARGEST);
	keystone_cache_keep(cache, &larger, &plain, LONG, false);
	is_int(find(larger, &got), KEYSTONE_UNKNOWN, "an answer larger than the largest entry is not stored");
}

static void test_age(void)
{
	struct keystone_key good = keystone_key(cache, 1, STR("good")), bad = keystone_key(cache, 1, STR("bad"));
	struct keystone_token token = make("u1", "member"), got;

	keystone_cache_keep(cache, &good, &token, LONG, false);
	keystone_cache_keep(cache, &bad, NULL, LONG, false);
	is_int(keystone_cache_find(cache, &good, 0, LONG, INT64_MAX, pool, &got), KEYSTONE_STALE, "a cache time of 0: nothing good is believed");
	is_int(got.expires_us, token.expires_us, "but when it expires is still known");
	is_int(keystone_cache_find(cache, &bad, LONG, 0, INT64_MAX, pool, &got), KEYSTONE_UNKNOWN, "the same for refusals");
	is_int(keystone_cache_find(cache, &good, LONG, 0, INT64_MAX, pool, &got), KEYSTONE_GOOD, "each has its own time");
	is_int(keystone_cache_find(cache, &bad, 0, LONG, INT64_MAX, pool, &got), KEYSTONE_BAD, "each");
	int64_t from = clock_tick_us();
	while (clock_tick_us() - from <= 2000)
		;
	is_int(keystone_cache_find(cache, &good, 2000, LONG, INT64_MAX, pool, &got), KEYSTONE_STALE, "what is older than the time is not believed");
	is_int(keystone_cache_find(cache, &bad, LONG, 2000, INT64_MAX, pool, &got), KEYSTONE_UNKNOWN, "nor an old refusal");
	is_int(keystone_cache_find(cache, &good, 0, 0, from, pool, &got), KEYSTONE_STALE, "nor where what was stored later is asked for");
	keystone_cache_keep(cache, &good, &token, LONG, false);
	is_int(find(good, &got), KEYSTONE_GOOD, "until it is stored anew");
	is_int(keystone_cache_find(cache, &good, 0, 0, from, pool, &got), KEYSTONE_GOOD, "what was stored later is believed without any cache time");
	keystone_cache_keep(cache, &bad, NULL, LONG, false);
	is_int(keystone_cache_find(cache, &bad, 0, 0, from, pool, &got), KEYSTONE_BAD, "the same for refusals");
}

// ---- damage

// The entry that has the text in it: what is found behind the key.
static char *entry_with(const char *text)
{
	struct keystone_key key = keystone_key(cache, 3, STR("torn"));
	char *area = shared_area(shared, SHARED_KEYSTONE, AREA), *found = memmem(area, AREA, key.words, sizeof(key.words));

	if (found == NULL || memmem(found, ENTRY, text, strlen(text)) == NULL)
		bail_out("the entry isn't in the area");
	return found - 8;
}

static void test_torn(void)
{
	struct keystone_key key = keystone_key(cache, 3, STR("torn"));
	struct keystone_token one = make("user-one-of-the-torn", "member,reader"), two = make("user-two-of-the-torn", "admin,member,reader"), got;
	char old[ENTRY], new[ENTRY];

	two.expires_us = 99;
	keystone_cache_keep(cache, &key, &one, LONG, false);
	char *entry = entry_with("user-one-of-the-torn");
	memcpy(old, entry, ENTRY);
	keystone_cache_keep(cache, &key, &two, LONG, false);
	ok(entry == entry_with("user-two-of-the-torn"), "a token has one entry");
	memcpy(new, entry, ENTRY);

	// A writer that was killed after each word, and one of another token's words that came in between, with an even number as
	// well.
	unsigned wrong = 0, mixed = 0;
	for (size_t n = 8; n < ENTRY; n += 8) {
		for (uint64_t sequence = 2; sequence <= 3; sequence++) {
			memcpy(entry, new, n);
			memcpy(entry + n, old + n, ENTRY - n);
			memcpy(entry, &sequence, 8);
			enum keystone_known known = find(key, &got);
			if (sequence == 3 && known != KEYSTONE_UNKNOWN)
				wrong++;
			if (known == KEYSTONE_BAD || (known == KEYSTONE_GOOD && !is_same(&got, &one) && !is_same(&got, &two)))
				mixed++;
		}
	}
	is_int(wrong, 0, "an entry that is being written is not read");
	is_int(mixed, 0, "nor one that has something of two");

	unsigned changed = 0;
	for (size_t bit = 0; bit < (size_t)ENTRY * 8; bit++) {
		memcpy(entry, new, ENTRY);
		entry[bit / 8] = (char)(entry[bit / 8] ^ 1 << bit % 8);
		enum keystone_known known = find(key, &got);
		changed += known == KEYSTONE_BAD || (known == KEYSTONE_GOOD && !is_same(&got, &two));
	}
	is_int(changed, 0, "a changed bit changes no answer");
	memset(entry, 0xff, ENTRY);
	memcpy(entry + 8, key.words, 16);
	memset(entry, 0, 8);
	is_int(find(key, &got), KEYSTONE_UNKNOWN, "lengths of nonsense are not followed");

	memcpy(entry, new, ENTRY);
	uint64_t odd = 7;
	memcpy(entry, &odd, 8);
	keystone_cache_keep(cache, &key, &one, LONG, false);
	ok(find(key, &got) == KEYSTONE_GOOD && is_same(&got, &one), "what a killed process left half written is written again");
}

// ---- eviction

static unsigned count(const char *prefix, unsigned n, enum keystone_known wanted)
{
	struct keystone_token got;
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		found += find(keystone_key(cache, 5, str_printf(pool, "%s%u", prefix, i)), &got) == wanted;
	return found;
}

static void keep_many(const char *prefix, unsigned n, const struct keystone_token *token)
{
	for (unsigned i = 0; i < n; i++) {
		struct keystone_key key = keystone_key(cache, 5, str_printf(pool, "%s%u", prefix, i));
		keystone_cache_keep(cache, &key, token, LONG, false);
	}
}

static void test_eviction(void)
{
	struct keystone_token token = make("u", "member");

	keep_many("early", 400, &token);
	unsigned before = count("early", 400, KEYSTONE_GOOD);
	ok(before > 380, "some hundred tokens have room");
	keep_many("wrong", 20000, NULL);
	is_int(count("early", 400, KEYSTONE_GOOD), before, "refusals push none of them out");
	ok(count("wrong", 20000, KEYSTONE_BAD) > 0, "refusals have what room is left");
	keep_many("late", ENTRIES * 4, &token);
	ok(count("late", ENTRIES * 4, KEYSTONE_GOOD) > ENTRIES / 2, "later tokens do, and fill what there is");
	ok(count("late", ENTRIES * 4, KEYSTONE_GOOD) <= ENTRIES, "and no more");
	is_int(count("early", 400, KEYSTONE_GOOD), 0, "the oldest have gone first");
	int64_t from = clock_tick_us();
	while (clock_tick_us() - from <= 1)
		;
	for (unsigned i = 0; i < 400; i++) {
		struct keystone_key key = keystone_key(cache, 5, str_printf(pool, "after%u", i));
		// All that was kept before this loop is too old, however slow the loop is.
		keystone_cache_keep(cache, &key, NULL, clock_tick_us() - from - 1, false);
	}
	ok(count("after", 400, KEYSTONE_BAD) > 380, "a refusal takes the place of what is too old to be believed");
	keep_many("last", 1, &token);
	is_int(count("last", 1, KEYSTONE_GOOD), 1, "the newest is always there");

	// The watch process reads answers from the cache alone.
	keep_many("full", ENTRIES * 4, &token);
	struct keystone_key revoked = keystone_key(cache, 5, STR("revoked"));
	struct keystone_token got;
	keystone_cache_keep(cache, &revoked, NULL, LONG, false);
	is_int(find(revoked, &got), KEYSTONE_UNKNOWN, "a refusal is not stored where all are good");
	keystone_cache_keep(cache, &revoked, NULL, LONG, true);
	is_int(find(revoked, &got), KEYSTONE_BAD, "unless a process awaits it");
}

// ---- turns

struct holder {
	struct keystone_key key;
	uint64_t endpoint;
};

// In another process: takes the turn, and the place of one that waits at the endpoint.
static bool hold(void *arg)
{
	const struct holder *holder = arg;
	struct shared *own = shared_open(dir, STR("here"));
	struct keystone_cache *view = own != NULL && shared_claim(own) ? keystone_cache_new(own) : NULL;

	return view != NULL && keystone_cache_turn_take(view, &holder->key, LONG) && waiting_begin(own, holder->endpoint, 1);
}

static void test_turns(void)
{
	struct keystone_key key = keystone_key(cache, 9, STR("asked"));
	uint64_t here = waiting_endpoint("service"), elsewhere = waiting_endpoint("admin");
	pid_t pid = process_start(hold, &(struct holder){ key, here });

	ok(!keystone_cache_turn_take(cache, &key, LONG), "while another process asks, this one has no turn");
	ok(!waiting_begin(shared, here, 1), "and where one may wait, no place");
	ok(waiting_begin(shared, here, 2), "where two may, it has");
	waiting_end(shared);
	ok(waiting_begin(shared, elsewhere, 1), "as at another endpoint");
	waiting_end(shared);
	ok(keystone_cache_turn_take(cache, &key, 0), "a turn that lasts too long is free");
	ok(keystone_cache_turn_is_mine(cache, &key, LONG), "and is this process's then");
	ok(!keystone_cache_turn_is_mine(cache, &key, 0), "for as long as it lasts");
	keystone_cache_turn_end(cache, &key);
	ok(!keystone_cache_turn_is_mine(cache, &key, LONG), "until it ends");

	struct keystone_key other = keystone_key(cache, 9, STR("asked, too"));
	pid_t second = process_start(hold, &(struct holder){ other, 3 });
	ok(!keystone_cache_turn_is_mine(cache, &other, LONG), "another process's turn is not this one's");
	process_kill(second);
	process_kill(pid);
	(void)shared_refresh(shared, clock_tick_us() + 2 * SECOND);
	ok(keystone_cache_turn_take(cache, &other, LONG), "the turn of a process that was killed is free");
	keystone_cache_turn_end(cache, &other);
	ok(waiting_begin(shared, here, 1), "and its place");
	waiting_end(shared);
}

// ---- the service user's login

// In another process: its login is refused.
static bool be_refused(void *arg)
{
	struct shared *own = shared_open(dir, STR("here"));
	struct keystone_cache *view = own != NULL ? keystone_cache_new(own) : NULL;

	(void)arg;
	if (view != NULL)
		keystone_login_refuse(view, 7);
	return view != NULL;
}

static void test_login(void)
{
	ok(!keystone_login_is_refused(cache, 7, LONG), "at first no login is refused");
	process_kill(process_start(be_refused, NULL));
	ok(keystone_login_is_refused(cache, 7, LONG), "one that Keystone refused another process is, though that has ended");
	ok(!keystone_login_is_refused(cache, 8, LONG), "that of another user is not");
	ok(!keystone_login_is_refused(cache, 7, 0), "nor is it for ever");
}

// ---- the breaker

// Waits for a trial that lasts up to longest_us.
static enum keystone_breaker wait_for_trial(int64_t longest_us)
{
	enum keystone_breaker state = KEYSTONE_OPEN;

	for (int64_t until = clock_tick_us() + 60 * (int64_t)SECOND; state == KEYSTONE_OPEN && clock_tick_us() < until; usleep(1000))
		state = keystone_breaker(cache, longest_us);
	return state;
}

static void test_silence(void)
{
	ok(!keystone_breaker_is_silent(cache), "where nobody asks, nobody is silent");
	int64_t begun_us = clock_tick_us();
	keystone_breaker_ask(cache);
	bool silent = keystone_breaker_is_silent(cache);
	ok(!silent || clock_tick_us() - begun_us > SECOND / 2, "nor at once"); // on a busy machine half a second may have passed
	usleep(SECOND * 6 / 10);
	keystone_breaker_ask(cache);
	ok(keystone_breaker_is_silent(cache), "after half a second without an answer, whoever asks meanwhile");
	keystone_breaker_report(cache, true);
	ok(!keystone_breaker_is_silent(cache), "an answer ends it");
}

// On a busy machine the second for which a failure opens the breaker may be over before all was looked at: then it is opened
// anew.
static void test_pause(void)
{
	enum keystone_breaker state = KEYSTONE_CLOSED;
	bool waits = false, in_time = false;

	for (int i = 0; i < 20 && !in_time; i++) {
		keystone_breaker_report(cache, true);
		int64_t begun_us = clock_tick_us();
		keystone_breaker_report(cache, false);
		state = keystone_breaker(cache, TRIAL);
		waits = keystone_breaker_is_open(cache) && !keystone_breaker_is_tried(cache);
		in_time = clock_tick_us() - begun_us < SECOND;
	}
	is_int(state, KEYSTONE_OPEN, "after a failure nobody");
	ok(waits, "not yet");
}

static void test_breaker(void)
{
	is_int(keystone_breaker(cache, TRIAL), KEYSTONE_CLOSED, "at first all may ask");
	test_pause();
	is_int(wait_for_trial(SHORT), KEYSTONE_TRIAL, "then one tries");
	is_int(wait_for_trial(TRIAL), KEYSTONE_TRIAL, "if it is killed, another one tries once its time is over");
	is_int(keystone_breaker(cache, TRIAL), KEYSTONE_OPEN, "one alone");
	ok(keystone_breaker_is_open(cache) && keystone_breaker_is_tried(cache), "for all others it is open meanwhile");
	keystone_breaker_report(cache, true);
	is_int(keystone_breaker(cache, TRIAL), KEYSTONE_CLOSED, "when it succeeds all may ask");
	ok(!keystone_breaker_is_open(cache) && !keystone_breaker_is_tried(cache), "at once");
}

int main(void)
{
	log_open("auth-keystone-cache.t", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	pool = pool_new();
	if (mkdtemp(dir) == NULL)
		abort();
	shared = shared_open(dir, STR("here"));
	if (shared == NULL || !shared_claim(shared) || (cache = keystone_cache_new(shared)) == NULL)
		bail_out("no shared memory");
	test_found();
	test_age();
	test_torn();
	test_eviction();
	test_turns();
	test_login();
	test_silence();
	test_breaker();
	keystone_cache_free(&cache);
	shared_close(&shared);
	glob_t found;
	char pattern[64];
	(void)snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	is_int(rmdir(dir), 0, "nothing stays");

	// Without a file: memory of this process alone.
	cache = keystone_cache_new(NULL);
	test_found();
	keystone_cache_free(&cache);
	pool_free(&pool);
	return done_testing();
}
