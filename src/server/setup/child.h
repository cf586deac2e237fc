// SPDX-License-Identifier: Apache-2.0
// A place for a child process of the master's, and when to fill it again.
#ifndef TENURE_SERVER_SETUP_CHILD_H
#define TENURE_SERVER_SETUP_CHILD_H

#include <sys/types.h>

#include <stdatomic.h>

#include "base/base.h"

enum child_kind { CHILD_WORKER, CHILD_MOVER, CHILD_SENDER, CHILD_WATCH };

enum {
	CHILD_DELAY_READY_MS = 10, // after the end of one that was ready
	CHILD_DELAY_FIRST_MS = 100, CHILD_DELAY_MAX_MS = 10000, CHILD_STEADY_MS = 10000,
	CHILD_STOPPED_S = 5,       // a child that was stopped (SIGSTOP) and not continued for so long is killed
};

// What a child tells its master, in memory that both share.
struct child_life {
	_Atomic bool ready;      // it could open what it needs, and serves
	_Atomic int64_t busy_us; // clock_tick_us when the request in hand began; 0: none
};

struct child {
	struct child_life *life;
	int64_t stopped_us; // since when it is stopped; 0: it is not
	enum child_kind kind;
	pid_t pid;          // 0: not running
	int64_t started_us; // clock_tick_us of its start
	int64_t due_us;     // when not running: its next start
	unsigned delay_ms;  // between its last end and that
};

// After an end at now_us: sets due_us. The delay doubles while children die before they are ready, and begins anew with one that
// lived for CHILD_STEADY_MS. One that was ready, and was ended by what it served, is replaced at once: else whoever can bring a
// worker down slows down everybody.
void child_ended(struct child *child, int64_t now_us);
// Why the child has to be killed, at now_us; NULL: it need not be. deadline_s: how long a request may take; 0: for ever.
const char *child_hangs(const struct child *child, int64_t now_us, unsigned deadline_s);
// "worker", "mover", "sender" or "watch process".
const char *child_name(const struct child *child);
// Of waitpid's status: "with code 1", "by signal 9 (Killed)".
void child_describe_end(int status, char *text, size_t size);

#endif
