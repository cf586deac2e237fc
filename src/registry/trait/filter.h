// SPDX-License-Identifier: Apache-2.0
// For files of registry/ only: conditions on the traits of resources.
#ifndef TENURE_REGISTRY_TRAIT_FILTER_H
#define TENURE_REGISTRY_TRAIT_FILTER_H

#include "registry/trait/trait.h"
#include "sql/resource_lists.h"

// Looks up the names of the filter. *condition gets what sql/statements/resource_lists.sql needs; its member rare has the ids
// of traits that only few resources have, with which the list should begin, or is empty. OUTCOME_OK; OUTCOME_BAD_PARAMETER: the
// problem lists the names that the catalogue lacks.
enum outcome trait_filter_resolve(struct registry *registry, const struct trait_filter *filter,
	struct sql_trait_condition *condition);

#endif
