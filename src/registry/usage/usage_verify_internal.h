// SPDX-License-Identifier: Apache-2.0
// For the two files that count usage again: usage_verify.c, which goes through tenants and periods and compares, and usage_recount.c, which
// goes through the changes of a period.
#ifndef TENURE_REGISTRY_USAGE_USAGE_VERIFY_INTERNAL_H
#define TENURE_REGISTRY_USAGE_USAGE_VERIFY_INTERNAL_H

#include "registry/usage/usage_verify.h"

#include "sql/usage.h"

// Type 0 stands for the tenant itself, as in table usage_suspended.
enum { USAGE_TYPE_OF_TENANT = 0 };

struct usage_sums {
	int64_t resources, bytes;
	usage_sum resource_us, byte_us;
};

// What a tenant has of a type.
struct usage_pair {
	uint64_t tenant_id, type_id;
	struct usage_sums now;                    // of the present period, by the changes so far
	int64_t resources, bytes;                 // at the end of the last period
	int64_t stored_resources, stored_bytes;   // in the newest stored row of an earlier period
	int64_t counted_resources, counted_bytes; // after the changes so far, of whatever period
	int64_t deleted_resources, deleted_bytes; // what the deleted tenant had, which counts again if it is recovered
	size_t next_of_tenant;                    // 1 + the index of another pair of its tenant; 0: none
	bool touched;                             // it is in the list of those to which the period at hand adds
	// Of the pair that stands for the tenant:
	bool deleted, unknown, left_out; // unknown: deleted before the beginning, so nobody knows with how much
};

// A list in the pool of a slice, which grows by doubling.
struct usage_items {
	void *items;
	size_t n, room;
};

struct usage_verifier {
	struct registry *registry;
	struct usage_verification *run;
	struct pool *pool; // of a slice

	// Where it begins. The first period that is verified, or that is gone through for what it adds to later ones, begins at since_us.
	int64_t since_us, last_us; // the end of the last closed period
	uint64_t position;         // the changes up to this id are in the balance
	int64_t opened_us;         // time of the opening balance; 0: verification begins with stored rows of a period
	int64_t verified_us;       // periods that begin at that time or later are compared
	bool is_first_opening;     // nothing was counted before, so the period of the opening balance is compared as a whole
	uint64_t needed_id;        // the log must have all changes behind it: those up to it are in the balance, of whatever period they are

	uint64_t first, last; // the slice: tenants with first < id <= last
	struct usage_items pairs, touched, later;
	size_t *slots; // hash table: 1 + the index of a pair; 0: free
	size_t n_slots;
	struct sql_usage_closings_row period;
};

void usage_add_sums(struct usage_sums *sums, const struct usage_sums *more);
// So much for so long.
struct usage_sums usage_sums_for(int64_t resources, int64_t bytes, int64_t us);

struct usage_pair *usage_pair_at(const struct usage_verifier *v, size_t index);
// Finds a pair, or adds it with nothing. Pointers to pairs are invalid afterwards.
size_t usage_pair_find(struct usage_verifier *v, uint64_t tenant_id, uint64_t type_id);
// The pair that stands for the tenant; as above.
struct usage_pair *usage_pair_of_tenant(struct usage_verifier *v, uint64_t tenant_id);

// Takes what earlier changes add to the period that is at hand now.
void usage_recount_later(struct usage_verifier *v);
// Adds to the pairs what the changes with after < id <= upto say, in their order. closed_until_us: no change counts before. since_us: only
// those that count at that time or later; 0: all of them. OUTCOME_OK, _UNAVAILABLE, _INTERNAL.
enum outcome usage_recount(struct usage_verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us);

#endif
