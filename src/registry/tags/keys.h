// SPDX-License-Identifier: Apache-2.0
// The keys of etags. Each has an id; the newest makes new tags. Stored tags stay as they are, whichever key made them, so a new
// key changes no tag before its resource changes. The first key, which `db init` makes, also derives the tags of documents that
// show their owner from the stored ones (etag_of_owned()): these stay as well, and what keeps them secret is the stored tag,
// which nobody sees.
//
// Rows of table `settings`: `etag_key` is the key with id 1, `etag_key.ID` any other one: 32 random bytes and, as digits, when it
// was added (seconds since 1970, by the database's clock).
#ifndef TENURE_REGISTRY_TAGS_KEYS_H
#define TENURE_REGISTRY_TAGS_KEYS_H

#include "registry/core/context.h"

enum {
	ETAG_KEYS_MAX = 20,     // how many there may be
	ETAG_KEY_SIZE = 32,     // bytes
	ETAG_KEYS_FIRST = 1,    // the id of the first one
	ETAG_KEYS_KNOWN_S = 900 // seconds after which every process that serves knows a key that was added
};

struct etag_key {
	uint64_t id;
	uint64_t added_s; // since 1970; 0: with the registry
	struct digest_key *key;
};

// What a process knows of the keys: n of them in the order of their ids, so the last one is the newest.
struct etag_keys {
	struct etag_key keys[ETAG_KEYS_MAX];
	size_t n;
	uint64_t revision; // of COHERENCE_SCHEMA when they were read
	int64_t read_us;   // clock_tick_us() then
};

// Reads the keys if they were never read, were read ten minutes ago or more, or have changed since as far as this host knows.
// Costs no statement otherwise. Call it when no transaction runs. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome etag_keys_refresh(struct registry *registry);
// For a transaction that makes tags for longer than some minutes: keeps the newest key that this process knows from being retired
// until the transaction ends. Call it as the first in each run of the transaction, and etag_keys_refresh() before that.
// OUTCOME_OK; OUTCOME_CONFLICT: it was retired meanwhile; or that of a failed statement.
enum outcome etag_key_pin(struct registry *registry);
// The name of the row in table `settings` that has the key with this id, in pool.
struct str etag_key_row(struct pool *pool, uint64_t id);
void etag_keys_free(struct etag_keys **keys);
// The key that makes new tags, and the one that derives owners' tags. Read before by etag_keys_refresh().
struct digest_key *etag_key_newest(const struct registry *registry);
struct digest_key *etag_key_first(const struct registry *registry);

#endif
