// SPDX-License-Identifier: Apache-2.0
// Reads the change log, of one tenant or of all: changes of tenants and of the resources in them.
#ifndef TENURE_REGISTRY_TENANT_CHANGE_LIST_H
#define TENURE_REGISTRY_TENANT_CHANGE_LIST_H

#include "base/clock.h"
#include "registry/core/model.h"

// A call with a filter looks at so many changes at most, however few of them it finds.
enum { CHANGES_LOOKED_AT = 10000 };

// One row of the change log, as clients see it.
struct change {
	uint64_t id;
	int64_t at_us;
	struct str actor;
	struct uuid request_id;
	struct str verb;         // created | updated | deleted | recovered | moved | purged
	const struct type *type; // the resource's type; NULL: the change is of the tenant itself
	struct str space, name;
	struct uuid uid;
	uint64_t revision;
	struct str etag_before, etag_after; // as clients saw them: 64 bytes, or p NULL
	struct str fields; // the fields that an update altered, a JSON array of JSON Pointers; p NULL: not recorded
	struct str tenant;      // whose it was after the change
	struct str from_tenant; // whose it was before a move; p NULL: the same. For operators alone
};

// A part of the change log: the changes with after < id <= up_to, of these the first ones up to limit, > 0.
struct change_range {
	uint64_t after, up_to;
	uint64_t limit;
};

// Which changes. A text that is p NULL, and has_uid false, leave out that condition.
struct change_query {
	struct str tenant;     // p NULL: changes of all tenants
	bool newest_first;
	uint64_t above, below; // ids between these
	uint64_t limit;        // at most so many
	struct str actor, verb;
	struct str plural, group; // of the type; a group alone is none
	bool has_uid;
	struct uuid uid;
	struct str space, name;
	int64_t since_us, until_us; // since <= time < until
	struct str text;       // in actor, namespace, name or fields, without regard to case
};
// The times if none are asked for: those of the year 1970 and of 9999.
#define CHANGES_SINCE INT64_C(0)
#define CHANGES_UNTIL CLOCK_LAST_US

struct change_page {
	struct change *list;
	size_t n;
	bool more;     // there may be more: go on from next, as above or below
	uint64_t next; // an id
	uint64_t oldest; // above 0: changes above query->above were purged, and the log begins with this one
	uint64_t upto; // the id up to which all changes have been looked at; of a list with the newest first, the highest one it began with
};
// Returns the changes that the query selects, in order of their ids. A query with conditions looks at CHANGES_LOOKED_AT changes
// at most; the list may be empty then, though there are more. With times, it relies on the clocks of all hosts, and on
// transactions, to be no further than an hour apart. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted, or query->above is of
// a change that a restore has lost).
//
// Of one tenant: it locks the tenant's row and so waits for running writers in the tenant, after which no change with a smaller
// id can become visible. So it must run in a transaction that writes.
enum outcome change_list(struct registry *registry, const struct change_query *query, struct change_page *page);
// Of all tenants: it reads up to the log's horizon (log/horizon.h), which it moves first, for at most a fifth of a second. So it
// must run outside of a transaction.
enum outcome change_list_all(struct registry *registry, const struct change_query *query, struct change_page *page);

#endif
