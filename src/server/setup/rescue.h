// SPDX-License-Identifier: Apache-2.0
// A reserve for the moment in which the system has no memory for an allocation, be it ours or a library's.
#ifndef TENURE_SERVER_SETUP_RESCUE_H
#define TENURE_SERVER_SETUP_RESCUE_H

#include "base/base.h"

// Takes the reserve from the system if it isn't there. Call it before each piece of work; it costs nothing while the reserve is
// there. From then on malloc, calloc and realloc, for whoever calls them in this process, give the reserve back to the system
// where they would fail, try again, and end the request that runs (budget_starve()). They fail as ever if that is not enough.
// With sanitizers, which have functions of their own in place of these, there is no reserve.
void rescue_prepare(void);

#endif
