// SPDX-License-Identifier: Apache-2.0
// For targets whose input is a file.
#ifndef TENURE_T_FUZZ_INPUT_FILE_H
#define TENURE_T_FUZZ_INPUT_FILE_H

#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"

static char input_file_dir[] = "/tmp/tenure-fuzz-XXXXXX";
static char input_file_path[sizeof(input_file_dir) + 16];

static void input_file_remove(void)
{
	(void)unlink(input_file_path);
	(void)rmdir(input_file_dir);
}

// Writes the input into a file of that name in a folder of its own, the same file each time, which is removed when the target
// ends. Returns the file's path; input_file_dir is the folder.
static const char *input_file_write(const char *name, struct str input)
{
	if (input_file_path[0] == '\0') {
		MUST(mkdtemp(input_file_dir) != NULL);
		(void)snprintf(input_file_path, sizeof(input_file_path), "%s/%s", input_file_dir, name);
		(void)atexit(input_file_remove);
	}
	int fd = open(input_file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, input.p, input.n) == (ssize_t)input.n);
	close(fd);
	return input_file_path;
}

#endif
