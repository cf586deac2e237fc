// SPDX-License-Identifier: Apache-2.0
// Parameters that are looked at before libfcgi allocates what they claim.
#include "base/base.h"

#include "server/wire/params_ahead.h"
#include "tap.h"

enum { MAX = 1000 };

static unsigned char bytes[128 << 10];
static size_t n;

static void add(const void *p, size_t length)
{
	memcpy(bytes + n, p, length);
	n += length;
}

// A record of that type with padding.
static void add_record(int type, const void *content, size_t length, size_t padding)
{
	const unsigned char head[8] = { 1, (unsigned char)type, 0, 1, (unsigned char)(length >> 8), (unsigned char)length,
		(unsigned char)padding, 0 };

	add(head, sizeof(head));
	add(content, length);
	memset(bytes + n, 0xff, padding);
	n += padding;
}

static void begin(void)
{
	n = 0;
	add_record(1, "\0\1\0\0\0\0\0\0", 8, 0);
}

static void whole_requests(void)
{
	begin();
	add_record(4, "\1\2abb\3\0abc", 11, 5);
	add_record(4, "", 0, 3);
	size_t whole = n;
	for (size_t i = 0; i < whole; i++) {
		bool last = i >= whole - 3; // padding of the last record
		is_int(params_ahead_look(bytes, i, MAX), last ? PARAMS_WHOLE : PARAMS_PART, "%zu of %zu bytes", i, whole);
	}
	add_record(5, "body", 4, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_WHOLE, "with a body behind them");
	begin();
	add_record(4, "\200", 1, 0);
	add_record(4, "\0\0", 2, 7);
	add_record(4, "\1\1ab", 4, 0);
	add_record(4, "", 0, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_WHOLE, "a length of four bytes, over several records");
	is_int(params_ahead_look((const unsigned char *)"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 28, MAX), PARAMS_WHOLE,
		"no FastCGI is the library's");
	is_int(params_ahead_look(bytes, 0, MAX), PARAMS_PART, "nothing");
}

static void claims(void)
{
	static const struct {
		const char *content, *what;
		size_t n;
	} cases[] = {
		{ "\1\377\377\377\377a", "a value of 2 GiB", 6 },
		{ "\377\377\377\377\1a", "a name of 2 GiB", 6 },
		{ "\377\377\377\377\377\377\377\377a", "both, whose sum overflows an int", 9 },
		{ "\1\200\0\3\350a", "a byte more than may be, with the name", 6 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		begin();
		add_record(4, cases[i].content, cases[i].n, 0);
		is_int(params_ahead_look(bytes, n, MAX), PARAMS_TOO_MUCH, "%s", cases[i].what);
	}
	begin();
	add_record(4, "\1\200\0\3\347a", 6, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_PART, "as much as may be, which is not there yet");
	begin();
	for (int i = 0; i < 20; i++)
		add_record(4,
			"\0\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61\61", 51, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_PART, "980 bytes in all");
	add_record(4, "\0\61", 2, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_TOO_MUCH, "1029 bytes in all");
	begin();
	for (int i = 0; i < PARAMS_MOST; i++)
		add_record(4, "\0\0", 2, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_PART, "as many as may be");
	add_record(4, "\0\0", 2, 0);
	is_int(params_ahead_look(bytes, n, MAX), PARAMS_TOO_MUCH, "one more");
}

int main(void)
{
	whole_requests();
	claims();
	return done_testing();
}
