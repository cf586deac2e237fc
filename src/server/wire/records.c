// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fastcgi.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/wire/records.h"

enum {
	RECORD_MAX = 65528,        // longest content of a record, a multiple of 8
	RECORDS_AT_ONCE = 16,
	RECORDS_OF_FILE = 4,       // the same for records read from a file
};

struct record_parts {
	unsigned char heads[RECORDS_AT_ONCE][FCGI_HEADER_LEN];
	struct iovec parts[2 * RECORDS_AT_ONCE];
	size_t n;
};

struct records records_make(uint16_t request_id, const struct spill *spill, struct str body)
{
	size_t spilled = (size_t)spill_size(spill), n = spilled + body.n;

	return (struct records){ .spill = spill, .body = body, .spilled = spilled, .request_id = request_id,
		.n = n + (n + RECORD_MAX - 1) / RECORD_MAX * FCGI_HEADER_LEN };
}

// Adds n bytes to be sent, less the first *skip, which were sent before; *skip is reduced by the bytes skipped.
static void add_part(struct record_parts *parts, void *p, size_t n, size_t *skip)
{
	size_t less = *skip < n ? *skip : n;

	*skip -= less;
	if (n > less)
		parts->parts[parts->n++] = (struct iovec){ .iov_base = (char *)p + less, .iov_len = n - less };
}

static size_t content_length(const struct records *records)
{
	return records->spilled + records->body.n;
}

// Up to RECORD_MAX bytes of the body from `at`; fewer than there are if the spill can't be read. index: the record's number among
// those that are sent at once.
static struct str content_of(const struct records *records, size_t index, size_t at)
{
	static char pieces[RECORDS_OF_FILE][RECORD_MAX];
	size_t left = content_length(records) - at, want = left < RECORD_MAX ? left : RECORD_MAX, got = 0, n;

	if (at >= records->spilled)
		return str_part(records->body, at - records->spilled, at - records->spilled + want);
	size_t of_spill = records->spilled - at < want ? records->spilled - at : want;
	while (got < of_spill && (n = spill_read(records->spill, at + got, pieces[index] + got, of_spill - got)) > 0)
		got += n;
	if (got == of_spill && want > of_spill) {
		memcpy(pieces[index] + got, records->body.p, want - of_spill);
		got = want;
	}
	return str_n(pieces[index], got);
}

// Fills the records that follow at the present position, as many as there is room for. False: the body can't be read.
static bool fill_parts(const struct records *records, struct record_parts *parts)
{
	size_t whole = RECORD_MAX + FCGI_HEADER_LEN, at = records->at / whole * RECORD_MAX, skip = records->at % whole;
	size_t most = records->spilled > 0 ? RECORDS_OF_FILE : RECORDS_AT_ONCE;

	parts->n = 0;
	for (size_t i = 0; i < most && at < content_length(records); i++) {
		struct str content = content_of(records, i, at);
		if (content.n < RECORD_MAX && at + content.n < content_length(records))
			return false;
		memcpy(parts->heads[i], (unsigned char[]){ FCGI_VERSION_1, FCGI_STDOUT, (unsigned char)(records->request_id >> 8),
			(unsigned char)records->request_id, (unsigned char)(content.n >> 8), (unsigned char)content.n, 0, 0 },
			FCGI_HEADER_LEN);
		add_part(parts, parts->heads[i], FCGI_HEADER_LEN, &skip);
		add_part(parts, (void *)(uintptr_t)content.p, content.n, &skip);
		at += content.n;
	}
	return true;
}

bool records_send(int fd, struct records *records, int64_t until_us)
{
	struct record_parts parts;

	assert(fd >= 0 && records->at <= records->n);
	while (records->at < records->n) {
		if (!fill_parts(records, &parts)) {
			errno = EIO;
			return false;
		}
		struct msghdr message = { .msg_iov = parts.parts, .msg_iovlen = parts.n };
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | (until_us != 0 ? MSG_DONTWAIT : 0));
		if (n >= 0) {
			records->at += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		int64_t left_us = until_us - clock_tick_us();
		if (errno != EAGAIN || until_us == 0)
			return false;
		if (left_us <= 0 || poll(&wait, 1, (int)(left_us / 1000) + 1) == 0) {
			errno = EAGAIN;
			return false;
		}
	}
	return true;
}

int records_rest_file(struct records records, bool ends)
{
	const unsigned char end[] = { FCGI_VERSION_1, FCGI_STDOUT, (unsigned char)(records.request_id >> 8),
		(unsigned char)records.request_id, 0, 0, 0, 0, FCGI_VERSION_1, FCGI_END_REQUEST,
		(unsigned char)(records.request_id >> 8), (unsigned char)records.request_id, 0, 8, 0, 0, 0, 0, 0, 0,
		FCGI_REQUEST_COMPLETE, 0, 0, 0 };
	struct record_parts parts;
	int file = memfd_create("answer", MFD_CLOEXEC);

	while (file >= 0 && records.at < records.n) {
		ssize_t n = fill_parts(&records, &parts) ? writev(file, parts.parts, (int)parts.n) : -1;
		if (n <= 0) {
			close(file);
			return -1;
		}
		records.at += (size_t)n;
	}
	if (file < 0 || !ends || write(file, end, sizeof(end)) == (ssize_t)sizeof(end))
		return file;
	close(file);
	return -1;
}
