// SPDX-License-Identifier: Apache-2.0
// Access rules of Keystone's application credentials. For files in auth/ only.
#ifndef TENURE_AUTH_KEYSTONE_KEYSTONE_RULES_H
#define TENURE_AUTH_KEYSTONE_KEYSTONE_RULES_H

#include "http/request.h"

// Does one of the rules (as in struct keystone_token) name this service type, method and path? In a rule's path "*" and "{tag}"
// stand for a segment's characters, one or more, and "**" for any characters at all, as in keystonemiddleware. The path is the
// request's, decoded, from the host on. Takes at most time of the path's length times the rule's.
bool keystone_rules_permit(struct pool *pool, struct str rules, struct str service, const struct request *request);

#endif
