// SPDX-License-Identifier: Apache-2.0
// What a user may do within a tenant, as WADL files, tokens and the configuration name it.
#ifndef TENURE_AUTH_ROLE_H
#define TENURE_AUTH_ROLE_H

#include "base/str.h"

// Each includes those before it. ROLE_NONE: of a method that everybody may use, and of a user without rights. ROLE_OPERATOR: in every
// tenant, and over them.
enum role { ROLE_NONE, ROLE_READER, ROLE_MEMBER, ROLE_ADMIN, ROLE_OPERATOR };
enum { ROLE_COUNT = ROLE_OPERATOR + 1 };

// "none", "reader", "member", "admin", "operator"; the index is the role.
extern const char *const role_names[ROLE_COUNT];

const char *role_name(enum role role);
// Reads the name of a role that a user can have; false for "none" and for what is no role's name.
bool role_parse(struct str text, enum role *role);

#endif
