// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/keystone/keystone_cache.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/shared.h"
#include "base/siphash.h"

enum {
	ENTRIES = 2048,
	WAYS = 8,                    // places that a token may have
	ENTRY_WORDS = 255,           // of 8 bytes, beside the sequence number
	TURNS = 1024,
	PAUSE_US = 1000000,          // of the breaker, at first
	PAUSE_MOST_US = 8000000,     // after trials that failed
	TRIAL_MOST_US = 120000000,   // a trial that is said to last longer is of another boot
	FIELDS = 7,                  // strings of an entry
};

struct entry {
	_Atomic uint64_t sequence; // odd: it is being written
	_Atomic uint64_t words[ENTRY_WORDS];
};
static_assert(sizeof(struct entry) == 2048, "a power of two");

// An entry's content, as it stands in its words.
struct content {
	uint64_t key[2];
	int64_t stored_tick;  // clock_tick_us
	int64_t expires_us;
	uint64_t check;       // keyed hash of all that follows and, mixed in, of what stands before
	uint16_t lengths[FIELDS];
	uint8_t flags;        // GOOD, SYSTEM, RULES
	uint8_t unused;
	char text[ENTRY_WORDS * 8 - 5 * 8 - FIELDS * 2 - 2];
};
static_assert(sizeof(struct content) == ENTRY_WORDS * 8, "fills the words");
enum { GOOD = 1, SYSTEM = 2, RULES = 4 };
enum { HEAD_WORDS = 2 + 1 + 1 }; // key, stored_tick, expires_us

struct turn {
	_Atomic uint64_t owner; // mark of the process; 0: free
	_Atomic int64_t since_us;
};

struct known {
	_Atomic int64_t open_until_us; // clock_tick_us; 0: closed
	_Atomic int64_t pause_us;
	_Atomic int64_t trial_until_us; // a process tries, until then at most; 0: none does
	uint64_t unused[5];
	struct turn turns[TURNS];
	struct entry entries[ENTRIES];
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

static uint64_t hash_file(const struct keystone_cache *cache, struct str text)
{
	static const uint64_t alone[SIPHASH_KEY] = { 1, 2 }; // memory of one process, which nobody else sees

	return cache->shared != NULL ? shared_hash(cache->shared, text) : siphash(alone, text);
}

struct keystone_key keystone_key(const struct keystone_cache *cache, uint64_t purpose, struct str token)
{
	// A key of its own for the second word, which follows from the purpose and the file's key.
	const uint64_t derived[SIPHASH_KEY] = { hash_file(cache, str_n((const char *)&purpose, sizeof(purpose))), purpose };
	uint64_t first = hash_file(cache, token);

	return (struct keystone_key){ { first ^ derived[0], siphash(derived, token) } };
}

// ---- entries

static struct entry *set_of(const struct keystone_cache *cache, const struct keystone_key *key)
{
	return &known_of(cache)->entries[key->words[0] % (ENTRIES / WAYS) * WAYS];
}

static size_t text_length(const struct content *content)
{
	size_t n = 0;

	for (size_t i = 0; i < FIELDS; i++)
		n += content->lengths[i];
	return n;
}

static uint64_t check_of(const struct content *content)
{
	const uint64_t key[SIPHASH_KEY] = { content->key[0] ^ (uint64_t)content->stored_tick,
		content->key[1] ^ (uint64_t)content->expires_us };
	const char *from = (const char *)content->lengths;
	size_t n = sizeof(content->lengths) + sizeof(content->flags) + sizeof(content->unused) + text_length(content);

	return siphash(key, str_n(from, n));
}

static void load_words(const struct entry *entry, size_t from, size_t to, uint64_t *words)
{
	for (size_t i = from; i < to; i++)
		words[i] = atomic_load_explicit(&entry->words[i], memory_order_relaxed);
}

static bool has_key(const struct entry *entry, const struct keystone_key *key)
{
	return atomic_load_explicit(&entry->words[0], memory_order_relaxed) == key->words[0] &&
		atomic_load_explicit(&entry->words[1], memory_order_relaxed) == key->words[1];
}

enum { TEXT_WORD = offsetof(struct content, text) / 8 }; // the words up to here have all lengths

// False: it is being written, or isn't what a process has written to its end.
static bool load(const struct entry *entry, struct content *content)
{
	uint64_t *words = (uint64_t *)(void *)content;
	uint64_t sequence = atomic_load_explicit(&entry->sequence, memory_order_acquire);

	if ((sequence & 1) != 0)
		return false;
	load_words(entry, 0, TEXT_WORD + 1, words);
	size_t n = text_length(content);
	if (n > sizeof(content->text))
		return false;
	load_words(entry, TEXT_WORD + 1, (offsetof(struct content, text) + n + 7) / 8, words);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&entry->sequence, memory_order_relaxed) == sequence && content->check == check_of(content);
}

