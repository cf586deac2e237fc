// SPDX-License-Identifier: Apache-2.0
// A record as the set of facts that the service answers about it, each a line of text: so records of the two databases are
// compared, hashed, and their differences told.
#ifndef TENURE_MANAGE_PLACEMENT_FACTS_H
#define TENURE_MANAGE_PLACEMENT_FACTS_H

#include "manage/placement/transfer.h"

struct facts {
	struct str *lines; // in byte order
	size_t n;
};

// How much of each inventory is used is a fact of its allocations, so records that lack them are compared without it.
enum facts_usage { FACTS_WITHOUT_USAGE, FACTS_WITH_USAGE };
// They live in pool.
struct facts facts_of_provider(struct pool *pool, const struct provider_record *record, enum facts_usage usage);
struct facts facts_of_consumer(struct pool *pool, const struct consumer_record *record);

bool facts_equal(const struct facts *a, const struct facts *b);
// The first facts that only one of the two has, as a text: "generation 3 there, generation 4 here".
struct str facts_difference(struct pool *pool, const struct facts *there, const struct facts *here);

// Adds the hash of the facts to a sum, lane by lane.
void facts_add(struct pool *pool, const struct facts *facts, uint64_t sum[DIGEST_SHA256 / 8]);

#endif
