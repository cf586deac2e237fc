// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/log.h"

void descriptors_occupy(void)
{
	// open(2) returns the lowest free number, so that of fd: those below are in use by then.
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

void descriptors_drop(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	else
		close(STDIN_FILENO); // what it was has to be let go in any case
	log_close_inherited();
}
