// SPDX-License-Identifier: Apache-2.0
// max_len: 1100000
// A WADL file beside those that are shipped (in build/wadl): a table of routes, or an error that says where and why.
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "wadl/wadl.h"

static char dir[] = "/tmp/tenure-fuzz-XXXXXX";
static char path[sizeof(dir) + 16];

static void remove_files(void)
{
	(void)unlink(path);
	(void)rmdir(dir);
}

static void write_input(struct str input)
{
	if (path[0] == '\0') {
		MUST(mkdtemp(dir) != NULL);
		(void)snprintf(path, sizeof(path), "%s/t.wadl", dir);
		(void)atexit(remove_files);
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, input.p, input.n) == (ssize_t)input.n);
	close(fd);
}

static const void *find(void *arg, const char *dialect, const char *id)
{
	UNUSED(dialect);
	UNUSED(id);
	return arg;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	char *error = NULL;

	UNUSED(pool);
	write_input(input);
	struct route_table *table = wadl_load("build/wadl", path, find, &error, &error);
	MUST((table == NULL) == (error != NULL));
	MUST(error == NULL || strstr(error, ".wadl:") != NULL);
	free(error);
	wadl_free(&table);
}
