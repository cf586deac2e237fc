// SPDX-License-Identifier: Apache-2.0
// For the dialect's table of functions only: who may use which method.
#ifndef TENURE_API_PLACEMENT_PERMIT_H
#define TENURE_API_PLACEMENT_PERMIT_H

#include "api/call.h"

// May the caller use the method, under [placement] policy? by_role is what the comparison of roles came to, and counts where no policy
// is configured. It is called as permit of struct dialect (api/call.h).
enum outcome placement_permit(struct call *call, enum outcome by_role);

#endif
