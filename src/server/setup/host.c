// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/shared.h"
#include "base/siphash.h"
#include "db/settings.h"
#include "server/setup/host.h"
#include "server/setup/settings.h"

// A text that names the database, from malloc: processes that use the same one belong together. NULL: no memory.
static char *name_registry(const struct config *config)
{
	const struct db_settings *db = db_settings(config);
	char *text = NULL;

	return asprintf(&text, "%s\n%s\n%u\n%s", db->host, db->socket, db->port, db->name) < 0 ? NULL : text;
}

struct shared *host_shared_open(const struct config *config)
{
	char *text = name_registry(config);
	struct shared *shared = text != NULL ? shared_open(server_settings(config)->runtime_dir, str_c(text)) : NULL;

	if (shared == NULL)
		log_warning("no memory to share: no limits hold");
	free(text);
	return shared;
}

struct shared *host_shared_attach(const struct config *config)
{
	char *text = name_registry(config);
	struct shared *shared = text != NULL ? shared_attach(server_settings(config)->runtime_dir, str_c(text)) : NULL;
	int failure = text != NULL ? errno : ENOMEM;

	free(text);
	errno = failure;
	return shared;
}

// ---- the lock

// From malloc; NULL: no memory.
static char *lock_path(const struct config *config)
{
	static const uint64_t no_key[SIPHASH_KEY] = { 0 };
	char *text = name_registry(config), *path = NULL;

	if (text != NULL && asprintf(&path, "%s/host-%016llx.lock", server_settings(config)->runtime_dir,
		(unsigned long long)siphash(no_key, str_c(text))) < 0)
		path = NULL;
	free(text);
	return path;
}

bool host_is_same(const struct config *a, const struct config *b)
{
	char *path = lock_path(a), *other = lock_path(b);
	bool same = path != NULL && other != NULL && strcmp(path, other) == 0;

	free(path);
	free(other);
	return same;
}

// Who has the lock: a process id, 0 if it is free, -1 if a process has it that is not visible here (another PID namespace).
static pid_t find_holder(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

// O_NOFOLLOW and O_NONBLOCK: the name may belong to a link or a pipe that somebody placed there.
static int open_lock(const char *path)
{
	mode_t saved = umask(0);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0660);

	umask(saved);
	return fd;
}

enum host_lock_result host_lock_take(struct host_lock *lock, const struct config *config, pid_t *holder)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	char *path = lock_path(config);
	struct stat st;

	assert(lock->path == NULL);
	*holder = 0;
	errno = ENOMEM;
	int fd = path != NULL ? open_lock(path) : -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && fcntl(fd, F_SETLK, &whole) == 0) {
		*lock = (struct host_lock){ .path = path, .fd = fd, .device = st.st_dev, .inode = st.st_ino };
		return HOST_LOCK_HELD;
	}
	int failure = errno;
	bool elsewhere = fd >= 0 && (failure == EAGAIN || failure == EACCES);
	if (elsewhere) {
		pid_t pid = find_holder(fd);
		*holder = pid > 0 ? pid : 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	errno = failure;
	return elsewhere ? HOST_LOCK_ELSEWHERE : HOST_LOCK_FAILED;
}

bool host_lock_is_valid(const struct host_lock *lock)
{
	struct stat st;

	assert(lock->path != NULL);
	return lstat(lock->path, &st) == 0 && st.st_dev == lock->device && st.st_ino == lock->inode;
}

void host_lock_release(struct host_lock *lock)
{
	if (lock->path == NULL)
		return;
	close(lock->fd);
	free(lock->path);
	*lock = (struct host_lock){ .fd = -1 };
}

enum host_service host_service_find(const struct config *config, pid_t *holder)
{
	char *path = lock_path(config);
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	int failure = path != NULL ? errno : ENOMEM;

	*holder = 0;
	free(path);
	if (fd < 0) {
		errno = failure;
		return failure == ENOENT ? HOST_SERVICE_ABSENT : HOST_SERVICE_UNKNOWN;
	}
	pid_t pid = find_holder(fd);
	close(fd);
	*holder = pid > 0 ? pid : 0;
	return pid != 0 ? HOST_SERVICE_RUNS : HOST_SERVICE_ABSENT;
}
