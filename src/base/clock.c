// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
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

// The second that us lies in; before 1970, too, the earlier one.
static struct tm utc(int64_t us)
{
	time_t seconds = (time_t)(us / US - (us % US < 0));
	struct tm tm;

	// Fails only where the year does not fit an int, which microseconds in 64 bits can't reach.
	if (gmtime_r(&seconds, &tm) == NULL)
		abort();
	return tm;
}

// Written out because strftime's depend on the locale.
static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char months[12][4] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
};

void clock_add_rfc3339(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	buf_addf(buf, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
	         t.tm_sec);
}

void clock_add_http_date(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	buf_addf(buf, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
	         t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

void clock_add_clf(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	buf_addf(buf, "%02d/%s/%04d:%02d:%02d:%02d +0000", t.tm_mday, months[t.tm_mon], t.tm_year + 1900, t.tm_hour,
	         t.tm_min, t.tm_sec);
}
