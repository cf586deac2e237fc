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

// With leading zeros; printf would be most of the price of a line in the access log.
static void add_digits(struct buf *buf, int value, int digits)
{
	char text[8];

	assert(value >= 0 && digits < (int)sizeof(text));
	for (int i = digits; i > 0; i--, value /= 10)
		text[i - 1] = (char)('0' + value % 10);
	buf_add(buf, str_n(text, (size_t)digits));
}

static void add_year(struct buf *buf, int year)
{
	if (year >= 0 && year <= 9999)
		add_digits(buf, year, 4);
	else
		buf_addf(buf, "%04d", year);
}

static void add_time(struct buf *buf, const struct tm *t)
{
	add_digits(buf, t->tm_hour, 2);
	buf_addc(buf, ':');
	add_digits(buf, t->tm_min, 2);
	buf_addc(buf, ':');
	add_digits(buf, t->tm_sec, 2);
}

void clock_add_rfc3339(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	add_year(buf, t.tm_year + 1900);
	buf_addc(buf, '-');
	add_digits(buf, t.tm_mon + 1, 2);
	buf_addc(buf, '-');
	add_digits(buf, t.tm_mday, 2);
	buf_addc(buf, 'T');
	add_time(buf, &t);
	buf_addc(buf, 'Z');
}

void clock_add_http_date(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	buf_addf(buf, "%s, %02d %s ", days[t.tm_wday], t.tm_mday, months[t.tm_mon]);
	add_year(buf, t.tm_year + 1900);
	buf_addc(buf, ' ');
	add_time(buf, &t);
	BUF_LIT(buf, " GMT");
}

void clock_add_clf(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	add_digits(buf, t.tm_mday, 2);
	buf_addc(buf, '/');
	buf_add(buf, str_c(months[t.tm_mon]));
	buf_addc(buf, '/');
	add_year(buf, t.tm_year + 1900);
	buf_addc(buf, ':');
	add_time(buf, &t);
	BUF_LIT(buf, " +0000");
}
