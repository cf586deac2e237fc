// SPDX-License-Identifier: Apache-2.0
// Which fields a change touched: JSON Pointers to members, two levels deep at most, as the change log keeps them.
#ifndef TENURE_REGISTRY_LOG_CHANGED_FIELDS_H
#define TENURE_REGISTRY_LOG_CHANGED_FIELDS_H

#include "registry/core/model.h"

enum { FIELDS_MAX = 64, FIELD_MAX_BYTES = 512 };

struct fields {
	struct pool *pool;
	struct str at[FIELDS_MAX]; // pointers, each once
	size_t n;
	bool full; // there were more
};

// Adds a pointer unless it is there. One longer than FIELD_MAX_BYTES is for the caller to shorten.
void fields_add(struct fields *fields, struct str pointer);
// Adds those of a stored JSON array. False when it is none.
bool fields_add_stored(struct fields *fields, struct str json);
// More than FIELDS_MAX become the whole document, "".
void fields_settle(struct fields *fields);

// As a JSON array: in what the contents differ. Where these are more than FIELDS_MAX, members of the first level stand
// for those in them. In a resource, labels and the like stand under "/metadata"; a tenant's
// pointers begin in its object.
// Do they tell of a change of the body outside of "status"?
bool fields_of_spec(struct pool *pool, struct str fields);
struct str fields_of_resource(struct pool *pool, const struct resource *before, const struct resource *after);
struct str fields_of_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after);

#endif
