// SPDX-License-Identifier: Apache-2.0
// The role that a change of a resource needs by its type, in every dialect. The method of the WADL may ask for less, since it
// serves all types.
#ifndef TENURE_API_TYPE_ROLE_H
#define TENURE_API_TYPE_ROLE_H

#include "auth/core/role.h"
#include "base/outcome.h"

struct call;
struct type;

// of_content: the resource is there, and stays; else it is made, deleted or recovered.
enum role type_role_needed(const struct type *type, bool of_content);
// Has the caller that role? OUTCOME_OK; _FORBIDDEN with call->problem set.
enum outcome type_role_check(struct call *call, const struct type *type, bool of_content);

#endif
