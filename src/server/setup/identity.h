// SPDX-License-Identifier: Apache-2.0
// Users and groups of the system, for owners of sockets and for the user that a process runs as.
#ifndef TENURE_SERVER_SETUP_IDENTITY_H
#define TENURE_SERVER_SETUP_IDENTITY_H

#include <sys/types.h>

#include "base/base.h"

// Parses "user:group", "user" or ":group", names or numbers. A part that is missing becomes -1, which chown(2) ignores. False if
// there is no such user or group, with *error from malloc.
bool identity_parse(const char *text, uid_t *user, gid_t *group, char **error);
// The ids of user and of its group, or of group if that is not "". False with *error from malloc.
bool identity_find(const char *user, const char *group, uid_t *uid, gid_t *gid, char **error);
// Would identity_become() change the user of this process?
bool identity_changes(const char *user);
// A process of root becomes user for good, with the groups of that user, or with only `group` if that is not "". user "": nothing
// changes. A process that is not root's stays as it is. False with *error from malloc.
bool identity_become(const char *user, const char *group, char **error);

#endif
