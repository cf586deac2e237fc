// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/spill.h"

struct spill {
	int fd;
	uint64_t n;
};

static void close_spill(void *arg)
{
	struct spill *spill = arg;

	if (spill->fd >= 0)
		close(spill->fd);
	spill->fd = -1;
}

// For file systems without O_TMPFILE, such as NFS and older overlays: the file has a name for a moment.
static int open_and_unlink(const char *folder)
{
	char *path;

	if (asprintf(&path, "%s/tenure-XXXXXX", folder) < 0)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	int failure = errno;
	free(path);
	errno = failure;
	return fd;
}

// Returns a descriptor; -1: errno says why there is none.
static int open_unnamed(const char **folder)
{
	const char *chosen = getenv("TMPDIR");

	*folder = chosen != NULL && chosen[0] != '\0' ? chosen : "/var/tmp";
	// O_TMPFILE makes a file without a name; O_EXCL keeps it from ever getting one.
	int fd = open(*folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 && errno == EOPNOTSUPP ? open_and_unlink(*folder) : fd;
}

FILE *spill_file(const char **folder)
{
	int fd = open_unnamed(folder);
	FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (file == NULL && fd >= 0) {
		close(fd);
		errno = ENOMEM;
	}
	return file;
}

struct spill *spill_new(struct pool *pool)
{
	struct spill *spill = POOL_NEW(pool, struct spill);
	const char *folder;

	spill->fd = -1;
	pool_cleanup(pool, close_spill, spill);
	spill->fd = open_unnamed(&folder);
	if (spill->fd >= 0)
		return spill;
	log_warning("no file for a long answer can be made in %s: %s", folder, strerror(errno));
	return NULL;
}

bool spill_add(struct spill *spill, struct str text)
{
	assert(spill != NULL && spill->fd >= 0);
	uint64_t before = spill->n;

	// A write costs CPU time that no allocation counts.
	budget_work((int)(text.n / 64));
	while (text.n > 0) {
		ssize_t n = pwrite(spill->fd, text.p, text.n, (off_t)spill->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			log_warning("the file for a long answer can't be written: %s", n < 0 ? strerror(errno) : "nothing is taken");
			spill->n = before; // a full disk takes a part first
			return false;
		}
		spill->n += (uint64_t)n;
		text = str_part(text, (size_t)n, text.n);
	}
	return true;
}

uint64_t spill_size(const struct spill *spill)
{
	return spill != NULL ? spill->n : 0;
}

size_t spill_read(const struct spill *spill, uint64_t offset, char *to, size_t n)
{
	if (offset >= spill_size(spill))
		return 0;
	ssize_t got = pread(spill->fd, to, n < spill->n - offset ? n : (size_t)(spill->n - offset), (off_t)offset);

	if (got < 0)
		log_warning("the file for a long answer can't be read: %s", strerror(errno));
	return got > 0 ? (size_t)got : 0;
}

void spill_clear(struct spill *spill)
{
	if (spill == NULL || spill->n == 0)
		return;
	spill->n = 0; // later text overwrites the file
	if (ftruncate(spill->fd, 0) != 0)
		log_warning("the file for a long answer can't be emptied: %s", strerror(errno));
}
