// SPDX-License-Identifier: Apache-2.0
// Limits of one request: bytes of memory and CPU time.
//
// Every pool of the thread counts its blocks here (base/pool.h), and repr/ counts the trees of json-c. If a request takes
// more than it was granted, the function that budget_guard() called is left by longjmp, from within the allocation. So
// between a guard and an allocation nothing may be owned but pool memory, or what a pool's cleanup releases. Code that
// owns anything else for a moment (a tree not yet given to a pool, a statement whose answer is on the wire) is enclosed in
// budget_hold() and budget_release(): in between, allocations succeed beyond the limit, and loops ask budget_is_over().
// doc/architecture.md ("What a request may take") says why.
//
// Each thread has its own limits and counts. A thread without a limit, as in libtenure and the tools, is never interrupted.
#ifndef TENURE_BASE_BUDGET_H
#define TENURE_BASE_BUDGET_H

#include "base/base.h"

enum budget_end {
	BUDGET_KEPT,
	BUDGET_MEMORY, // it needed more bytes than were granted
	BUDGET_TIME,   // it needed more CPU time
	BUDGET_BROKEN, // nothing of the budget: it found something in the database that can't be true (registry/core/stored.h)
};

// Grants memory bytes beyond what is in use now, and cpu_us microseconds of the thread's CPU time from now on. 0: no
// limit. Replaces what was granted before.
void budget_grant(size_t memory, int64_t cpu_us);
// Takes the limits away.
void budget_end(void);

// Calls fn(arg). If fn needs more than was granted, it is left, and the reason is returned. What fn allocated stays where
// it is: the caller rewinds its pool. Guards may be nested; the innermost one is returned to.
// Not to be called between budget_hold() and budget_release().
enum budget_end budget_guard(void (*fn)(void *arg), void *arg);
bool budget_is_guarded(void);
// Leaves the innermost guard for that reason, which is not BUDGET_KEPT: after a nested guard has cleaned up.
_Noreturn void budget_raise(enum budget_end end);
// Leaves the innermost guard because the database is broken; between budget_hold() and budget_release() only the last
// release does. Returns in that case, and where there is no guard. Limits don't matter to it, so it works without a grant.
void budget_leave_broken(void);

// Pairs of these may be nested. The last release leaves the guard if the limit was exceeded meanwhile.
void budget_hold(void);
void budget_release(void);
// Has the request exceeded a limit? Loops between hold and release call this, and stop if it has.
bool budget_is_over(void);

// Between these two calls no limit applies, and memory taken is not counted as the request's: for memory that a process keeps
// for all requests. To be used between hold and release. Not to be nested.
void budget_pause(void);
void budget_resume(void);

// Counts n bytes as allocated, and as freed. Callers are those that get memory from the system: pools, and repr/ for json-c.
void budget_take(size_t n);
void budget_give(size_t n);

// n steps of work are about to be done, each of some tens of instructions: now and then this looks at the clock. Called by
// every allocation from a pool, and by loops that allocate nothing.
// The TLS model of executables, initial-exec, so that reading the variable costs an addition in libtenure as well.
extern _Thread_local int budget_fuel __attribute__((tls_model("initial-exec")));
void budget_refuel(void);
static inline void budget_work(int n)
{
	budget_fuel -= n;
	if (budget_fuel < 0)
		budget_refuel();
}

// For tests: TENURE_BUDGET_FAULT=STEP in the environment of a process makes its first granted request exceed its memory at
// the first step of work, the next request STEP steps later, and so on, until a request succeeds; the request after that starts
// at the first step again.

#endif
