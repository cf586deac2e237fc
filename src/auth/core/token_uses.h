// SPDX-License-Identifier: Apache-2.0
// When tokens of tenure-manage and the API (auth/token.c) were used last. Processes that validate tokens note it in memory that
// all of a host share (base/shared.h), so a request waits for nothing and asks the database for nothing more; the host service
// writes it into the table of tokens now and then.
//
// A token has an entry in one of TOKEN_USES_WAYS places behind that of its hash. It is written without locks, so a reader checks
// that the id in it has the entry's hash. If all places are taken, the token that was used longest ago loses its entry. So where
// very many tokens are used at the same time, or the file is lost, a use may be forgotten; one that never was is not invented.
#ifndef TENURE_AUTH_CORE_TOKEN_USES_H
#define TENURE_AUTH_CORE_TOKEN_USES_H

#include "base/outcome.h"
#include "base/str.h"

struct db;
struct pool;
struct shared;

enum {
	TOKEN_USES = 4096, // entries
	TOKEN_USES_WAYS = 8,
	TOKEN_USE_ID = 32, // bytes of a token's id, at most
};

// Notes that the token of that id was used at now_us, by clock_now_us(). shared NULL: nothing is noted.
void token_use_note(const struct shared *shared, struct str id, int64_t now_us);

struct token_use {
	char id[TOKEN_USE_ID];
	size_t id_n;
	int64_t used_us;
	size_t place; // of the entry
};
// Fills list with uses that are to be written, at most `room`: those of tokens of which nothing was written for interval_us.
// Returns how many. now_us: clock_now_us(). Of the processes of a host only one may call it, and token_uses_wrote().
size_t token_uses_due(const struct shared *shared, int64_t now_us, int64_t interval_us, struct token_use *list, size_t room);
// Records that the first n uses of list, as token_uses_due() returned them, were written to the database at now_us
// (clock_now_us()).
void token_uses_wrote(const struct shared *shared, int64_t now_us, const struct token_use *list, size_t n);

// Writes all uses that are due, in transactions of some hundred rows. shared NULL: there are none. OUTCOME_OK, or
// OUTCOME_UNAVAILABLE: the rest is written by the next call.
enum outcome token_uses_store(struct db *db, struct pool *pool, const struct shared *shared, int64_t interval_us);

#endif
