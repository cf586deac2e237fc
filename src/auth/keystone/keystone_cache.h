// SPDX-License-Identifier: Apache-2.0
// What the processes of a host know together of Keystone: tokens that it validated or refused lately, who asks it about which
// token, and whether it is away. All of it stands in memory that they share (base/shared.h), so it may be lost or damaged at any
// time: then Keystone is asked again. For files in auth/ only.
//
// Entries. A token is found by 128 bits of a keyed hash (SipHash-2-4-128, under the key of the shared file); the token itself is
// stored nowhere. An entry is written under a sequence number that is odd meanwhile, and has a check of its content: a reader
// that meets an entry half written, or left half written by a process that was killed, sees a miss. There are 2048 entries of 1
// KiB, which is enough for most tokens, 256 of 8 KiB for users with very many roles or access rules, and 32 of 64 KiB; each in
// sets of 8. A token's entry is of the smallest size that holds it. A new entry takes the place of one that is too old; else of a
// refused token; else of the oldest. A refused token never takes the place of a good one that is believed, so wrong tokens can't
// push good ones out; except a refusal that a process awaits in the cache, since it has no other way to learn of it.
//
// The service user's login. If Keystone refuses it, or gives a token that can't be used, no process tries it again for a while:
// repeated ones can lock the user out.
//
// Turns. Of several processes that miss the same token, one takes the turn and asks; the others look again every millisecond. A
// turn has the mark of its process, so that of a process which was killed is free within a second (shared_is_alive).
//
// The breaker. A failure of Keystone opens it: until its pause is over, nobody asks. Then one process may try. A failure that
// comes of one token isn't Keystone's: it doesn't open the breaker.
#ifndef TENURE_AUTH_KEYSTONE_KEYSTONE_CACHE_H
#define TENURE_AUTH_KEYSTONE_KEYSTONE_CACHE_H

#include "base/str.h"

struct pool;
struct shared;
struct keystone_cache; // one process's view

// What Keystone says of a token. Empty strings for what it doesn't say.
struct keystone_token {
	struct str user, user_name;       // id and name
	struct str project, project_name; // of the scope
	struct str project_domain;        // its name
	struct str roles;                 // names, with commas
	struct str rules;                 // of an application credential: SERVICE LF METHOD LF PATH LF, for each rule
	bool has_rules;                   // there are rules, perhaps none that allows anything
	bool system_scope;
	bool is_lent;                     // of a restricted application credential, a trust or OAuth: Keystone lets it make no further credentials
	int64_t expires_us;               // wall clock
};

struct keystone_key {
	uint64_t words[2];
};

// shared NULL: memory of this process alone. NULL: no memory.
struct keystone_cache *keystone_cache_new(struct shared *shared);
void keystone_cache_free(struct keystone_cache **cache);

// The key of a token asked about in some way; purpose keeps apart what was answered to different questions, or by different
// services.
struct keystone_key keystone_key(const struct keystone_cache *cache, uint64_t purpose, struct str token);

enum keystone_known {
	KEYSTONE_UNKNOWN,
	KEYSTONE_GOOD,
	KEYSTONE_BAD,
	KEYSTONE_STALE, // it was good, too long ago to be believed; but what *token says of its end still holds
};
// What is known of the token; of one that is or was good *token, with its strings in pool. good_us, bad_us: for how long an
// answer is believed. since_us (clock_tick_us): an answer that was stored since then is believed, too, however short these times
// are; INT64_MAX: none is. The caller compares token->expires_us with the time.
enum keystone_known keystone_cache_find(const struct keystone_cache *cache, const struct keystone_key *key, int64_t good_us,
	int64_t bad_us, int64_t since_us, struct pool *pool, struct keystone_token *token);
// Stores an answer; token NULL: refused. good_us: how long an answer is of use to some process; an older entry gives way first.
// awaited: another process will look for the answer here, so a refusal may take the place of the oldest good token. Not stored
// are an answer with more than 64 KiB of strings, and a refusal that is not awaited where there is no room.
void keystone_cache_keep(const struct keystone_cache *cache, const struct keystone_key *key, const struct keystone_token *token,
	int64_t good_us, bool awaited);

// Takes the turn to ask about this token. False: another process has it. longest_us: a turn held for longer is free, too.
bool keystone_cache_turn_take(const struct keystone_cache *cache, const struct keystone_key *key, int64_t longest_us);
// Has this process the turn, for less than longest_us? Then it asks, or a process that it forked does. The turn is that of one
// token, or of a few.
bool keystone_cache_turn_is_mine(const struct keystone_cache *cache, const struct keystone_key *key, int64_t longest_us);
void keystone_cache_turn_end(const struct keystone_cache *cache, const struct keystone_key *key);

enum keystone_breaker {
	KEYSTONE_CLOSED, // ask
	KEYSTONE_OPEN,   // don't: it was away a moment ago
	KEYSTONE_TRIAL,  // this process alone may try, and reports what came of it
};
// longest_us: how long a trial takes at most, up to two minutes. One that hasn't reported by then was killed, and another process
// may try.
enum keystone_breaker keystone_breaker(const struct keystone_cache *cache, int64_t longest_us);
// The same without taking a trial: is it open, or does another process try just now?
bool keystone_breaker_is_open(const struct keystone_cache *cache);
// Does a process try, and hasn't reported yet?
bool keystone_breaker_is_tried(const struct keystone_cache *cache);
// Records that this process has sent Keystone a question (see keystone_breaker_is_silent()).
void keystone_breaker_ask(const struct keystone_cache *cache);
// Has Keystone answered nobody since a process asked it more than half a second ago? If so, a request that finds no free place
// among those that may wait for Keystone fails at once.
bool keystone_breaker_is_silent(const struct keystone_cache *cache);
// Records whether Keystone answered.
void keystone_breaker_report(const struct keystone_cache *cache, bool answered);

// Records that Keystone refused the service user's login just now, or gave a token that can't be used. login: a number, not 0,
// for Keystone's address and the user.
void keystone_login_refuse(const struct keystone_cache *cache, uint64_t login);
// Did it refuse this login less than pause_us ago, to whichever process of the host?
bool keystone_login_is_refused(const struct keystone_cache *cache, uint64_t login, int64_t pause_us);

#endif
