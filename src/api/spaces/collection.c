// SPDX-License-Identifier: Apache-2.0
// GET of a collection: a list or, with watch=true, a watch.
#include "base/base.h"

#include "api/spaces/collection.h"
#include "api/spaces/object/object.h"
#include "api/spaces/watch/watch.h"

enum outcome list_in_space(struct call *call)
{
	struct target target;
	enum outcome outcome = spaces_read_target(call, VERB_LIST, &target);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (target.name.p != NULL) // the path namespaces/N/status is one object, not a collection
		return get_in_space(call);
	target_warn_if_deprecated(call, &target);
	return spaces_query_is_true(call, "watch") ? watch_in_space(call, &target) : object_list_collection(call, &target);
}
