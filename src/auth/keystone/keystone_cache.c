// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/keystone/keystone_cache.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/shared.h"
#include "base/siphash.h"

enum {
	WAYS = 8,                    // places that a token may have among those of a size
	SIZES = 3,
	WORDS = 2048 * 128 + 256 * 1024 + 32 * 8192, // of 8 bytes, in the entries of all sizes
	TURNS = 1024,
	PAUSE_US = 1000000,          // of the breaker, at first
	PAUSE_MOST_US = 8000000,     // after trials that failed
	SILENCE_US = 500000,         // an answer takes 30 to 500 ms
	TRIAL_MOST_US = 120000000,   // a trial that is said to last longer is of another boot
	FIELDS = 7,                  // strings of an entry
};

// The entries of one size. They stand one behind the other, and those of the next size behind them.
static const struct size {
	size_t words;   // of 8 bytes, in an entry
	size_t entries;
	size_t first;   // index of the first word of the first entry
} sizes[SIZES] = {
	{ .words = 128, .entries = 2048, .first = 0 },
	{ .words = 1024, .entries = 256, .first = 2048 * 128 },
	{ .words = 8192, .entries = 32, .first = 2048 * 128 + 256 * 1024 },
};

// The beginning of an entry.
struct head {
	uint64_t sequence;    // odd: the entry is being written
	uint64_t key[2];
	int64_t stored_tick;  // clock_tick_us
	int64_t expires_us;
	uint64_t check;       // checksum of the members above, and of struct facts with its text
};

// What follows the head, and ends with the text of all strings.
struct facts {
	uint16_t lengths[FIELDS];
	uint8_t flags;        // GOOD, SYSTEM, RULES, LENT
	uint8_t unused;
	char text[];
};
enum { GOOD = 1, SYSTEM = 2, RULES = 4, LENT = 8 };
enum { KEY_WORD = 1, TICK_WORD = 3, HEAD_WORDS = sizeof(struct head) / 8, FACT_WORDS = offsetof(struct facts, text) / 8 };
static_assert(offsetof(struct head, key) == KEY_WORD * 8 && offsetof(struct head, stored_tick) == TICK_WORD * 8 &&
	sizeof(struct head) % 8 == 0 && offsetof(struct facts, text) % 8 == 0, "they fill words");

typedef _Atomic uint64_t shared_word; // an entry is known by a pointer to its first word

struct turn {
	_Atomic uint64_t owner; // mark of the process; 0: free
	_Atomic int64_t since_us;
};

struct known {
	_Atomic int64_t open_until_us; // clock_tick_us; 0: closed
	_Atomic int64_t pause_us;
	_Atomic int64_t trial_until_us; // a process tries, until then at most; 0: none does
	_Atomic int64_t unanswered_since_us; // when the first question was sent since the last answer; 0: none was
	_Atomic uint64_t refused_login; // whose login Keystone refused last; 0: nobody's
	_Atomic int64_t refused_us;     // clock_tick_us: when
	uint64_t unused[2];
	struct turn turns[TURNS];
	shared_word words[WORDS];
};

struct keystone_cache {
	struct shared *shared; // NULL: own is used
	struct known *own;
};

struct keystone_cache *keystone_cache_new(struct shared *shared)
{
	struct keystone_cache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return NULL;
	cache->shared = shared;
	if (shared == NULL)
		cache->own = calloc(1, sizeof(*cache->own)); // pages that nobody touches take no memory
	if (shared == NULL && cache->own == NULL) {
		free(cache);
		return NULL;
	}
	return cache;
}

void keystone_cache_free(struct keystone_cache **cache)
{
	if (*cache == NULL)
		return;
	free((*cache)->own);
	free(*cache);
	*cache = NULL;
}

static struct known *known_of(const struct keystone_cache *cache)
{
	return cache->shared != NULL ? shared_area(cache->shared, SHARED_KEYSTONE, sizeof(struct known)) : cache->own;
}

static uint64_t self(const struct keystone_cache *cache)
{
	return cache->shared != NULL ? shared_self(cache->shared) : 1;
}

