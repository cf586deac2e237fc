// SPDX-License-Identifier: Apache-2.0
// Settings that say which role of another service gives which role here: lists of names, and tables "NAME:ROLE", comma-separated.
// A row is divided at its last colon, so a name may have some. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_ROLE_TABLE_H
#define TENURE_AUTH_CORE_ROLE_TABLE_H

#include "auth/core/role.h"

enum role_names {
	ROLE_NAMES_EXACT,     // compared byte for byte: ids, names of dialects, the scopes and roles of an OpenID Connect provider
	ROLE_NAMES_OPENSTACK, // roles of Keystone, which takes "Admin" and "admin" for one role in most databases, as oslo.policy does: the case
	                      // of A to Z doesn't count
};
// Are these the same name?
bool role_name_is(struct str name, struct str wanted, enum role_names kind);
// Has the list of names any of those in wanted, a setting? Blanks around a name of the setting don't count.
bool role_list_overlaps(struct str names, struct str wanted, enum role_names kind);
// The highest role that the table gives for any of the names; ROLE_NONE: none of them is in it.
enum role role_table_highest(struct str table, struct str names, enum role_names kind);
// NULL, or what is wrong with the table (malloc). The role may be reader, member or admin. setting: its name, for the message.
char *role_table_check(const char *setting, struct str table);

#endif
