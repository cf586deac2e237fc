// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch: a merge patch that can also merge lists, if the kind says which member identifies their items.
// Directives: null removes a member. "$patch": "replace" replaces an object, or in an item the whole list; "delete" empties an
// object or removes an item; "merge" is the default. Others are "$setElementOrder/LIST", "$deleteFromPrimitiveList/LIST" and
// "$retainKeys".
#ifndef TENURE_REPR_PATCH_STRATEGIC_PATCH_H
#define TENURE_REPR_PATCH_STRATEGIC_PATCH_H

#include "repr/json/doc.h"

// How the members of a kind merge: lists by their key, and what is inside of objects and items. A list without a rule is
// replaced as a whole; anything else without a rule is merged as in any merge patch.
struct merge_rule {
	const char *name;  // of the member
	// The member that identifies the items of a list of objects; "": a list of scalars that merges as a set; NULL: an
	// object.
	const char *key;
	const struct merge_rule *inside; // ends with name NULL; NULL: nothing to say
};

// Applies the patch. *result is a new document with at most as many values as both arguments together; neither changes. False:
// *error says what is wrong with the patch.
bool doc_strategic_patch(struct pool *pool, const struct merge_rule *rules, const struct doc *target,
	const struct doc *patch, struct doc **result, struct str *error);

#endif