static bool is_alive(const struct keystone_cache *cache, uint64_t mark)
{
	return cache->shared == NULL || shared_is_alive(cache->shared, mark);
}

static struct keystone_key hash(const struct keystone_cache *cache, struct str text)
{
	static const uint64_t alone[SIPHASH_KEY] = { 1, 2 }; // a key is not needed: without shared memory only this process has the table
	struct keystone_key key;

	if (cache->shared != NULL)
		shared_hash128(cache->shared, text, key.words);
	else
		siphash_128(alone, text, key.words);
	return key;
}

struct keystone_key keystone_key(const struct keystone_cache *cache, uint64_t purpose, struct str token)
{
	struct keystone_key key = hash(cache, token), other = hash(cache, str_n((const char *)&purpose, sizeof(purpose)));

	return (struct keystone_key){ { key.words[0] ^ other.words[0], key.words[1] ^ other.words[1] } };
}

// ---- entries

// Entry i of those that a token may have among the entries of a size.
static shared_word *entry_of(const struct keystone_cache *cache, const struct size *size, const struct keystone_key *key, size_t i)
{
	size_t set = key->words[0] % (size->entries / WAYS);

	return &known_of(cache)->words[size->first + (set * WAYS + i) * size->words];
}

static size_t most_text(const struct size *size)
{
	return (size->words - HEAD_WORDS - FACT_WORDS) * 8;
}

static size_t text_length(const struct facts *facts)
{
	size_t n = 0;

	for (size_t i = 0; i < FIELDS; i++)
		n += facts->lengths[i];
	return n;
}

// Words of struct facts and its text; what is behind the text in the last one is 0.
static size_t fact_words(const struct facts *facts)
{
	return FACT_WORDS + (text_length(facts) + 7) / 8;
}

// Each step is one-to-one, so a changed word always changes the check.
static uint64_t check_of(const struct head *head, const struct facts *facts)
{
	static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	const char *at = (const char *)facts;
	uint64_t check = head->key[0] ^ head->key[1] * odd ^ (uint64_t)head->stored_tick * 3 ^ (uint64_t)head->expires_us * 5;

	for (size_t i = 0, n = fact_words(facts); i < n; i++) {
		uint64_t word;
		memcpy(&word, at + i * 8, 8);
		check = (check ^ word) * odd;
		check ^= check >> 32;
	}
	return check;
}

static void load_words(const shared_word *from, size_t n, void *to)
{
	char *at = to;

	for (size_t i = 0; i < n; i++) {
		uint64_t word = atomic_load_explicit(&from[i], memory_order_relaxed);
		memcpy(at + i * 8, &word, 8);
	}
}

static bool has_key(const shared_word *entry, const struct keystone_key *key)
{
	return atomic_load_explicit(&entry[KEY_WORD], memory_order_relaxed) == key->words[0] &&
		atomic_load_explicit(&entry[KEY_WORD + 1], memory_order_relaxed) == key->words[1];
}

// What stands in the entry; its facts are in the pool. NULL: it is being written, or isn't what a process has written to its end.
static const struct facts *load(const shared_word *entry, const struct size *size, struct pool *pool, struct head *head)
{
	struct facts lengths;
	uint64_t sequence = atomic_load_explicit(&entry[0], memory_order_acquire);

	if ((sequence & 1) != 0)
		return NULL;
	load_words(entry, HEAD_WORDS, head);
	load_words(entry + HEAD_WORDS, FACT_WORDS, &lengths);
	if (text_length(&lengths) > most_text(size))
		return NULL;
	struct facts *facts = pool_alloc(pool, fact_words(&lengths) * 8);
	*facts = lengths;
	load_words(entry + HEAD_WORDS + FACT_WORDS, fact_words(&lengths) - FACT_WORDS, facts->text);
	atomic_thread_fence(memory_order_acquire);
	bool still = atomic_load_explicit(&entry[0], memory_order_relaxed) == sequence;
	return still && head->check == check_of(head, facts) ? facts : NULL;
}

