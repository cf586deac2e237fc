// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: microversions, and the checks of a request that come before its handler.
#ifndef TENURE_API_PLACEMENT_VERSION_H
#define TENURE_API_PLACEMENT_VERSION_H

#include "api/call.h"

// GET /: the document that lists the microversions.
handler_fn get_version;
// The dialect's `enter` (api/call.h): reads the microversion and checks method, address and media types in the order of
// OpenStack's service.
enum outcome placement_enter(struct call *call, enum outcome found);
// The dialect's `leave` (api/call.h): sets the header fields of all answers.
void placement_leave(struct call *call);

#endif
