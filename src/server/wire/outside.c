// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <fastcgi.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/str.h"
#include "server/wire/outside.h"

enum {
	RECORDS_MOST = 64,                     // records that are taken off in a row
	RECORD_SIZE = FCGI_HEADER_LEN + 65535 + 255, // the longest record: head, content, padding
	NAP_MS = 1,
};

static unsigned char record[RECORD_SIZE];

bool outside_begins(const unsigned char *bytes, size_t n)
{
	return n > 0 && bytes[0] == FCGI_VERSION_1 && (n == 1 || bytes[1] != FCGI_BEGIN_REQUEST);
}

// ---- answers

static bool send_record(int fd, int type, const void *content, size_t n)
{
	unsigned char out[64] = { FCGI_VERSION_1, (unsigned char)type, 0, FCGI_NULL_REQUEST_ID, 0, (unsigned char)n, 0, 0 };
	size_t size = FCGI_HEADER_LEN + n;

	assert(size <= sizeof(out));
	memcpy(out + FCGI_HEADER_LEN, content, n);
	return send(fd, out, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

// Takes a length from the front of *rest: one byte, or four bytes if the highest bit of the first is set.
static bool take_length(struct str *rest, size_t *length)
{
	const unsigned char *p = (const unsigned char *)rest->p;
	size_t size = rest->n > 0 && p[0] >= 0x80 ? 4 : 1;

	if (rest->n < size)
		return false;
	*length = size == 1 ? p[0] : (size_t)(p[0] & 0x7f) << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	*rest = str_part(*rest, size, rest->n);
	return true;
}

// Takes a name with its value from the front of *rest. False: there is no complete one.
static bool take_pair(struct str *rest, struct str *name)
{
	size_t name_n, value_n;

	if (!take_length(rest, &name_n) || !take_length(rest, &value_n) || name_n > rest->n || value_n > rest->n - name_n)
		return false;
	*name = str_part(*rest, 0, name_n);
	*rest = str_part(*rest, name_n + value_n, rest->n);
	return true;
}

// Answers that requests are not multiplexed, as libfcgi does. How many connections and requests are possible depends on the
// number of workers, which a single one does not know, so those names are left out, which the specification allows.
static bool answer_values(int fd, struct str asked)
{
	static const char no_multiplexing[] = "\x0f\x01" FCGI_MPXS_CONNS "0";
	bool wants = false;
	struct str name;

	while (take_pair(&asked, &name))
		wants = wants || str_eq(name, STR(FCGI_MPXS_CONNS));
	return send_record(fd, FCGI_GET_VALUES_RESULT, no_multiplexing, wants ? sizeof(no_multiplexing) - 1 : 0);
}

// Answers the record if it is a management record. Any other one is of a request that has ended, or never began, and is ignored.
static bool answer(int fd)
{
	const unsigned char unknown[8] = { record[1] };
	bool is_management = record[2] == 0 && record[3] == FCGI_NULL_REQUEST_ID;

	if (!is_management)
		return true;
	if (record[1] != FCGI_GET_VALUES)
		return send_record(fd, FCGI_UNKNOWN_TYPE, unknown, sizeof(unknown));
	return answer_values(fd, str_n((const char *)record + FCGI_HEADER_LEN, (size_t)record[4] << 8 | record[5]));
}

// ---- taking records off

enum found { FOUND_NONE, FOUND_WHOLE, FOUND_CUT };

// Looks for a record, without taking it off. FOUND_WHOLE: it is in `record`, and has *size bytes.
static enum found look(int fd, int64_t until_us, size_t *size)
{
	for (bool over = false;;) {
		ssize_t n = recv(fd, record, sizeof(record), MSG_PEEK | MSG_DONTWAIT);
		if (n <= 0 || !outside_begins(record, (size_t)n))
			return FOUND_NONE;
		*size = n < FCGI_HEADER_LEN ? RECORD_SIZE : FCGI_HEADER_LEN + ((size_t)record[4] << 8 | record[5]) + record[6];
		if ((size_t)n >= *size)
			return FOUND_WHOLE;
		if (over || clock_tick_us() >= until_us)
			return FOUND_CUT;
		struct pollfd end = { .fd = fd, .events = POLLRDHUP };
		over = poll(&end, 1, NAP_MS) > 0; // the peer will send nothing more
	}
}

bool outside_pass(int fd, unsigned patience_ms)
{
	int64_t until_us = clock_tick_us() + patience_ms * INT64_C(1000);
	size_t size;

	assert(fd >= 0);
	for (int i = 0; i < RECORDS_MOST; i++) {
		enum found found = look(fd, until_us, &size);
		if (found != FOUND_WHOLE)
			return found == FOUND_NONE;
		if (recv(fd, record, size, MSG_DONTWAIT) != (ssize_t)size || !answer(fd))
			return false;
	}
	return false;
}
