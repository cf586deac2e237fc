// SPDX-License-Identifier: Apache-2.0
// The list of dialects.
#ifndef TENURE_SERVER_SETUP_DIALECTS_H
#define TENURE_SERVER_SETUP_DIALECTS_H

#include "api/call.h"

// NULL if there is no dialect of that name.
const struct dialect *dialect_find(const char *name);
// The dialect whose error form is used for addresses that belong to no dialect.
const struct dialect *dialect_default(void);
// The dialect of a matched route, else dialect_default(); never NULL.
const struct dialect *dialect_of(const struct route_match *match);
// A wadl_find_handler (wadl/wadl.h): returns the method's const struct endpoint.
const void *dialect_handler(void *arg, const char *dialect, const char *id);

#endif