static void store(struct entry *entry, const struct content *content)
{
	const uint64_t *words = (const uint64_t *)(const void *)content;
	size_t n = (offsetof(struct content, text) + text_length(content) + 7) / 8;
	uint64_t sequence = atomic_load_explicit(&entry->sequence, memory_order_relaxed);

	// Odd already: a process was killed, or is just now writing another token's entry here. Then this one is written over it; what
	// two processes leave of that doesn't pass the check.
	atomic_store_explicit(&entry->sequence, sequence | 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < n; i++)
		atomic_store_explicit(&entry->words[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&entry->sequence, (sequence | 1) + 1, memory_order_release);
}

static void take_strings(const struct content *content, struct pool *pool, struct keystone_token *token)
{
	struct str *const fields[FIELDS] = { &token->user, &token->user_name, &token->project, &token->project_name,
		&token->project_domain, &token->roles, &token->rules };
	const char *at = str_dup(pool, str_n(content->text, text_length(content))).p;

	for (size_t i = 0; i < FIELDS; i++) {
		*fields[i] = str_n(at, content->lengths[i]);
		at += content->lengths[i];
	}
	token->expires_us = content->expires_us;
	token->system_scope = (content->flags & SYSTEM) != 0;
	token->has_rules = (content->flags & RULES) != 0;
}

static bool is_fresh(int64_t stored_tick, int64_t for_us)
{
	int64_t age = clock_tick_us() - stored_tick;

	return age >= 0 && age < for_us; // a tick in the future is of another boot
}

enum keystone_known keystone_cache_find(const struct keystone_cache *cache, const struct keystone_key *key, int64_t good_us,
	int64_t bad_us, struct pool *pool, struct keystone_token *token)
{
	const struct entry *set = set_of(cache, key);
	struct content content;

	for (size_t i = 0; i < WAYS; i++) {
		if (!has_key(&set[i], key) || !load(&set[i], &content))
			continue;
		bool good = (content.flags & GOOD) != 0;
		if (content.key[0] != key->words[0] || content.key[1] != key->words[1] ||
			!is_fresh(content.stored_tick, good ? good_us : bad_us))
			continue;
		if (good)
			take_strings(&content, pool, token);
		return good ? KEYSTONE_GOOD : KEYSTONE_BAD;
	}
	return KEYSTONE_UNKNOWN;
}

// Which of the set's entries a new one takes the place of; NULL: none, since all are good and the new one is a refusal.
static struct entry *place_for(struct entry *set, const struct keystone_key *key, bool good)
{
	struct entry *bad = NULL, *oldest = NULL;
	int64_t bad_tick = INT64_MAX, oldest_tick = INT64_MAX;
	struct content content;

	for (size_t i = 0; i < WAYS; i++) {
		if (has_key(&set[i], key))
			return &set[i];
	}
	for (size_t i = 0; i < WAYS; i++) {
		if (!load(&set[i], &content) || (content.key[0] | content.key[1]) == 0)
			return &set[i];
		if ((content.flags & GOOD) == 0 && content.stored_tick < bad_tick) {
			bad = &set[i];
			bad_tick = content.stored_tick;
		}
		if (content.stored_tick < oldest_tick) {
			oldest = &set[i];
			oldest_tick = content.stored_tick;
		}
	}
	return bad != NULL || !good ? bad : oldest;
}

void keystone_cache_keep(const struct keystone_cache *cache, const struct keystone_key *key, const struct keystone_token *token)
{
	static const struct keystone_token none = { .expires_us = 0 };
	const struct keystone_token *from = token != NULL ? token : &none;
	const struct str *const fields[FIELDS] = { &from->user, &from->user_name, &from->project, &from->project_name,
		&from->project_domain, &from->roles, &from->rules };
	struct content content = { .key = { key->words[0], key->words[1] }, .stored_tick = clock_tick_us(),
		.expires_us = from->expires_us };
	size_t n = 0;

	for (size_t i = 0; i < FIELDS; i++) {
		if (fields[i]->n > sizeof(content.text) - n)
			return;
		if (fields[i]->n > 0)
			memcpy(content.text + n, fields[i]->p, fields[i]->n);
		content.lengths[i] = (uint16_t)fields[i]->n;
		n += fields[i]->n;
	}
	content.flags = (uint8_t)((token != NULL ? GOOD : 0) | (from->system_scope ? SYSTEM : 0) | (from->has_rules ? RULES : 0));
	content.check = check_of(&content);
	struct entry *place = place_for(set_of(cache, key), key, token != NULL);
	if (place != NULL)
		store(place, &content);
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

void keystone_breaker_report(const struct keystone_cache *cache, bool answered)
{
	struct known *known = known_of(cache);

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
