// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: microversions, and what a request has to be before anything else is looked at.
#ifndef TENURE_API_PLACEMENT_VERSION_H
#define TENURE_API_PLACEMENT_VERSION_H

#include "api/call.h"

// GET /: the document that says which microversions there are.
handler_fn get_version;
// The dialect's `enter` (api/call.h): reads the microversion, and holds method, address and media types against it, in the order
// in which OpenStack's service does.
enum outcome placement_enter(struct call *call, enum outcome found);
// The dialect's `leave`: the header fields that all answers have.
void placement_leave(struct call *call);

#endif
