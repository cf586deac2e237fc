// SPDX-License-Identifier: Apache-2.0
// Asks OpenStack's Identity service (Keystone, API v3) about tokens: GET /v3/auth/tokens, with a token of the service user's own,
// which each process gets by itself and keeps in memory that it shares only with the processes that it forks to ask. For files in
// auth/ only.
#ifndef TENURE_AUTH_KEYSTONE_KEYSTONE_ASK_H
#define TENURE_AUTH_KEYSTONE_KEYSTONE_ASK_H

#include "auth/keystone/keystone_cache.h"

struct keystone_settings;
struct keystone_asker;

enum keystone_answer {
	KEYSTONE_VALID,
	KEYSTONE_INVALID, // unknown, expired, revoked, malformed: Keystone doesn't say which
	KEYSTONE_AWAY,    // refused, timed out, or answered what no Keystone answers, about the service user's own token, too
	KEYSTONE_UNCLEAR, // the same about this token alone: Keystone works
	KEYSTONE_LATE,    // there was no answer before the deadline, which left much less than the time-out: whether Keystone is away isn't known
	KEYSTONE_REFUSED, // it works, but doesn't let the service user in, or validate, or gives it a token that has expired by this host's
	                  // clock: the settings or the clock are wrong
};

enum {
	KEYSTONE_TOKEN_MAX = 8192,     // bytes of a token that is sent there
	KEYSTONE_CONTROL_US = 1000000, // that a question about the service user's own token has at least
};

// Of section [keystone]; settings and cache must outlive the result. *error (malloc): what is wrong with the settings; NULL is
// returned then.
struct keystone_asker *keystone_asker_new(const struct keystone_settings *settings, const struct keystone_cache *cache, char **error);
void keystone_asker_free(struct keystone_asker **asker);
// Can this text be sent in a header field as a token: visible ASCII of 1 to KEYSTONE_TOKEN_MAX bytes?
bool keystone_ask_can_be_token(struct str token);
// Blocks, until deadline_us (clock_tick_us) at most, whatever Keystone does; and KEYSTONE_CONTROL_US longer at most where it
// gives no answer about the token, to see whether it answers about another one. allow_expired: a token that has expired lately is
// valid, too.
// *result: of KEYSTONE_VALID, in pool. Each answer but VALID and INVALID is logged, but one line a second, and nothing where the login is not
// tried since it was refused a moment ago.
enum keystone_answer keystone_ask(struct keystone_asker *asker, struct pool *pool, struct str token, bool allow_expired,
	int64_t deadline_us, struct keystone_token *result);
// To be called in a process that was forked and has closed its descriptors, before it asks: the connections of the process that
// forked it are left alone.
void keystone_asker_forked(struct keystone_asker *asker);

#endif
