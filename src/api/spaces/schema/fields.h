// SPDX-License-Identifier: Apache-2.0
// Members of an object that its type does not have.
#ifndef TENURE_API_SPACES_SCHEMA_FIELDS_H
#define TENURE_API_SPACES_SCHEMA_FIELDS_H

#include "api/spaces/common/spaces.h"

// Finds members that the type does not have, and neither had the stored object current (NULL: there is none). The request's
// fieldValidation decides whether they are reported as warnings or refused. Unless it is Ignore, parts of a definition that are
// only stored here, without effect, are reported, too. OUTCOME_OK; _BAD_REQUEST, _BAD_DOCUMENT with call->problem set.
enum outcome fields_check(struct call *call, const struct target *target, const struct doc *object,
	const struct doc *current);

#endif
