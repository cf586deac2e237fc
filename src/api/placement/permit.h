// SPDX-License-Identifier: Apache-2.0
// For the dialect's table of functions only: who may use which method.
#ifndef TENURE_API_PLACEMENT_PERMIT_H
#define TENURE_API_PLACEMENT_PERMIT_H

#include "api/call.h"

// struct dialect's permit.
enum outcome placement_permit(struct call *call, enum outcome by_role);

#endif
