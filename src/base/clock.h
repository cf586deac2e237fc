// SPDX-License-Identifier: Apache-2.0
// Time as the registry keeps it: microseconds since 1970-01-01T00:00:00Z.
#ifndef TENURE_BASE_CLOCK_H
#define TENURE_BASE_CLOCK_H

#include "base/str.h"

struct buf;

// The last second that RFC 3339 and the database can have: 9999-12-31T23:59:59Z.
#define CLOCK_LAST_US INT64_C(253402300799000000)

// Wall clock, microseconds since the epoch.
int64_t clock_now_us(void);
// Monotonic clock, microseconds; only differences mean something.
int64_t clock_tick_us(void);
// CPU time of the calling thread, in microseconds.
int64_t clock_cpu_us(void);
// Sleeps for so long, or until a signal is handled; not at all if us is not above 0.
void clock_pause_us(int64_t us);
static inline void clock_pause_ms(int64_t ms)
{
	clock_pause_us(ms * 1000);
}
// Sleeps for so long, whatever signals are handled meanwhile.
void clock_sleep_us(int64_t us);
// RFC 3339 in UTC with second precision and Z: "2026-11-21T05:24:00Z".
void clock_add_rfc3339(struct buf *buf, int64_t us);
// Reads RFC 3339: "2026-11-21T05:24:00Z", with a fraction of up to 9 digits of which 6 count, and Z, "+01:00" or nothing, which
// is UTC, at its end. False: it is no such time, or of a day that the month does not have.
bool clock_parse_rfc3339(struct str text, int64_t *us);
// For error texts: does the text begin with a day that its month does not have, as 2026-02-30 does? *days_there: how many days
// that month has.
bool clock_is_no_day(struct str text, int *days_there);
// RFC 9110 IMF-fixdate: "Sat, 21 Nov 2026 05:24:00 GMT".
void clock_add_http_date(struct buf *buf, int64_t us);
// Apache's log form: "21/Nov/2026:05:24:00 +0000".
void clock_add_clf(struct buf *buf, int64_t us);

#endif
