// SPDX-License-Identifier: Apache-2.0
// Reads the usage of closed periods, of one tenant or of all.
#ifndef TENURE_REGISTRY_USAGE_USAGE_LIST_H
#define TENURE_REGISTRY_USAGE_USAGE_LIST_H

#include "registry/core/model.h"
#include "registry/usage/usage_sum.h"

// An answer has at most so many steps between its two times.
enum { USAGE_STEPS_MAX = 10000 };

// What one row of an answer is about: a single period, or all periods that begin in the same hour, day or month (UTC).
enum usage_step { USAGE_STEP_PERIOD, USAGE_STEP_HOUR, USAGE_STEP_DAY, USAGE_STEP_MONTH };

// Where a page ended: after the row of this tenant and type, and of the step that ends at until_us; 0: after all rows of that
// tenant and type. Zeroed: the beginning.
struct usage_place {
	uint64_t tenant_id, type_id;
	int64_t until_us;
};

struct usage_query {
	uint64_t tenant_id;         // 0: all tenants
	struct str plural, group;   // of the types; p NULL: any
	int64_t since_us, until_us; // the periods that lie between these times
	enum usage_step step;
	struct usage_place after;
	size_t limit; // at most so many rows; > 0
};

// What a tenant had of a type in a step.
struct usage_row {
	struct str tenant; // its name; of a purged one, the last
	struct uuid tenant_uid;
	struct str type; // as in addresses: "configmaps", "widgets.example.com"
	int64_t since_us, until_us;
	int64_t resources, bytes; // at the end of the step
	// How long resources counted, and their bytes: an exact number of seconds with six decimals. Divided by the step's
	// length, the average.
	char resource_seconds[USAGE_SECONDS], byte_seconds[USAGE_SECONDS];
};

struct usage_page {
	struct usage_row *list;
	size_t n;
	bool more;               // there may be more, behind next
	struct usage_place next; // where the page ended
	int64_t closed_until_us; // the end of the last closed period; 0: there is none
};

// Reads a page of rows, allocated from the request's pool, in the order of tenants (by creation), types and times. There is no
// row for a step in which a tenant had nothing of the type. A page looks at a bounded number of tenants and types, so it may have
// few rows, or none, though there are more. OUTCOME_OK; OUTCOME_BAD_PARAMETER: there are more than USAGE_STEPS_MAX steps;
// _UNAVAILABLE; _INTERNAL.
enum outcome usage_list(struct registry *registry, const struct usage_query *query, struct usage_page *page);

#endif
