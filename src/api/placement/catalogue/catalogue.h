// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: the catalogues of traits and of resource classes.
#ifndef TENURE_API_PLACEMENT_CATALOGUE_CATALOGUE_H
#define TENURE_API_PLACEMENT_CATALOGUE_CATALOGUE_H

#include "api/call.h"
#include "registry/trait/catalogue.h"

// Reads the trait that the address parameter "name" names. OUTCOME_OK; _NOT_FOUND "No such trait(s): …".
enum outcome placement_find_trait(struct call *call, struct trait *trait);
// Returns OUTCOME_NOT_FOUND, with the problem "No such trait(s): NAME".
enum outcome placement_fail_no_trait(struct call *call, struct str name);

handler_fn list_traits, show_trait, make_trait, drop_trait;
handler_fn get_trait_about, put_trait_about;
handler_fn list_resource_classes, create_resource_class, get_resource_class, put_resource_class, delete_resource_class;

#endif
