// SPDX-License-Identifier: Apache-2.0
// Members that an object has and its type does not.
#ifndef TENURE_API_SPACES_SCHEMA_FIELDS_H
#define TENURE_API_SPACES_SCHEMA_FIELDS_H

#include "api/spaces/common/spaces.h"

// What the object has and its type does not, nor the object as it was (NULL: there was none): told as warnings, or
// refused, as fieldValidation of the request says. What a definition asks for that is only kept here is told, too, but
// where it says Ignore. OUTCOME_OK; _BAD_REQUEST, _BAD_DOCUMENT with call->problem set.
enum outcome check_fields(struct call *call, const struct target *target, const struct doc *object,
	const struct doc *current);

#endif
