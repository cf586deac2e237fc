// SPDX-License-Identifier: Apache-2.0
// A hash set for keys that clients may choose. It is keyed by a random number, so nobody can choose colliding keys.
#include "base/base.h"

#include "registry/candidates/internal.h"

#include "base/digest.h"
#include "base/pool.h"

enum { FIRST_SLOTS = 64 };

void key_set_init(struct key_set *set, struct pool *pool)
{
	*set = (struct key_set){ .pool = pool, .n_slots = FIRST_SLOTS };
	digest_random(set->hash_key, sizeof(set->hash_key));
	set->slots = POOL_ARRAY(pool, struct str, set->n_slots);
}

static struct str *set_slot(const struct key_set *set, struct str key)
{
	size_t i = (size_t)siphash(set->hash_key, key) & (set->n_slots - 1);

	while (set->slots[i].p != NULL && !str_eq(set->slots[i], key))
		i = (i + 1) & (set->n_slots - 1);
	return &set->slots[i];
}

static void set_grow(struct key_set *set)
{
	struct key_set larger = *set;

	larger.n_slots = 2 * set->n_slots;
	larger.slots = POOL_ARRAY(set->pool, struct str, larger.n_slots);
	for (size_t i = 0; i < set->n_slots; i++) {
		if (set->slots[i].p != NULL)
			*set_slot(&larger, set->slots[i]) = set->slots[i];
	}
	*set = larger;
}

struct str key_set_add(struct key_set *set, struct str key)
{
	struct str *slot = set_slot(set, key);

	if (slot->p != NULL)
		return STR_NONE;
	struct str kept = *slot = str_dup(set->pool, key);
	if (++set->n > set->n_slots / 2)
		set_grow(set);
	return kept;
}
