// SPDX-License-Identifier: Apache-2.0
// The dialects there are.
#ifndef TENURE_SERVER_SETUP_DIALECTS_H
#define TENURE_SERVER_SETUP_DIALECTS_H

#include "api/call.h"

// NULL when there is none of that name.
const struct dialect *dialect_find(const char *name);
// In whose words an error is told when the address is nobody's.
const struct dialect *dialect_default(void);
// Whose the address is that led to this match; never NULL.
const struct dialect *dialect_of(const struct route_match *match);
// A wadl_find_handler (wadl/wadl.h): gives the method's const struct endpoint.
const void *dialect_handler(void *arg, const char *dialect, const char *id);

#endif
