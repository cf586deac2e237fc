// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <setjmp.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"

enum { FUEL = 8192 }; // steps between two looks at the clock, about 0.1 ms

// One call of budget_guard(), on its stack.
struct guard {
	jmp_buf back;
	struct guard *outer;
	enum budget_end end;
};

// The limits and counts of one thread.
struct account {
	size_t used;            // bytes allocated and not freed; wraps if one thread frees what another allocated
	size_t limit;           // most that `used` may be; SIZE_MAX: no limit
	int64_t cpu_us;         // CPU time granted; 0: no limit
	int64_t cpu_begun_us;   // the thread's CPU time when it was first looked at; -1: not yet
	bool granted;
	unsigned deferred; // depth of pairs of budget_defer() and budget_release()
	enum budget_end over;   // which limit was exceeded; BUDGET_KEPT: none
	struct guard *guard;    // the innermost guard
	size_t paused_used, paused_limit;
	bool paused;
	// For TENURE_BUDGET_FAULT (base/budget.h).
	bool fault_known;
	uint64_t fault_step, fault_at, fault_left;
};

static _Thread_local struct account account = { .limit = SIZE_MAX, .cpu_begun_us = -1 };
_Thread_local int budget_fuel __attribute__((tls_model("initial-exec"))) = FUEL;

// ---- the injected fault

// Sets the step at which the next granted request fails.
static void fault_begin(void)
{
	if (!account.fault_known) {
		account.fault_known = true;
		const char *step = getenv("TENURE_BUDGET_FAULT");
		account.fault_step = step != NULL ? strtoull(step, NULL, 10) : 0;
		account.fault_at = 1;
	}
	if (account.fault_step == 0)
		return;
	if (account.fault_left > 0) // the last request succeeded: begin again
		account.fault_at = 1;
	account.fault_left = account.fault_at;
	budget_fuel = 0;
}

static bool fault_happens(void)
{
	if (account.fault_left == 0 || account.guard == NULL || --account.fault_left > 0)
		return false;
	account.fault_at += account.fault_step;
	return true;
}

// ---- limits

void budget_grant(size_t memory, int64_t cpu_us)
{
	assert(account.deferred == 0 && !account.paused && cpu_us >= 0);
	account.granted = true;
	account.limit = memory == 0 || account.used > SIZE_MAX - memory ? SIZE_MAX : account.used + memory;
	account.cpu_us = cpu_us;
	account.cpu_begun_us = -1;
	account.over = BUDGET_KEPT;
	budget_fuel = FUEL;
	fault_begin();
}

void budget_end(void)
{
	assert(account.deferred == 0 && !account.paused);
	account.granted = false;
	account.limit = SIZE_MAX;
	account.cpu_us = 0;
	account.over = BUDGET_KEPT;
}

_Noreturn void budget_leave(enum budget_end end)
{
	struct guard *guard = account.guard;

	assert(guard != NULL && end != BUDGET_KEPT && account.deferred == 0);
	guard->end = end;
	longjmp(guard->back, 1);
}

void budget_leave_if_broken(void)
{
	if (account.guard == NULL)
		return;
	if (account.deferred == 0)
		budget_leave(BUDGET_BROKEN);
	account.over = BUDGET_BROKEN;
}

// Code that answers a request that failed has no guard, and no limit.
static bool is_limited(void)
{
	return account.guard != NULL && account.granted && !account.paused;
}

void budget_starve(void)
{
	if (!is_limited())
		return;
	if (account.over == BUDGET_KEPT)
		account.over = BUDGET_STARVED;
	budget_fuel = 0;
}

void budget_leave_if_starved(void)
{
	if (is_limited() && account.deferred == 0)
		budget_leave(BUDGET_STARVED);
}

static void exceed(enum budget_end end)
{
	if (!is_limited())
		return;
	if (account.deferred == 0)
		budget_leave(end);
	if (account.over == BUDGET_KEPT)
		account.over = end;
}

enum budget_end budget_guard(void (*fn)(void *arg), void *arg)
{
	struct guard guard = { .outer = account.guard, .end = BUDGET_KEPT };

	assert(fn != NULL);
	assert(account.deferred == 0 && !account.paused);
	account.guard = &guard;
	if (setjmp(guard.back) == 0)
		fn(arg);
	account.guard = guard.outer;
	account.over = BUDGET_KEPT;
	return guard.end;
}

bool budget_is_guarded(void)
{
	return account.guard != NULL;
}

void budget_defer(void)
{
	account.deferred++;
}

void budget_release(void)
{
	assert(account.deferred > 0 && (account.deferred > 1 || !account.paused));
	if (--account.deferred == 0 && account.over != BUDGET_KEPT)
		budget_leave(account.over);
}

bool budget_is_over(void)
{
	return account.over != BUDGET_KEPT;
}

bool budget_is_half_used(void)
{
	return account.cpu_us > 0 && account.cpu_begun_us >= 0 && clock_cpu_us() - account.cpu_begun_us > account.cpu_us / 2;
}

void budget_pause(void)
{
	assert(account.deferred > 0 && !account.paused);
	account.paused = true;
	account.paused_used = account.used;
	account.paused_limit = account.limit;
	account.limit = SIZE_MAX;
}

void budget_resume(void)
{
	size_t grown = account.used - account.paused_used; // wraps if memory was freed meanwhile; the sum then wraps back

	assert(account.paused);
	account.paused = false;
	account.limit = account.paused_limit == SIZE_MAX ? SIZE_MAX : account.paused_limit + grown;
}

// ---- taking

void budget_take(size_t n)
{
	if (account.limit != SIZE_MAX && (account.used > account.limit || n > account.limit - account.used))
		exceed(BUDGET_MEMORY);
	account.used += n;
	budget_work(n < FUEL * 64 ? (int)(n / 64) : FUEL); // the caller writes the bytes, which takes time
}

void budget_give(size_t n)
{
	account.used -= n;
}

void budget_refuel(void)
{
	budget_fuel = account.fault_left > 0 ? 0 : FUEL;
	if (account.over == BUDGET_STARVED)
		budget_leave_if_starved();
	if (fault_happens())
		exceed(BUDGET_MEMORY);
	if (account.cpu_us == 0 || account.guard == NULL)
		return;
	int64_t now_us = clock_cpu_us();

	if (account.cpu_begun_us < 0)
		account.cpu_begun_us = now_us;
	else if (now_us - account.cpu_begun_us > account.cpu_us)
		exceed(BUDGET_TIME);
}