// If the sequence is odd already, a process was killed while it wrote, or is writing another token's entry at this place now.
// This entry is written over it. If two processes write at once, the mixture fails the checksum, so no reader uses it.
static uint64_t begin_storing(shared_word *entry)
{
	uint64_t sequence = atomic_load_explicit(&entry[0], memory_order_relaxed) | 1;

	atomic_store_explicit(&entry[0], sequence, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return sequence;
}

static void store_words(shared_word *to, const void *from, size_t n)
{
	const char *at = from;

	for (size_t i = 0; i < n; i++) {
		uint64_t word;
		memcpy(&word, at + i * 8, 8);
		atomic_store_explicit(&to[i], word, memory_order_relaxed);
	}
}

static void store(shared_word *entry, const struct head *head, const struct facts *facts)
{
	uint64_t sequence = begin_storing(entry);

	store_words(entry + KEY_WORD, (const char *)head + KEY_WORD * 8, HEAD_WORDS - KEY_WORD);
	store_words(entry + HEAD_WORDS, facts, fact_words(facts));
	atomic_store_explicit(&entry[0], sequence + 1, memory_order_release);
}

static void drop(shared_word *entry)
{
	static const struct head none;
	uint64_t sequence = begin_storing(entry);

	store_words(entry + KEY_WORD, (const char *)&none + KEY_WORD * 8, HEAD_WORDS - KEY_WORD);
	atomic_store_explicit(&entry[0], sequence + 1, memory_order_release);
}

static void take_facts(const struct head *head, const struct facts *facts, struct keystone_token *token)
{
	struct str *const fields[FIELDS] = { &token->user, &token->user_name, &token->project, &token->project_name,
		&token->project_domain, &token->roles, &token->rules };
	const char *at = facts->text;

	for (size_t i = 0; i < FIELDS; i++) {
		*fields[i] = str_n(at, facts->lengths[i]);
		at += facts->lengths[i];
	}
	token->expires_us = head->expires_us;
	token->system_scope = (facts->flags & SYSTEM) != 0;
	token->has_rules = (facts->flags & RULES) != 0;
	token->is_lent = (facts->flags & LENT) != 0;
}

static bool is_fresh(int64_t stored_tick, int64_t for_us)
{
	int64_t age = clock_tick_us() - stored_tick;

	return age >= 0 && age < for_us; // a tick in the future is of another boot
}

static bool is_since(int64_t stored_tick, int64_t since_us)
{
	return stored_tick >= since_us && stored_tick <= clock_tick_us();
}

enum keystone_known keystone_cache_find(const struct keystone_cache *cache, const struct keystone_key *key, int64_t good_us,
	int64_t bad_us, int64_t since_us, struct pool *pool, struct keystone_token *token)
{
	enum keystone_known known = KEYSTONE_UNKNOWN;
	struct head head;

	for (size_t i = 0; i < SIZES * WAYS && (known == KEYSTONE_UNKNOWN || known == KEYSTONE_STALE); i++) {
		const struct size *size = &sizes[i / WAYS];
		const shared_word *entry = entry_of(cache, size, key, i % WAYS);
		const struct facts *facts = has_key(entry, key) ? load(entry, size, pool, &head) : NULL;
		if (facts == NULL || head.key[0] != key->words[0] || head.key[1] != key->words[1])
			continue;
		bool good = (facts->flags & GOOD) != 0;
		bool believed = is_fresh(head.stored_tick, good ? good_us : bad_us) || is_since(head.stored_tick, since_us);
		if (!good && !believed)
			continue;
		if (good)
			take_facts(&head, facts, token);
		known = !good ? KEYSTONE_BAD : believed ? KEYSTONE_GOOD : KEYSTONE_STALE;
	}
	return known;
}

// Which of the set's entries a new one takes the place of; NULL: none, since all are good, and the new one may not replace a good
// one (may_replace_good). What stands in them isn't checked: at worst, another one than the best gives way.
static shared_word *place_for(const struct keystone_cache *cache, const struct size *size, const struct keystone_key *key, int64_t good_us,
	bool may_replace_good)
{
	shared_word *bad = NULL, *oldest = NULL;
	int64_t bad_tick = INT64_MAX, oldest_tick = INT64_MAX;

	for (size_t i = 0; i < WAYS; i++) {
		shared_word *entry = entry_of(cache, size, key, i);
		if (has_key(entry, key))
			return entry;
	}
	for (size_t i = 0; i < WAYS; i++) {
		shared_word *entry = entry_of(cache, size, key, i);
		int64_t tick = (int64_t)atomic_load_explicit(&entry[TICK_WORD], memory_order_relaxed);
		struct facts facts;
		load_words(entry + HEAD_WORDS, FACT_WORDS, &facts);
		if (tick == 0 || !is_fresh(tick, good_us))
			return entry;
		if ((facts.flags & GOOD) == 0 && tick < bad_tick) {
			bad = entry;
			bad_tick = tick;
		}
		if (tick < oldest_tick) {
			oldest = entry;
			oldest_tick = tick;
		}
	}
	return bad != NULL || !may_replace_good ? bad : oldest;
}

// The token's entries of other sizes, from when Keystone said more or less of it.
static void drop_others(const struct keystone_cache *cache, const struct size *kept, const struct keystone_key *key)
{
	for (size_t i = 0; i < SIZES * WAYS; i++) {
		shared_word *entry = entry_of(cache, &sizes[i / WAYS], key, i % WAYS);
		if (&sizes[i / WAYS] != kept && has_key(entry, key))
			drop(entry);
	}
}

void keystone_cache_keep(const struct keystone_cache *cache, const struct keystone_key *key, const struct keystone_token *token,
	int64_t good_us, bool awaited)
{
	static const struct keystone_token none = { .expires_us = 0 };
	const struct keystone_token *from = token != NULL ? token : &none;
	const struct str *const fields[FIELDS] = { &from->user, &from->user_name, &from->project, &from->project_name,
		&from->project_domain, &from->roles, &from->rules };
	struct head head = { .key = { key->words[0], key->words[1] }, .stored_tick = clock_tick_us(), .expires_us = from->expires_us };
	const struct size *size = sizes;
	size_t n = 0;

	for (size_t i = 0; i < FIELDS; i++)
		n = fields[i]->n <= UINT16_MAX ? n + fields[i]->n : SIZE_MAX / 2;
	while (size < sizes + SIZES && n > most_text(size))
		size++;
	shared_word *place = size < sizes + SIZES ? place_for(cache, size, key, good_us, token != NULL || awaited) : NULL;
	if (place == NULL)
		return;
	struct facts *facts = memory_zeroed(FACT_WORDS + (n + 7) / 8, 8);
	n = 0;
	for (size_t i = 0; i < FIELDS; i++) {
		if (fields[i]->n > 0)
			memcpy(facts->text + n, fields[i]->p, fields[i]->n);
		facts->lengths[i] = (uint16_t)fields[i]->n;
		n += fields[i]->n;
	}
	facts->flags = (uint8_t)((token != NULL ? GOOD : 0) | (from->system_scope ? SYSTEM : 0) | (from->has_rules ? RULES : 0) |
		(from->is_lent ? LENT : 0));
	head.check = check_of(&head, facts);
	store(place, &head, facts);
	free(facts);
	drop_others(cache, size, key);
}

// ---- turns

static struct turn *turn_of(const struct keystone_cache *cache, const struct keystone_key *key)
{
	return &known_of(cache)->turns[key->words[1] % TURNS];
}

bool keystone_cache_turn_take(const struct keystone_cache *cache, const struct keystone_key *key, int64_t longest_us)
{
	struct turn *turn = turn_of(cache, key);
	uint64_t mine = self(cache), owner = atomic_load(&turn->owner);
	int64_t now = clock_tick_us(), since = atomic_load(&turn->since_us);

	if (mine == 0) // more processes than slots: it asks for itself
		return true;
	if (owner != 0 && owner != mine && is_alive(cache, owner) && since <= now && now - since < longest_us)
		return false;
	if (!atomic_compare_exchange_strong(&turn->owner, &owner, mine))
		return false;
	atomic_store(&turn->since_us, now);
	return true;
}

bool keystone_cache_turn_is_mine(const struct keystone_cache *cache, const struct keystone_key *key, int64_t longest_us)
{
	const struct turn *turn = turn_of(cache, key);
	uint64_t mine = self(cache);
	int64_t now = clock_tick_us(), since = atomic_load(&turn->since_us);

	return mine != 0 && atomic_load(&turn->owner) == mine && since <= now && now - since < longest_us;
}

void keystone_cache_turn_end(const struct keystone_cache *cache, const struct keystone_key *key)
{
	uint64_t mine = self(cache);

	if (mine != 0)
		(void)atomic_compare_exchange_strong(&turn_of(cache, key)->owner, &mine, 0);
}

// ---- the breaker

// Until when it is open; 0: it is closed. A time that lies too far ahead is of another boot.
static int64_t open_until(const struct known *known, int64_t now)
{
	int64_t until = atomic_load(&known->open_until_us);

	return until != 0 && until - now <= PAUSE_MOST_US ? until : 0;
}

static bool is_tried(const struct known *known, int64_t now)
{
	int64_t until = atomic_load(&known->trial_until_us);

	return until > now && until - now <= TRIAL_MOST_US;
}

bool keystone_breaker_is_tried(const struct keystone_cache *cache)
{
	return is_tried(known_of(cache), clock_tick_us());
}

bool keystone_breaker_is_open(const struct keystone_cache *cache)
{
	const struct known *known = known_of(cache);
	int64_t now = clock_tick_us(), until = open_until(known, now);

	return until > now || (until != 0 && is_tried(known, now));
}

enum keystone_breaker keystone_breaker(const struct keystone_cache *cache, int64_t longest_us)
{
	struct known *known = known_of(cache);
	int64_t now = clock_tick_us(), until = open_until(known, now);

	assert(longest_us > 0 && longest_us <= TRIAL_MOST_US);
	if (until == 0)
		return KEYSTONE_CLOSED;
	if (now < until)
		return KEYSTONE_OPEN;
	if (is_tried(known, now))
		return KEYSTONE_OPEN;
	int64_t before = atomic_load(&known->trial_until_us);
	return atomic_compare_exchange_strong(&known->trial_until_us, &before, now + longest_us) ? KEYSTONE_TRIAL : KEYSTONE_OPEN;
}

void keystone_breaker_ask(const struct keystone_cache *cache)
{
	int64_t none = 0;

	(void)atomic_compare_exchange_strong(&known_of(cache)->unanswered_since_us, &none, clock_tick_us());
}

bool keystone_breaker_is_silent(const struct keystone_cache *cache)
{
	int64_t since = atomic_load(&known_of(cache)->unanswered_since_us), waited = clock_tick_us() - since;

	return since != 0 && waited > SILENCE_US && waited < TRIAL_MOST_US; // longer: of another boot, or its process was killed
}

void keystone_breaker_report(const struct keystone_cache *cache, bool answered)
{
	struct known *known = known_of(cache);

	atomic_store(&known->unanswered_since_us, 0);
	if (answered) {
		if (atomic_load(&known->open_until_us) == 0)
			return;
		atomic_store(&known->pause_us, 0);
		atomic_store(&known->open_until_us, 0);
	} else {
		// A trial that failed doubles the pause; the first failures, perhaps of several processes at once, begin it.
		bool tried = atomic_load(&known->trial_until_us) != 0;
		int64_t pause = atomic_load(&known->pause_us);
		pause = tried && pause > 0 && pause < PAUSE_MOST_US ? pause * 2 : pause > 0 && pause <= PAUSE_MOST_US ? pause : PAUSE_US;
		atomic_store(&known->pause_us, pause);
		atomic_store(&known->open_until_us, clock_tick_us() + pause);
	}
	atomic_store(&known->trial_until_us, 0);
}

// ---- the service user

void keystone_login_refuse(const struct keystone_cache *cache, uint64_t login)
{
	struct known *known = known_of(cache);

	atomic_store(&known->refused_us, clock_tick_us());
	atomic_store(&known->refused_login, login);
}

bool keystone_login_is_refused(const struct keystone_cache *cache, uint64_t login, int64_t pause_us)
{
	const struct known *known = known_of(cache);

	return atomic_load(&known->refused_login) == login && is_fresh(atomic_load(&known->refused_us), pause_us);
}
