// SPDX-License-Identifier: Apache-2.0
// A place for a child process of the master's, and when to fill it again.
#ifndef TENURE_SERVER_CHILD_H
#define TENURE_SERVER_CHILD_H

#include <sys/types.h>

#include "base/base.h"

enum child_kind { CHILD_WORKER, CHILD_MOVER, CHILD_SENDER, CHILD_WATCH };

enum { CHILD_DELAY_FIRST_MS = 100, CHILD_DELAY_MAX_MS = 10000, CHILD_STEADY_MS = 10000 };

struct child {
	enum child_kind kind;
	pid_t pid;          // 0: not running
	int64_t started_us; // clock_tick_us of its start
	int64_t due_us;     // when not running: its next start
	unsigned delay_ms;  // between its last end and that
};

// After an end at now_us: sets due_us. The delay doubles while children die young, and begins anew with one that lived
// for CHILD_STEADY_MS.
void child_ended(struct child *child, int64_t now_us);
// "worker", "mover", "sender" or "watch process".
const char *child_name(const struct child *child);
// Of waitpid's status: "with code 1", "by signal 9 (Killed)".
void child_describe_end(int status, char *text, size_t size);

#endif
