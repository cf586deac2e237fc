// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"

enum { US = 1000000 };

static int64_t read_clock(clockid_t id)
{
	struct timespec now;
	int rc = clock_gettime(id, &now);

	assert(rc == 0);
	UNUSED(rc);
	return (int64_t)now.tv_sec * US + now.tv_nsec / 1000;
}

int64_t clock_now_us(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_tick_us(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu_us(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void clock_pause_us(int64_t us)
{
	const struct timespec time = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };

	if (us > 0)
		(void)nanosleep(&time, NULL);
}

void clock_sleep_us(int64_t us)
{
	int64_t until = clock_tick_us() + us;

	for (; us > 0; us = until - clock_tick_us())
		clock_pause_us(us);
}
