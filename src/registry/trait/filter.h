// SPDX-License-Identifier: Apache-2.0
// For files in registry/ only: finding resources by their traits.
#ifndef TENURE_REGISTRY_TRAIT_FILTER_H
#define TENURE_REGISTRY_TRAIT_FILTER_H

#include "registry/trait/trait.h"
#include "sql/resource_lists.h"

// Looks the names up in the catalogue. *condition: as sql/statements/resource_lists.sql takes it; rare.n is 0 unless the list
// had better begin with those that have one of these traits, which few have. OUTCOME_OK; _BAD_PARAMETER: names that the
// catalogue lacks, all of them told.
enum outcome trait_filter_resolve(struct registry *registry, const struct trait_filter *filter,
	struct sql_trait_condition *condition);

#endif
