// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "server/setup/identity.h"
#include "server/setup/listen.h"
#include "server/setup/settings.h"
#include "server/setup/setup.h"

enum { FIRST_INHERITED = 3 }; // SD_LISTEN_FDS_START of sd_listen_fds(3)

bool listen_is_socket(int fd)
{
	int accepts = 0;
	socklen_t size = sizeof(accepts);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0;
}

static bool environment_number(const char *name, uint64_t *value)
{
	const char *text = getenv(name);

	return text != NULL && str_to_u64(str_c(text), value);
}

bool listen_inherited(int *fd, char **error)
{
	uint64_t pid = 0, n = 0;
	bool ours = environment_number("LISTEN_PID", &pid) && pid == (uint64_t)getpid() &&
		environment_number("LISTEN_FDS", &n) && n > 0;

	*fd = -1;
	// A child that is started later must not take the socket for its own.
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (!ours)
		return true;
	if (n > 1)
		return setup_fail(error, "LISTEN_FDS hands over %llu sockets; an endpoint has one", (unsigned long long)n);
	if (!listen_is_socket(FIRST_INHERITED))
		return setup_fail(error, "LISTEN_FDS: descriptor %d is no listening socket", FIRST_INHERITED);
	(void)fcntl(FIRST_INHERITED, F_SETFD, FD_CLOEXEC);
	*fd = FIRST_INHERITED;
	return true;
}

static int make_address(const char *path, struct sockaddr_un *address, char **error)
{
	size_t n = strlen(path);

	if (n == 0)
		return setup_fail_start(error, 0, EX_CONFIG, "the endpoint has no socket");
	if (n >= sizeof(address->sun_path))
		return setup_fail_start(error, 0, EX_CONFIG, "%s: the path of a socket may have %zu bytes at most", path,
			sizeof(address->sun_path) - 1);
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, path, n);
	return EX_OK;
}

// Removes a socket of that name if no process listens on it any more. The socket of a killed process stays in the folder and
// refuses connections.
static int clear_name(const struct sockaddr_un *address, char **error)
{
	const char *path = address->sun_path;
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? EX_OK : setup_fail_start(error, errno, EX_CONFIG, "%s", path);
	if (!S_ISSOCK(st.st_mode))
		return setup_fail_start(error, 0, EX_CONFIG, "%s exists and is no socket", path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failure = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (failure == 0 || failure == EAGAIN)
		return setup_fail_start(error, 0, EX_CONFIG, "%s: another process is serving this socket", path);
	if (failure != ECONNREFUSED && failure != ENOENT)
		return setup_fail_start(error, failure, EX_CONFIG, "%s", path);
	log_info("removing %s, left behind by a process that is gone", path);
	if (unlink(path) == 0 || errno == ENOENT)
		return EX_OK;
	return setup_fail_start(error, errno, EX_CONFIG, "can't remove %s", path);
}

// Sets owner and group, if they differ: a sandbox may forbid the system call even if it would change nothing.
static bool give_socket(const char *path, uid_t user, gid_t group)
{
	struct stat st;

	if ((user == (uid_t)-1 && group == (gid_t)-1) ||
	    (lstat(path, &st) == 0 && (user == (uid_t)-1 || user == st.st_uid) && (group == (gid_t)-1 || group == st.st_gid)))
		return true;
	return lchown(path, user, group) == 0;
}

// Connections are refused until listen(2), so mode and owner are set before the first connection.
static int bind_and_listen(int fd, const struct sockaddr_un *address, const struct server_endpoint_settings *settings,
	char **error)
{
	const char *path = address->sun_path;
	uid_t user;
	gid_t group;

	if (!identity_parse(settings->socket_owner, &user, &group, error))
		return EX_CONFIG;
	mode_t saved = umask((mode_t)~settings->socket_mode & 0777);
	int failure = bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ? errno : 0;
	umask(saved);
	if (failure != 0)
		return setup_fail_start(error, failure, EX_CONFIG, "can't make %s", path);
	if (!give_socket(path, user, group)) {
		failure = errno;
		(void)unlink(path);
		return setup_fail_start(error, failure, EX_CONFIG, "can't give %s to %s", path, settings->socket_owner);
	}
	if (listen(fd, (int)settings->backlog) != 0)
		return setup_fail_start(error, errno, EX_CONFIG, "can't listen on %s", path);
	return EX_OK;
}

int listen_open(struct listener *listener, const struct server_endpoint_settings *settings, char **error)
{
	struct sockaddr_un address;
	struct stat st;

	*listener = (struct listener){ .fd = -1 };
	int code = make_address(settings->socket, &address, error);
	if (code == EX_OK)
		code = clear_name(&address, error);
	if (code != EX_OK)
		return code;
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0)
		return setup_fail_start(error, errno, EX_CONFIG, "socket");
	code = bind_and_listen(listener->fd, &address, settings, error);
	if (code != EX_OK) {
		listen_close(listener);
		return code;
	}
	listener->path = strdup(settings->socket);
	if (lstat(settings->socket, &st) == 0) {
		listener->device = st.st_dev;
		listener->inode = st.st_ino;
	}
	return EX_OK;
}

bool listen_is_reached(const struct listener *listener)
{
	struct stat st;

	return listener->path == NULL ||
		(lstat(listener->path, &st) == 0 && st.st_dev == listener->device && st.st_ino == listener->inode);
}

bool listen_set_mode(const struct listener *listener, unsigned mode)
{
	// Not through a link that somebody puts there meanwhile.
	return listener->path == NULL || !listen_is_reached(listener) ||
		fchmodat(AT_FDCWD, listener->path, mode, AT_SYMLINK_NOFOLLOW) == 0;
}

void listen_unlink(struct listener *listener)
{
	if (listener->path == NULL)
		return;
	if (listen_is_reached(listener) && unlink(listener->path) != 0)
		log_info("%s stays: %s; the next start recognises it", listener->path, strerror(errno));
	free(listener->path);
	listener->path = NULL;
}

void listen_close(struct listener *listener)
{
	listen_unlink(listener);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}
