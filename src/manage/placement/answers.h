// SPDX-License-Identifier: Apache-2.0
// What the service answers about a provider or a consumer, by the functions that requests call, as a record.
#ifndef TENURE_MANAGE_PLACEMENT_ANSWERS_H
#define TENURE_MANAGE_PLACEMENT_ANSWERS_H

#include "manage/placement/transfer.h"

// The records live in pool, which is not the registry's. OUTCOME_OK, or that of the function that failed.
enum outcome answers_of_provider(struct registry *registry, struct pool *pool, const struct uuid *uid,
	struct provider_record *record);
enum outcome answers_of_consumer(struct registry *registry, struct pool *pool, const struct uuid *uid,
	struct consumer_record *record);
// Does every provider of the consumer list its allocations, and no others of it? OUTCOME_OK; *lists: it does.
enum outcome answers_agree(struct registry *registry, const struct consumer_record *record, bool *lists);

#endif
