// SPDX-License-Identifier: Apache-2.0
// The child processes of the master, or of the host service: their states, and when to start them again.
#ifndef TENURE_SERVER_SETUP_CHILD_H
#define TENURE_SERVER_SETUP_CHILD_H

#include <sys/types.h>

#include <stdatomic.h>

#include "base/base.h"

// CHILD_MOVER and those behind it are children of the host service; the others are the master's.
enum child_kind { CHILD_WORKER,
	CHILD_HOST,
	CHILD_SENDER,
	CHILD_WATCH,
	CHILD_MOVER,
	CHILD_REAPER,
	CHILD_OBSERVER,
	CHILD_WRITER_WATCH,
	CHILD_USAGE,
	CHILD_DELIVERER };

enum {
	CHILD_DELAY_READY_MS = 10, // after a child that was ready ended
	CHILD_DELAY_FIRST_MS = 100,
	CHILD_DELAY_MAX_MS = 10000,
	CHILD_STEADY_MS = 10000,
	CHILD_STOPPED_S = 5, // a child that was stopped (SIGSTOP) for so long is killed
};

// What a child tells its master, in memory shared by both.
struct child_life {
	_Atomic bool ready;      // set once the child has opened what it needs
	_Atomic int64_t busy_us; // clock_tick_us() when the current request began; 0: no request
};

struct child {
	struct child_life *life;
	int64_t stopped_us; // clock_tick_us() when it was stopped; 0: it is not stopped
	enum child_kind kind;
	pid_t pid;          // 0: not running
	int64_t started_us; // clock_tick_us() of its start
	int64_t due_us;     // if not running: clock_tick_us() of its next start
	unsigned delay_ms;  // delay from its last end to its next start
};

// Sets due_us after the child has ended at now_us. The delay doubles while children end before they are ready; a child that lived
// for CHILD_STEADY_MS resets it. A child that was ready is replaced at once: otherwise a client whose request ends a worker would
// slow down everybody.
void child_ended(struct child *child, int64_t now_us);
// The reason to kill the child at now_us; NULL: there is none. deadline_s: seconds that a request may take; 0: no limit.
const char *child_reason_to_kill(const struct child *child, int64_t now_us, unsigned deadline_s);
// How log lines call it: "worker", "mover", …
const char *child_name(const struct child *child);
// Forks the child. Returns true in the new process alone. If that fails, the child is due again after a delay, as if it had
// ended; logged.
bool child_fork(struct child *child);
// Notes that waitpid(2) told that the child was stopped or continued; the first is logged.
void child_note_stop(struct child *child, bool stopped);
// Describes a status of waitpid(2): "with code 1", "by signal 9 (Killed)".
void child_describe_end(int status, char *text, size_t size);

// All children of a process. Each has a life in memory that is shared with it.
struct children {
	struct child *list;
	size_t n;
	struct child_life *lives;
};

// Makes n children, none of which runs. false: no memory, and *children is empty.
bool children_make(struct children *children, size_t n);
// Children that run keep their mapping of the shared memory.
void children_free(struct children *children);
// The child that runs with this process id; NULL: none does.
struct child *children_find(const struct children *children, pid_t pid);
bool children_any_running(const struct children *children);
void children_signal(const struct children *children, int signal);
// Kills children that hang (child_reason_to_kill()); logged. Their end is handled like any other.
void children_kill_hanging(const struct children *children, int64_t now_us, unsigned deadline_s);

#endif
