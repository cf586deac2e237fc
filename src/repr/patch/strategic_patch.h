// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch: a merge patch whose lists can be merged, too, where a kind says by which member their items
// are told apart. Directives: null removes a member; "$patch": "replace" puts an object, or in an item a whole list, in the
// old one's place, "delete" empties an object or takes an item out, "merge" is the ordinary way;
// "$setElementOrder/LIST", "$deleteFromPrimitiveList/LIST", "$retainKeys".
#ifndef TENURE_REPR_PATCH_STRATEGIC_PATCH_H
#define TENURE_REPR_PATCH_STRATEGIC_PATCH_H

#include "repr/json/doc.h"

// What a kind says of its members: of lists how they merge, of objects and list items what is in them. A list without a
// rule is replaced as a whole; what has none otherwise is merged as in any merge patch.
struct merge_rule {
	const char *name;  // of the member
	const char *key;   // a list of objects: the member by which items are told apart; "" a list of scalars that merges
	                   // as a set; NULL: an object
	const struct merge_rule *inside; // ends with name NULL; NULL: nothing to say
};

// The result, a new document; neither argument changes. It has no more values than both together.
// False: *error says what is wrong with the patch.
bool doc_strategic_patch(struct pool *pool, const struct merge_rule *rules, const struct doc *target,
	const struct doc *patch, struct doc **result, struct str *error);

#endif
