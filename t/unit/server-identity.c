// SPDX-License-Identifier: Apache-2.0
// Users and groups by name and by number: found, refused in words, and become.
#include "base/base.h"

#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/setup/identity.h"
#include "tap.h"

static const uid_t no_user = (uid_t)-1;
static const gid_t no_group = (gid_t)-1;

static void parses(const char *text, uid_t user, gid_t group)
{
	uid_t got_user = 7;
	gid_t got_group = 7;
	char *error = NULL;

	ok(identity_parse(text, &got_user, &got_group, &error) && error == NULL, "\"%s\"", text);
	is_int((long long)got_user, (long long)user, "\"%s\": its user", text);
	is_int((long long)got_group, (long long)group, "\"%s\": its group", text);
}

static void refuses(const char *text, const char *why)
{
	uid_t user;
	gid_t group;
	char *error = NULL;

	ok(!identity_parse(text, &user, &group, &error), "\"%s\" is refused", text);
	is_str(str_c(error), why, "in words");
	free(error);
}

static void test_parse(void)
{
	const struct passwd *daemon_user = getpwnam("daemon");
	uid_t daemon_uid = daemon_user != NULL ? daemon_user->pw_uid : no_user;
	const struct group *daemon_group = getgrnam("daemon");
	gid_t daemon_gid = daemon_group != NULL ? daemon_group->gr_gid : no_group;

	parses("", no_user, no_group);
	parses(":", no_user, no_group);
	parses("root", 0, no_group);
	parses("root:", 0, no_group);
	parses("root:root", 0, 0);
	parses(":root", no_user, 0);
	parses("12345", 12345, no_group);
	parses("12345:54321", 12345, 54321);
	parses(":54321", no_user, 54321);
	parses("4294967294", 4294967294U, no_group);
	parses(":4294967294", no_user, 4294967294U);
	if (daemon_user != NULL && daemon_group != NULL) {
		parses("daemon:daemon", daemon_uid, daemon_gid);
		parses("root:daemon", 0, daemon_gid);
	}
	refuses("nobody-of-this-name", "there is no user \"nobody-of-this-name\"");
	refuses("nobody-of-this-name:root", "there is no user \"nobody-of-this-name\"");
	refuses("root:none-of-this-name", "there is no group \"none-of-this-name\"");
	refuses("root:root:root", "there is no group \"root:root\"");
	refuses("4294967295", "there is no user \"4294967295\"");
	refuses(":4294967295", "there is no group \"4294967295\"");
	refuses("-1", "there is no user \"-1\"");
	refuses("1x", "there is no user \"1x\"");
}

static void test_find(void)
{
	const struct passwd *entry = getpwnam("daemon"), daemon_user = entry != NULL ? *entry : (struct passwd){ .pw_uid = no_user };
	uid_t user = 7;
	gid_t group = 7;
	char *error = NULL;

	if (entry != NULL) {
		ok(identity_find("daemon", "", &user, &group, &error), "a user without a group");
		ok(user == daemon_user.pw_uid && group == daemon_user.pw_gid, "has that of the system's list");
		ok(identity_find("daemon", "12345", &user, &group, &error) && user == daemon_user.pw_uid && group == 12345, "or the one named");
	}
	ok(identity_find("12345", "root", &user, &group, &error) && user == 12345 && group == 0, "a number, with a group");
	ok(!identity_find("12345", "", &user, &group, &error), "a number without");
	is_str(str_c(error), "user \"12345\" has no group; name one with `group`", "in words");
	free(error);
	ok(!identity_find("root", "none-of-this-name", &user, &group, &error), "a group that there is not");
	is_str(str_c(error), "there is no group \"none-of-this-name\"", "in words");
	free(error);
	ok(!identity_find("nobody-of-this-name", "root", &user, &group, &error), "a user that there is not");
	is_str(str_c(error), "there is no user \"nobody-of-this-name\"", "in words");
	free(error);
	ok(!identity_changes(""), "nobody is named");
	ok(identity_changes("daemon") == (geteuid() == 0), "only root can become another");
}

// In a child, as root: user, groups and the way back.
static int become(const char *user, const char *group, uid_t uid, gid_t gid)
{
	fflush(stdout);
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		char *error = NULL;
		gid_t groups[64];
		if (!identity_become(user, group, &error))
			_exit(error != NULL ? 2 : 3);
		int n = getgroups(64, groups);
		bool own = false;
		for (int i = 0; i < n; i++)
			own = own || groups[i] == gid;
		bool all = getuid() == uid && geteuid() == uid && getgid() == gid && getegid() == gid && own && setuid(0) != 0 && setgid(0) != 0;
		for (int i = 0; i < n; i++)
			all = all && groups[i] != 0;
		_exit(all ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void test_become(void)
{
	char *error = NULL;

	ok(identity_become("", "", &error) && error == NULL, "nobody is named: nothing changes");
	if (geteuid() != 0 || getpwnam("daemon") == NULL) {
		ok(identity_become("nobody-of-this-name", "", &error), "who is not root becomes nobody");
		return;
	}
	const struct passwd user = *getpwnam("daemon");
	is_int(become("daemon", "", user.pw_uid, user.pw_gid), 0, "a user with the group of the system's list, and no way back");
	is_int(become("daemon", "12345", user.pw_uid, 12345), 0, "with another group");
	is_int(become("nobody-of-this-name", "", 0, 0), 2, "a user that there is not");
}

int main(void)
{
	test_parse();
	test_find();
	test_become();
	return done_testing();
}
