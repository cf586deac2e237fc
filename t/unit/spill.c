// SPDX-License-Identifier: Apache-2.0
// Text that is kept in a file, and what the system may refuse of it. The log's lines are those of doc/troubleshooting.md.
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/spill.h"
#include "tap.h"

#include "logged.h"

static struct pool *pool;
static bool disk_fails, lacks_unnamed;

// Takes the place of libc's function: a disk with a fault is nothing that a test can have.
int ftruncate(int fd, off_t length)
{
	if (!disk_fails)
		return (int)syscall(SYS_ftruncate, fd, length);
	errno = EIO;
	return -1;
}

// Likewise: a file system without O_TMPFILE.
int open(const char *path, int flags, ...)
{
	if (!lacks_unnamed || (flags & O_TMPFILE) != O_TMPFILE)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	errno = EOPNOTSUPP;
	return -1;
}

static struct str content(const struct spill *spill)
{
	char *text = pool_alloc(pool, 100);
	size_t n = 0, got;

	while ((got = spill_read(spill, n, text + n, 3)) > 0)
		n += got;
	return str_n(text, n);
}

static void pieces(void)
{
	struct spill *spill = spill_new(pool);

	ok(spill != NULL && spill_size(spill) == 0, "empty at first");
	is_str(content(spill), "", "nothing to read");
	ok(spill_add(spill, STR("one,")) && spill_add(spill, STR("")) && spill_add(spill, STR("two")), "pieces");
	is_int((int)spill_size(spill), 7, "their length");
	is_str(content(spill), "one,two", "one behind the other");
	spill_clear(spill);
	is_str(content(spill), "", "emptied");
	ok(spill_add(spill, STR("three")), "filled again");
	is_str(content(spill), "three", "from its beginning");
	spill_clear(NULL);
	ok(spill_size(NULL) == 0 && spill_read(NULL, 0, NULL, 1) == 0, "NULL is an empty one");
}

static void cannot_be_emptied(void)
{
	struct spill *spill = spill_new(pool);

	ok(spill_add(spill, STR("a long first answer")), "an answer");
	disk_fails = true;
	logged_begin();
	spill_clear(spill);
	ok(logged_end_has("the file for a long answer can't be emptied: Input/output error"), "the log tells that it can't be emptied");
	disk_fails = false;
	is_int((int)spill_size(spill), 0, "it is empty nevertheless");
	ok(spill_add(spill, STR("the next")), "the next answer overwrites it");
	is_str(content(spill), "the next", "nothing of the first is left");
}

static void cannot_be_written(void)
{
	struct spill *spill = spill_new(pool);
	struct rlimit old, small;

	(void)signal(SIGXFSZ, SIG_IGN);
	(void)getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 4;
	(void)setrlimit(RLIMIT_FSIZE, &small);
	bool all = spill_add(spill, STR("12345678"));
	(void)setrlimit(RLIMIT_FSIZE, &old);
	ok(!all, "text beyond what a file may have");
	ok(spill_size(spill) == 0, "no part of it is counted");
	ok(spill_add(spill, STR("1234")), "text that it may have");
	is_str(content(spill), "1234", "is all that is there");
}

// How many entries the folder has, "." and ".." included.
static int entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		(void)closedir(dir);
	return n;
}

static void streams(void)
{
	char folder[] = "/dev/shm/spill-XXXXXX", line[10] = "";
	const char *where = NULL;

	ok(mkdtemp(folder) != NULL && setenv("TMPDIR", folder, 1) == 0, "a folder");
	for (int i = 0; i < 2; i++) {
		lacks_unnamed = i == 1;
		FILE *file = spill_file(&where);
		ok(file != NULL && entries(folder) == 2, "a file without a name, %s", lacks_unnamed ? "where it had one for a moment" : "at once");
		is_str(str_c(where), folder, "in the folder of TMPDIR");
		ok(file != NULL && fputs("text", file) >= 0 && fseek(file, 0, SEEK_SET) == 0 && fgets(line, sizeof(line), file) != NULL, "is written and read");
		is_str(str_c(line), "text", "as it was");
		if (file != NULL)
			(void)fclose(file);
	}
	lacks_unnamed = false;
	(void)rmdir(folder);
	errno = 0;
	ok(spill_file(&where) == NULL && errno == ENOENT, "a folder that is not there");
	(void)unsetenv("TMPDIR");
	FILE *file = spill_file(&where);
	is_str(str_c(where), "/var/tmp", "without TMPDIR, /var/tmp, which is on disk");
	if (file != NULL)
		(void)fclose(file);
}

int main(void)
{
	pool = pool_new();
	pieces();
	cannot_be_emptied();
	cannot_be_written();
	streams();
	pool_free(&pool);
	return done_testing();
}
