// SPDX-License-Identifier: Apache-2.0
// For the dialect's table of functions only: who may use which method.
#ifndef TENURE_API_PLACEMENT_PERMIT_H
#define TENURE_API_PLACEMENT_PERMIT_H

#include "api/call.h"

// The dialect's `permit` (api/call.h): may the caller use the method, under the setting [placement] policy? by_role is the result
// of the comparison of roles, which counts if no policy is configured. OUTCOME_OK, _UNAUTHENTICATED, _FORBIDDEN.
enum outcome placement_permit(struct call *call, enum outcome by_role);

#endif
