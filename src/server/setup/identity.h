// SPDX-License-Identifier: Apache-2.0
// Users and groups of the system: whose a socket is, who a process becomes.
#ifndef TENURE_SERVER_SETUP_IDENTITY_H
#define TENURE_SERVER_SETUP_IDENTITY_H

#include <sys/types.h>

#include "base/base.h"

// "user:group", "user" or ":group", names or numbers. What isn't named becomes -1, which chown(2) leaves as it is.
// False with *error (malloc) when there is no such user or group.
bool identity_parse(const char *text, uid_t *user, gid_t *group, char **error);
// The ids of user with that user's group, or of group where one is named. False with *error (malloc).
bool identity_find(const char *user, const char *group, uid_t *uid, gid_t *gid, char **error);
// Will identity_become make somebody else of this process?
bool identity_changes(const char *user);
// A process of root's becomes user ("" stays) for good, with that user's groups, or group alone where one is named. One
// that is not root's stays what it is.
bool identity_become(const char *user, const char *group, char **error);

#endif
