// SPDX-License-Identifier: Apache-2.0
// Settings that say which role of another service gives which role here: lists of names, and tables "NAME:ROLE", comma-separated.
// Names are compared byte for byte. A row is divided at its last colon, so a name may have some. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_ROLE_TABLE_H
#define TENURE_AUTH_CORE_ROLE_TABLE_H

#include "auth/core/role.h"

// Has the list of names any of those in wanted, a setting? Blanks around a name of the setting don't count.
bool role_list_overlaps(struct str names, struct str wanted);
// The highest role that the table gives for any of the names; ROLE_NONE: none of them is in it.
enum role role_table_highest(struct str table, struct str names);
// NULL, or what is wrong with the table (malloc). The role may be reader, member or admin. setting: its name, for the message.
char *role_table_check(const char *setting, struct str table);

#endif
