// SPDX-License-Identifier: Apache-2.0
// Members of an object that its type does not have.
#ifndef TENURE_API_SPACES_SCHEMA_FIELDS_H
#define TENURE_API_SPACES_SCHEMA_FIELDS_H

#include "api/spaces/common/spaces.h"

// Finds members of object that its type does not have, and that the stored object (current; NULL: there is none) does not have
// either. The request's fieldValidation decides what becomes of them: Warn (the default) adds Warning headers, Strict refuses the
// request, Ignore looks for none. Unless it is Ignore, there are Warning headers also for parts of a definition that are stored
// here without effect. OUTCOME_OK; _BAD_REQUEST: members are refused; _BAD_DOCUMENT: fieldValidation itself is invalid. Both set
// call->problem.
enum outcome fields_check(struct call *call, const struct target *target, const struct doc *object,
	const struct doc *current);

#endif
