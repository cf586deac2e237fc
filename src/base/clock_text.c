// SPDX-License-Identifier: Apache-2.0
// Times as text, in UTC.
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"

enum { US = 1000000, DAY = 86400, DAYS_OF_400_YEARS = 146097, DAYS_BEFORE_1970 = 719468 /* from 1 March of the year 0 */ };

// The quotient, rounded towards minus infinity.
static int64_t divide_down(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

// Calendar time of us microseconds since 1970, rounded down to a second, also before 1970. gmtime_r() is not used because it
// locks the time zone, which is slow in a list with a thousand times. Years begin on 1 March, so a leap day is the last day of
// its year.
static struct tm utc(int64_t us)
{
	int64_t seconds = divide_down(us, US), day = divide_down(seconds, DAY);
	int64_t since = day + DAYS_BEFORE_1970, era = divide_down(since, DAYS_OF_400_YEARS);
	int of_day = (int)(seconds - day * DAY), of_era = (int)(since - era * DAYS_OF_400_YEARS);
	int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365; // year within a period of 400 years
	int of_year = of_era - (365 * year + year / 4 - year / 100);
	int month = (5 * of_year + 2) / 153; // March is 0; a period of five months has 153 days

	return (struct tm){
		.tm_sec = of_day % 60,
		.tm_min = of_day / 60 % 60,
		.tm_hour = of_day / 3600,
		.tm_mday = of_year - (153 * month + 2) / 5 + 1,
		.tm_mon = month < 10 ? month + 2 : month - 10,
		.tm_year = (int)(era * 400) + year + (month < 10 ? 0 : 1) - 1900,
		.tm_wday = (int)(day + 4 - 7 * divide_down(day + 4, 7)), // 1 January 1970 was a Thursday
	};
}

// Not from strftime(), because its names depend on the locale.
static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char months[12][4] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
};

// Appends a number with leading zeros. printf() would take most of the time of writing a line of the access log.
static void add_digits(struct buf *buf, int value, int digits)
{
	char *text = buf_more(buf, (size_t)digits);

	assert(value >= 0);
	for (int i = digits; i > 0; i--, value /= 10)
		text[i - 1] = (char)('0' + value % 10);
	buf->n += (size_t)digits;
}

static void add_year(struct buf *buf, int year)
{
	if (year >= 0 && year <= 9999)
		add_digits(buf, year, 4);
	else
		buf_addf(buf, "%04d", year);
}

// Writes a number of two digits, and a character behind it.
static char *put_two(char *to, int value, char behind)
{
	assert(value >= 0 && value < 100);
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
	to[2] = behind;
	return to + 3;
}

static void add_time(struct buf *buf, const struct tm *t, char behind)
{
	char *to = buf_more(buf, 9);

	to = put_two(to, t->tm_hour, ':');
	to = put_two(to, t->tm_min, ':');
	(void)put_two(to, t->tm_sec, behind);
	buf->n += 9;
}

void clock_add_rfc3339(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	add_year(buf, t.tm_year + 1900);
	char *to = buf_more(buf, 7);
	to[0] = '-';
	(void)put_two(put_two(to + 1, t.tm_mon + 1, '-'), t.tm_mday, 'T');
	buf->n += 7;
	add_time(buf, &t, 'Z');
}

void clock_add_http_date(struct buf *buf, int64_t us)
{
	struct tm t = utc(us);

	buf_addf(buf, "%s, %02d %s ", days[t.tm_wday], t.tm_mday, months[t.tm_mon]);
	add_year(buf, t.tm_year + 1900);
	buf_addc(buf, ' ');
	add_time(buf, &t, ' ');
	BUF_LIT(buf, "GMT");
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
	add_time(buf, &t, ' ');
	BUF_LIT(buf, "+0000");
}

// ---- reading

// Reads as many digits from *text, which it shortens. False: there are not so many.
static bool take_digits(struct str *text, size_t digits, int64_t *value)
{
	*value = 0;
	if (text->n < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (text->p[i] < '0' || text->p[i] > '9')
			return false;
		*value = *value * 10 + (text->p[i] - '0');
	}
	*text = str_part(*text, digits, text->n);
	return true;
}

static bool take_char(struct str *text, char c)
{
	if (text->n == 0 || text->p[0] != c)
		return false;
	*text = str_part(*text, 1, text->n);
	return true;
}

static int days_of_month(int64_t year, int64_t month)
{
	static const int of[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return of[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Days from 1970-01-01 to that day, by years that begin on 1 March.
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = divide_down(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_BEFORE_1970;
}

// Takes the fraction of a second, if there is one.
static bool take_fraction(struct str *text, int64_t *us)
{
	int64_t digit, unit = US / 10;

	*us = 0;
	if (!take_char(text, '.'))
		return true;
	for (int n = 0; n < 9; n++, unit /= 10) {
		if (!take_digits(text, 1, &digit))
			return n > 0;
		*us += digit * unit;
	}
	return true;
}

static bool take_offset(struct str *text, int64_t *seconds)
{
	int64_t hours, minutes;
	bool east = text->n > 0 && text->p[0] == '+';

	*seconds = 0;
	if (text->n == 0 || take_char(text, 'Z'))
		return true;
	if (!take_char(text, east ? '+' : '-') || !take_digits(text, 2, &hours) || !take_char(text, ':') || !take_digits(text, 2, &minutes))
		return false;
	*seconds = (hours * 3600 + minutes * 60) * (east ? 1 : -1);
	return hours <= 14 && minutes <= 59;
}

// Takes "2026-11-21", whether there is such a day or not.
static bool take_date(struct str *text, int64_t *year, int64_t *month, int64_t *day)
{
	return take_digits(text, 4, year) && take_char(text, '-') && take_digits(text, 2, month) && take_char(text, '-') && take_digits(text, 2, day);
}

bool clock_is_no_day(struct str text, int *days_there)
{
	int64_t year, month, day;

	if (!take_date(&text, &year, &month, &day) || month < 1 || month > 12)
		return false;
	*days_there = days_of_month(year, month);
	return day < 1 || day > *days_there;
}

bool clock_parse_rfc3339(struct str text, int64_t *us)
{
	int64_t year, month, day, hour, minute, second, fraction, offset;

	if (!take_date(&text, &year, &month, &day) || !take_char(&text, 'T') || !take_digits(&text, 2, &hour) || !take_char(&text, ':') ||
		!take_digits(&text, 2, &minute) || !take_char(&text, ':') || !take_digits(&text, 2, &second))
		return false;
	if (!take_fraction(&text, &fraction) || !take_offset(&text, &offset) || text.n > 0)
		return false;
	if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 || minute > 59 || second > 59)
		return false;
	*us = ((days_since_1970(year, month, day) * DAY + hour * 3600 + minute * 60 + second) - offset) * US + fraction;
	return true;
}
