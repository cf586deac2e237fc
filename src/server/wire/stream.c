// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/wire/stream.h"

#include <errno.h>
#include <fastcgi.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum { SPARE_MAX = 256 << 10 };
enum { CONTENT_MAX = 32768, TYPE_AT = 1, LENGTH_AT = 4, PADDING_AT = 6 };

_Static_assert((int)STREAM_HEAD == (int)FCGI_HEADER_LEN, "a record's head");

void stream_open(struct stream *stream, int fd, uint16_t request_id)
{
	assert(fd >= 0);
	*stream = (struct stream){ .fd = fd, .request_id = request_id, .file = -1, .moved_us = clock_tick_us() };
}

// Workers use connections that block; sendfile() would then wait until one client has taken all that it was given, and so would
// others.
bool stream_begin(struct stream *stream, int file)
{
	struct stat st;

	assert(stream->fd >= 0 && stream->file < 0 && stream->n == 0 && file >= 0);
	stream->file = file;
	if (fstat(file, &st) < 0 || fcntl(stream->fd, F_SETFL, O_NONBLOCK) < 0)
		return false;
	stream->file_size = st.st_size;
	return true;
}

void stream_close(struct stream *stream)
{
	assert(stream->fd >= 0);
	close(stream->fd);
	if (stream->file >= 0)
		close(stream->file);
	free(stream->out);
	*stream = (struct stream){ .fd = -1, .file = -1 };
}

size_t stream_waiting(const struct stream *stream)
{
	assert(stream->sent <= stream->n && stream->n <= stream->room);
	return stream->n - stream->sent;
}

uint64_t stream_waiting_in_file(const struct stream *stream)
{
	assert(stream->file_at <= stream->file_size);
	return (uint64_t)(stream->file_size - stream->file_at);
}

uint64_t stream_unsent(const struct stream *stream)
{
	return stream_waiting(stream) + stream_waiting_in_file(stream);
}

// ---- out

// Makes room for n bytes more at the end of the buffer; bytes already sent are dropped first. False: no memory.
static bool make_room(struct stream *stream, size_t n)
{
	if (stream->sent > 0) {
		memmove(stream->out, stream->out + stream->sent, stream_waiting(stream));
		stream->n -= stream->sent;
		stream->sent = 0;
	}
	if (stream->n + n <= stream->room)
		return true;
	// Twice the bytes, as long as that is little.
	size_t spare = stream->n + n < SPARE_MAX ? stream->n + n : SPARE_MAX;
	char *more = realloc(stream->out, stream->n + n + spare);
	if (more == NULL)
		return false;
	stream->out = more;
	stream->room = stream->n + n + spare;
	return true;
}

// Appends one record with its head. content has at most CONTENT_MAX bytes. False: no memory.
static bool add_record(struct stream *stream, unsigned char type, struct str content)
{
	const unsigned char head[STREAM_HEAD] = { FCGI_VERSION_1, type, (unsigned char)(stream->request_id >> 8),
		(unsigned char)stream->request_id, (unsigned char)(content.n >> 8), (unsigned char)content.n, 0, 0 };

	assert(content.n <= CONTENT_MAX);
	if (!make_room(stream, sizeof(head) + content.n))
		return false;
	memcpy(stream->out + stream->n, head, sizeof(head));
	if (content.n > 0)
		memcpy(stream->out + stream->n + sizeof(head), content.p, content.n);
	stream->n += sizeof(head) + content.n;
	return true;
}

bool stream_add(struct stream *stream, struct str text)
{
	assert(stream->fd >= 0 && !stream->ended);
	if (stream_unsent(stream) == 0)
		stream->moved_us = clock_tick_us();
	for (size_t at = 0; at < text.n; at += CONTENT_MAX) {
		size_t to = at + CONTENT_MAX < text.n ? at + CONTENT_MAX : text.n;
		if (!add_record(stream, FCGI_STDOUT, str_part(text, at, to)))
			return false;
	}
	return true;
}

bool stream_end(struct stream *stream)
{
	static const char complete[8] = { 0 }; // application status 0, protocol status FCGI_REQUEST_COMPLETE

	assert(stream->fd >= 0 && !stream->ended);
	// The connection is closed after the answer: a request that the web server sends on it until then fails there.
	(void)shutdown(stream->fd, SHUT_RD);
	stream->ended = true;
	if (stream_unsent(stream) == 0)
		stream->moved_us = clock_tick_us();
	return add_record(stream, FCGI_STDOUT, STR("")) &&
	       add_record(stream, FCGI_END_REQUEST, str_n(complete, sizeof(complete)));
}

// Frees the buffer, so that a large one is not kept.
void stream_forget(struct stream *stream)
{
	free(stream->out);
	stream->out = NULL;
	stream->n = stream->sent = stream->room = 0;
}

static bool accepts_later(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

// Writes up to STREAM_FILE_AT_ONCE bytes of the file, and closes it after the last one. False: the peer is gone.
static bool write_file(struct stream *stream)
{
	off_t until = stream->file_size - stream->file_at > STREAM_FILE_AT_ONCE ? stream->file_at + STREAM_FILE_AT_ONCE : stream->file_size;

	while (stream->file_at < until) {
		ssize_t n = sendfile(stream->fd, stream->file, &stream->file_at, (size_t)(until - stream->file_at));
		if (n <= 0)
			return n < 0 && accepts_later();
		stream->moved_us = clock_tick_us();
	}
	if (stream->file >= 0 && stream->file_at == stream->file_size) {
		close(stream->file);
		stream->file = -1;
	}
	return true;
}

bool stream_write(struct stream *stream)
{
	if (!write_file(stream))
		return false;
	if (stream->file >= 0)
		return true;
	while (stream_waiting(stream) > 0) {
		ssize_t n = send(stream->fd, stream->out + stream->sent, stream_waiting(stream), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return accepts_later();
		stream->sent += (size_t)n;
		stream->moved_us = clock_tick_us();
	}
	stream_forget(stream);
	return true;
}

// ---- input: only an abort can come

// Takes one byte of the input. False: the web server has aborted the request.
static bool take_byte(struct stream *stream, unsigned char byte)
{
	assert(stream->n_head < sizeof(stream->head));
	if (stream->to_skip > 0) {
		stream->to_skip--;
		return true;
	}
	stream->head[stream->n_head++] = byte;
	if (stream->n_head < sizeof(stream->head))
		return true;
	stream->n_head = 0;
	stream->to_skip = (size_t)(stream->head[LENGTH_AT] << 8 | stream->head[LENGTH_AT + 1]) + stream->head[PADDING_AT];
	return stream->head[TYPE_AT] != FCGI_ABORT_REQUEST;
}

bool stream_read(struct stream *stream)
{
	assert(stream->fd >= 0);
	unsigned char bytes[512];
	ssize_t n = recv(stream->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	for (ssize_t i = 0; i < n; i++) {
		if (!take_byte(stream, bytes[i]))
			return false;
	}
	return n > 0 || stream->ended;
}
