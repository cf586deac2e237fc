// SPDX-License-Identifier: Apache-2.0
// For files in registry/ only: finding resources by their traits.
#ifndef TENURE_REGISTRY_TRAIT_FILTER_H
#define TENURE_REGISTRY_TRAIT_FILTER_H

#include "db/db.h"
#include "registry/trait/trait.h"

// A filter with its names looked up in the catalogue: ids as FIND_IN_SET takes them.
struct trait_condition {
	struct str all, none;
	uint64_t n_all;
	struct str any[TRAIT_GROUPS_MAX];
	struct str rare; // ids of which it must have one, and few resources have any: the search begins with those. Else ""
};
// OUTCOME_OK; _BAD_PARAMETER: names that the catalogue lacks, all of them told.
enum outcome trait_filter_resolve(struct registry *registry, const struct trait_filter *filter,
	struct trait_condition *condition);

// Resources f that have one of some traits at least, of one parameter: rare. The index is named because MariaDB 11.8 otherwise
// scans the table where it guesses that JSON_TABLE gives many rows.
#define TRAIT_RARE                                                                                                  \
	"(SELECT DISTINCT y.resource_id FROM JSON_TABLE(?, '$[*]' COLUMNS (id INT UNSIGNED PATH '$')) j STRAIGHT_JOIN " \
	"resource_traits y FORCE INDEX (trait) ON y.trait_id = j.id) f"
// What a resource r has to fulfil, and its values. Each part reads the few rows of one resource.
#define TRAITS_OF_R "(SELECT COUNT(*) FROM resource_traits x WHERE x.resource_id = r.id AND FIND_IN_SET(x.trait_id, ?))"
#define TRAIT_GROUP " AND (? = '' OR " TRAITS_OF_R " > 0)"
#define TRAIT_CONDITION \
	" AND " TRAITS_OF_R " = ? AND " TRAITS_OF_R " = 0" TRAIT_GROUP TRAIT_GROUP TRAIT_GROUP TRAIT_GROUP
#define TRAIT_CONDITION_IN "sus" "ss" "ss" "ss" "ss"
enum { TRAIT_CONDITION_VALUES = 3 + 2 * TRAIT_GROUPS_MAX };
void trait_condition_values(const struct trait_condition *condition, struct db_value *values);

#endif
