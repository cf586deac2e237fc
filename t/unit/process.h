// SPDX-License-Identifier: Apache-2.0
// Another process for a unit test, which holds something until it is killed.
#ifndef TENURE_T_UNIT_PROCESS_H
#define TENURE_T_UNIT_PROCESS_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

// Starts a process that calls begin(arg) and then does nothing until process_kill(). Returns once begin() has returned true; if
// it returned false, the test ends.
static pid_t process_start(bool (*begin)(void *arg), void *arg)
{
	int ready[2];
	char byte;

	fflush(stdout);
	if (pipe(ready) != 0)
		bail_out("no pipe");
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(ready[0]);
		if (!begin(arg) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	(void)close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		bail_out("the other process did not begin");
	(void)close(ready[0]);
	return pid;
}

static void process_kill(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#endif
