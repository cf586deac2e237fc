// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/str.h"
#include "server/setup/identity.h"
#include "server/setup/setup.h"

static bool find_user(const char *name, uid_t *user, gid_t *group, char **error)
{
	const struct passwd *entry = getpwnam(name);
	uint64_t number;

	if (entry != NULL) {
		*user = entry->pw_uid;
		*group = entry->pw_gid;
		return true;
	}
	if (!str_to_u64(str_c(name), &number) || number >= (uid_t)-1)
		return setup_fail(error, "there is no user \"%s\"", name);
	*user = (uid_t)number;
	return true;
}

static bool find_group(const char *name, gid_t *group, char **error)
{
	const struct group *entry = getgrnam(name);
	uint64_t number;

	if (entry != NULL) {
		*group = entry->gr_gid;
		return true;
	}
	if (!str_to_u64(str_c(name), &number) || number >= (gid_t)-1)
		return setup_fail(error, "there is no group \"%s\"", name);
	*group = (gid_t)number;
	return true;
}

// getpwnam(3) and getgrnam(3) come before numbers, as with chown(1): a user may have a name of digits only.
bool identity_parse(const char *text, uid_t *user, gid_t *group, char **error)
{
	assert(text != NULL && user != NULL && group != NULL);
	size_t length = strcspn(text, ":");
	gid_t own_group;
	bool found = true;

	*user = (uid_t)-1;
	*group = (gid_t)-1;
	if (length > 0) {
		char *name = strndup(text, length);
		found = name != NULL && find_user(name, user, &own_group, error);
		free(name);
	}
	if (found && text[length] == ':' && text[length + 1] != '\0')
		found = find_group(text + length + 1, group, error);
	return found;
}

bool identity_find(const char *user, const char *group, uid_t *uid, gid_t *gid, char **error)
{
	*gid = (gid_t)-1;
	if (!find_user(user, uid, gid, error) || (group[0] != '\0' && !find_group(group, gid, error)))
		return false;
	return *gid != (gid_t)-1 || setup_fail(error, "user \"%s\" has no group; name one with `group`", user);
}

bool identity_changes(const char *user)
{
	return user[0] != '\0' && geteuid() == 0;
}

bool identity_become(const char *user, const char *group, char **error)
{
	uid_t uid;
	gid_t gid;

	if (!identity_changes(user))
		return true;
	if (!identity_find(user, group, &uid, &gid, error))
		return false;
	// The order matters: after setuid() the process may not change its groups any more.
	if (initgroups(user, gid) != 0 || setgid(gid) != 0 || setuid(uid) != 0)
		return setup_fail(error, "can't become user \"%s\": %s", user, strerror(errno));
	return true;
}
