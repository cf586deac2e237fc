// SPDX-License-Identifier: Apache-2.0
// Limits of one request: bytes of memory and CPU time.
//
// Every pool counts its blocks here for its thread (base/pool.h). If a request takes more than it was granted, longjmp leaves the
// function that budget_guard() called, from within the allocation. So between budget_guard() and an allocation, code may own only
// pool memory and what a pool's cleanup releases. Code that owns something else for a moment (a statement whose answer is on the
// wire) calls budget_defer() before and budget_release() after: in between, allocations succeed beyond the limit, and loops ask
// budget_is_over().
// doc/architecture.md ("What a request may take") says why.
//
// Each thread has its own limits and counts. A thread without a limit, as in libtenure and the tools, is never interrupted.
#ifndef TENURE_BASE_BUDGET_H
#define TENURE_BASE_BUDGET_H

#include "base/base.h"

enum budget_end {
	BUDGET_KEPT,
	BUDGET_MEMORY, // the request needed more bytes than were granted
	BUDGET_TIME,   // the request needed more CPU time than was granted
	BUDGET_BROKEN, // no limit was exceeded: the request read something in the database that can't be true
	               // (registry/core/stored.h)
	BUDGET_STARVED, // no limit was exceeded: the system had no memory for the request
};

// Grants the request `memory` bytes beyond what is in use now, and cpu_us microseconds of the thread's CPU time from now on; 0
// means no limit. Replaces what was granted before.
void budget_grant(size_t memory, int64_t cpu_us);
// Takes the limits away.
void budget_end(void);

// Calls fn(arg) and returns BUDGET_KEPT after it. If fn needs more than was granted, longjmp leaves it, and this returns the
// reason. What fn allocated stays allocated: the caller rewinds its pool. Guards may be nested; only the innermost is left.
// Must not be called between budget_defer() and budget_release().
enum budget_end budget_guard(void (*fn)(void *arg), void *arg);
bool budget_is_guarded(void);
// Leaves the innermost guard, which returns `end` (never BUDGET_KEPT). For a nested guard's caller that has cleaned up.
_Noreturn void budget_leave(enum budget_end end);
// Leaves the innermost guard with BUDGET_BROKEN, because the database contradicts itself. Between budget_defer() and
// budget_release() it returns, and the last budget_release() leaves the guard. Without any guard it returns, too. Needs no grant.
void budget_leave_if_broken(void);

// The system has refused memory, and the process met that with its reserve (server/setup/rescue.h): the innermost guard is left
// with BUDGET_STARVED at the next step of work, or by the last budget_release(). Returns always, so that malloc can call it.
// Between budget_pause() and budget_resume(), and without a grant, it does nothing.
void budget_starve(void);
// The system has refused memory, and there is no reserve: leaves the innermost guard with BUDGET_STARVED at once. Returns if it
// must not be left here.
void budget_leave_if_starved(void);

// Between these two calls no limit makes longjmp leave the guard. Pairs may be nested: the last budget_release() leaves the guard
// if a limit was exceeded in between.
void budget_defer(void);
void budget_release(void);
// Has the request exceeded a limit? Loops between budget_defer() and budget_release() call this, and stop if it has.
bool budget_is_over(void);

// Has the request used more than half of its CPU time? Loops that can end earlier, such as a list that has pages, ask this so as
// not to exceed it.
bool budget_is_half_used(void);

// Between these two calls no limit applies, and allocated memory is not counted as the request's: for memory that the process
// keeps for all requests. Call them between budget_defer() and budget_release(). They must not be nested.
void budget_pause(void);
void budget_resume(void);

// Count n bytes as allocated or as freed. Called by code that gets memory from the system: by pools, and for what a library
// allocates.
void budget_take(size_t n);
void budget_give(size_t n);

// Tells that n steps of work follow, each of some tens of instructions. From time to time this looks at the clock. Called by
// every allocation from a pool, and by loops that allocate nothing.
// The variable uses the TLS model of executables (initial-exec), so that reading it costs only an addition in libtenure, too.
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
