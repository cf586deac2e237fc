// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "server/setup/notify.h"
#include "server/setup/setup.h"

void notify_supervisor(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = path != NULL ? strlen(path) : 0;

	if (n == 0 || n >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, n);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; // a name in the abstract namespace (unix(7))
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size) < 0)
		log_warning("can't notify %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void notify_remove_pid(const char *path)
{
	char text[32];
	struct str rest, line;
	uint64_t pid;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	ssize_t n = read(fd, text, sizeof(text));
	close(fd);
	rest = str_n(text, n > 0 ? (size_t)n : 0);
	if (str_split(&rest, '\n', &line) && str_to_u64(line, &pid) && pid == (uint64_t)getpid())
		(void)unlink(path);
}

bool notify_write_pid(const char *path, char **error)
{
	char *temporary = NULL;
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	bool written = false;

	if (asprintf(&temporary, "%s.%ld", path, (long)getpid()) < 0)
		return setup_fail(error, "no memory");
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0) {
		written = fchmod(fd, 0644) == 0 && write(fd, text, (size_t)n) == n;
		written = close(fd) == 0 && written && rename(temporary, path) == 0;
	}
	if (!written) {
		(void)setup_fail(error, "can't write %s: %s", path, strerror(errno));
		(void)unlink(temporary);
	}
	free(temporary);
	return written;
}
