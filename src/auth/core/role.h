// SPDX-License-Identifier: Apache-2.0
// What a user may do within a tenant, as WADL files, tokens and the configuration name it.
#ifndef TENURE_AUTH_CORE_ROLE_H
#define TENURE_AUTH_CORE_ROLE_H

#include "base/str.h"

// Each role includes the rights of those before it. ROLE_NONE: required by methods for everybody, and held by users without
// rights. ROLE_OPERATOR: rights in every tenant, and on tenants themselves.
enum role { ROLE_NONE, ROLE_READER, ROLE_MEMBER, ROLE_ADMIN, ROLE_OPERATOR };
enum { ROLE_COUNT = ROLE_OPERATOR + 1 };

// "none", "reader", "member", "admin", "operator"; the index is the role.
extern const char *const role_names[ROLE_COUNT];

const char *role_name(enum role role);
// Reads the name of a role that a user can have. False for "none", and for text that names no role.
bool role_parse(struct str text, enum role *role);

#endif
