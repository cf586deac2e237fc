// SPDX-License-Identifier: Apache-2.0
// What the benchmark's programs share. They measure what Tenure is held against, so they use none of its code beyond base.h (but
// etag-cost, which measures a part of it) and the texts of its statements, and end at the first thing that goes wrong.
#ifndef TENURE_BENCH_H
#define TENURE_BENCH_H

#include "base/base.h"

#include <errno.h>

#define die(...) ((void)fprintf(stderr, "bench: " __VA_ARGS__), (void)fputc('\n', stderr), exit(1))

static inline double bench_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// A number from 1 to most, or the end.
static inline unsigned bench_number(const char *text, unsigned most)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || n == 0 || n > most)
		die("\"%s\" is no number from 1 to %u", text, most);
	return (unsigned)n;
}

#endif
