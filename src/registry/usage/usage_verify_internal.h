// SPDX-License-Identifier: Apache-2.0
// For the two files that count usage again: usage_verify.c, which goes through tenants and periods and compares, and
// usage_recount.c, which goes through the changes of a period.
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
	struct usage_sums now;                    // what the changes so far add to the present period
	int64_t resources, bytes;                 // the balance at the end of the period before the present one
	int64_t stored_resources, stored_bytes;   // in the newest stored row of an earlier period
	int64_t counted_resources, counted_bytes; // after the changes so far, whichever period they count in
	int64_t deleted_resources, deleted_bytes; // what the deleted tenant had, which counts again if the tenant is recovered
	size_t next_of_tenant;                    // 1 + the index of another pair of the same tenant; 0: there is none
	bool touched;                             // the pair is in the verifier's list touched
	// Used only in the pair that stands for the tenant:
	bool deleted;  // at the present position in the log
	bool unknown;  // deleted before verification began, so what the tenant had is not known
	bool left_out; // not compared any more
};

// A list that grows by doubling, allocated from the verifier's pool.
struct usage_items {
	void *items;
	size_t n, room;
};

struct usage_verifier {
	struct registry *registry;
	struct usage_verification *run;
	struct pool *pool; // cleared at the beginning of each slice of tenants

	// Where verification begins and ends.
	int64_t since_us;      // the beginning of the first period that is gone through, be it only for what it adds to later ones
	int64_t last_us;       // the end of the last closed period
	uint64_t position;     // the changes up to this id are in the balance
	int64_t opened_us;     // time of the opening balance; 0: verification begins with the stored rows of a period
	int64_t verified_us;   // periods that begin at that time or later are compared
	bool is_first_opening; // nothing was counted before the opening balance, so the period in which it was taken is compared as a whole
	uint64_t needed_id;    // all changes up to this id are in the balance, whichever period they count in; the log must have all later ones

	// The slice of tenants, and how far it is gone through.
	uint64_t first, last;       // tenants with first < id <= last
	struct usage_items pairs;   // struct usage_pair
	struct usage_items touched; // size_t: indexes of the pairs to which the present period adds
	struct usage_items later;   // what changes add to periods after the present one
	size_t *slots;              // hash table: 1 + the index of a pair; 0: free
	size_t n_slots;             // a power of two
	struct sql_usage_closings_row period; // the present period
};

void usage_add_sums(struct usage_sums *sums, const struct usage_sums *more);
// The sums of that many resources and bytes over that many microseconds.
struct usage_sums usage_sums_for(int64_t resources, int64_t bytes, int64_t us);

struct usage_pair *usage_pair_at(const struct usage_verifier *v, size_t index);
// Returns the index of a pair. If there is no such pair yet, adds one whose sums are 0: then pointers to pairs are invalid.
size_t usage_pair_find(struct usage_verifier *v, uint64_t tenant_id, uint64_t type_id);
// Returns the pair that stands for the tenant; adds it as usage_pair_find() does.
struct usage_pair *usage_pair_of_tenant(struct usage_verifier *v, uint64_t tenant_id);

// Adds to the present period what earlier changes have added to it while it was a later one.
void usage_recount_later(struct usage_verifier *v);
// Counts the changes with after < id <= upto, in their order. A change of a time before closed_until_us counts at
// closed_until_us. since_us: counts only changes that count at that time or later; 0: all of them. OUTCOME_OK; _UNAVAILABLE;
// _INTERNAL.
enum outcome usage_recount(struct usage_verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us);

#endif
