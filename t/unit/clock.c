// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <signal.h>
#include <sys/time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "tap.h"

typedef void add_time(struct buf *buf, int64_t us);

static void check(struct pool *pool, add_time *add, int64_t us, const char *want)
{
	struct buf buf = buf_new(pool, 0);

	add(&buf, us);
	is_str(buf_str(&buf), want, "%s", want);
}

// The C library's calendar, which asks for the time zone each time.
static bool is_as_the_library_has_it(struct pool *pool, int64_t us)
{
	time_t seconds = (time_t)((us - (us % 1000000 + 1000000) % 1000000) / 1000000);
	struct tm t;
	char want[2][64];
	struct buf rfc3339 = buf_new(pool, 64), http = buf_new(pool, 64);

	if (gmtime_r(&seconds, &t) == NULL)
		return false;
	(void)strftime(want[0], sizeof(want[0]), "%Y-%m-%dT%H:%M:%SZ", &t);
	(void)strftime(want[1], sizeof(want[1]), "%a, %d %b %Y %H:%M:%S GMT", &t);
	clock_add_rfc3339(&rfc3339, us);
	clock_add_http_date(&http, us);
	if (str_eq_c(buf_str(&rfc3339), want[0]) && str_eq_c(buf_str(&http), want[1]))
		return true;
	diag("%lld: %.*s, not %s; %.*s, not %s", (long long)us, STR_ARG(rfc3339), want[0], STR_ARG(http),
		want[1]);
	return false;
}

static void test_calendar(struct pool *pool)
{
	static const int64_t day = INT64_C(86400) * 1000000;
	bool same = true;

	// Every day of 1583 to 2483, more than the 400 years after which it repeats, each at another time of the day.
	for (int64_t n = -141352; same && n < 187000; n++) {
		same = is_as_the_library_has_it(pool, n * day + n * 7919 % 86400 * 1000000) && is_as_the_library_has_it(pool, n * day - 1);
		pool_clear(pool);
	}
	ok(same, "every day of 900 years is the C library's");
}

// Each time that is written is read as the same second; what is no time is refused.
static void test_reading(struct pool *pool)
{
	static const struct { const char *text; int64_t us; } times[] = {
		{ "1970-01-01T00:00:00Z", 0 }, { "1970-01-01T00:00:00", 0 }, { "1970-01-01T01:00:00+01:00", 0 },
		{ "1969-12-31T16:30:00-07:30", 0 }, { "2000-02-29T00:00:00Z", INT64_C(951782400000000) },
		{ "2026-11-21T05:24:00.5Z", INT64_C(1795238640500000) }, { "2026-11-21T05:24:00.123456789Z", INT64_C(1795238640123456) },
		{ "1969-12-31T23:59:59.999999Z", -1 }, { "9999-12-31T23:59:59Z", INT64_C(253402300799000000) },
		{ "0001-01-01T00:00:00Z", INT64_C(-62135596800000000) },
	};
	static const char *const none[] = {
		"", "2026", "2026-11-21", "2026-11-21T05:24Z", "2026-11-21 05:24:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
		"2026-01-01T00:00:00+15:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00ZZ", "2026-01-01T00:00:00.1234567890Z", "+026-01-01T00:00:00Z",
		"2026-01-01T00:00:00+0100",
	};
	static const struct { const char *text; int days; } no_days[] = {
		{ "2026-02-30T00:00:00Z", 28 }, { "2024-02-30", 29 }, { "2026-04-31T00:00:00Z", 30 }, { "2026-01-00", 31 }, { "1900-02-29", 28 },
	};
	static const char *const others[] = { "2026-02-28", "2024-02-29T00:00:00Z", "2026-13-01", "2026-00-01", "yesterday", "2026-2-30", "" };
	bool same = true;
	int64_t us;
	int days;

	for (size_t i = 0; i < COUNT_OF(times); i++)
		ok(clock_parse_rfc3339(str_c(times[i].text), &us) && us == times[i].us, "%s is read", times[i].text);
	for (size_t i = 0; i < COUNT_OF(none); i++)
		ok(!clock_parse_rfc3339(str_c(none[i]), &us), "\"%s\" is no time", none[i]);
	for (size_t i = 0; i < COUNT_OF(no_days); i++)
		ok(clock_is_no_day(str_c(no_days[i].text), &days) && days == no_days[i].days, "%s is no day", no_days[i].text);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		ok(!clock_is_no_day(str_c(others[i]), &days), "\"%s\" is a day, or no date", others[i]);
	for (int64_t n = -141352; same && n < 187000; n += 13) {
		struct buf buf = buf_new(pool, 32);
		int64_t second = n * 86400 + n * n % 86400;
		clock_add_rfc3339(&buf, second * 1000000);
		same = clock_parse_rfc3339(buf_str(&buf), &us) && us == second * 1000000;
		pool_clear(pool);
	}
	ok(same, "what is written is read as the same time");
}

static void note_alarm(int number)
{
	UNUSED(number);
}

// With a signal every two milliseconds, which is handled.
static void test_sleeping(void)
{
	const struct sigaction action = { .sa_handler = note_alarm };
	const struct itimerval often = { { .tv_usec = 2000 }, { .tv_usec = 2000 } }, never = { .it_value.tv_usec = 0 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	int64_t began = clock_tick_us();
	clock_sleep_us(50000);
	ok(clock_tick_us() - began >= 50000, "sleeps for all of the time, whatever signals come");
	began = clock_tick_us();
	clock_pause_ms(60000);
	ok(clock_tick_us() - began < 60000000, "a pause ends with a signal");
	setitimer(ITIMER_REAL, &never, NULL);
	began = clock_tick_us();
	clock_sleep_us(0), clock_sleep_us(-1), clock_sleep_us(INT64_MIN), clock_pause_us(INT64_MIN);
	ok(clock_tick_us() >= began, "no time is no sleep");
}

int main(void)
{
	struct pool *pool = pool_new();
	static const int64_t second = 1000000;

	check(pool, clock_add_rfc3339, 0, "1970-01-01T00:00:00Z");
	check(pool, clock_add_rfc3339, 1795238640 * second + 999999, "2026-11-21T05:24:00Z");
	check(pool, clock_add_rfc3339, 951782400 * second, "2000-02-29T00:00:00Z");
	check(pool, clock_add_rfc3339, -1, "1969-12-31T23:59:59Z");
	check(pool, clock_add_rfc3339, -second, "1969-12-31T23:59:59Z");
	check(pool, clock_add_rfc3339, 253402300799 * second, "9999-12-31T23:59:59Z");
	check(pool, clock_add_http_date, 784111777 * second, "Sun, 06 Nov 1994 08:49:37 GMT");
	check(pool, clock_add_http_date, 1795238640 * second, "Sat, 21 Nov 2026 05:24:00 GMT");
	check(pool, clock_add_clf, 1795238640 * second, "21/Nov/2026:05:24:00 +0000");
	// The extremes of the type must not crash.
	struct buf buf = buf_new(pool, 0);
	clock_add_rfc3339(&buf, INT64_MAX);
	clock_add_rfc3339(&buf, INT64_MIN);
	ok(buf.n > 0, "any 64-bit value has a text");

	test_calendar(pool);
	test_reading(pool);
	test_sleeping();
	int64_t before = clock_tick_us();
	int64_t after = clock_tick_us();
	ok(after >= before, "the monotonic clock does not go back");
	int64_t coarse = (int64_t)time(NULL);
	ok(clock_now_us() / second >= coarse - 1 && clock_now_us() / second - coarse < 3600, "now is now");
	pool_free(&pool);
	return done_testing();
}
