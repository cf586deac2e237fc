// SPDX-License-Identifier: Apache-2.0
// An answer of unknown length, written as FastCGI records to a connection that was handed over. Never blocks: what the web server
// doesn't accept is kept until it does. It may begin with a file, which can be much larger than what waits in memory.
#ifndef TENURE_SERVER_WIRE_STREAM_H
#define TENURE_SERVER_WIRE_STREAM_H

#include "base/str.h"

enum { STREAM_HEAD = 8, STREAM_FILE_AT_ONCE = 1 << 20 };

struct stream {
	int fd;
	uint16_t request_id;
	int file;           // what comes before out, as it is to be written; -1: none, or all of it is written
	off_t file_at, file_size;
	char *out;          // from malloc; bytes from sent to n are waiting
	size_t sent, n, room;
	int64_t moved_us;   // clock_tick_us() when the web server last accepted bytes, or when nothing was waiting
	bool ended;         // true once the end of the answer was added
	unsigned char head[STREAM_HEAD]; // head of a record being received
	size_t n_head;
	size_t to_skip;     // bytes of that record's content still to be skipped
};

// Opens a stream, which owns fd from now on.
void stream_open(struct stream *stream, int fd, uint16_t request_id);
// Lets the answer go on with the file, which the stream owns from now on, before anything is added. False: the system refuses.
bool stream_begin(struct stream *stream, int file);
void stream_close(struct stream *stream);
// Bytes that wait in memory; in the file; both.
size_t stream_waiting(const struct stream *stream);
uint64_t stream_waiting_in_file(const struct stream *stream);
uint64_t stream_unsent(const struct stream *stream);
// Adds content to the answer. False: no memory.
bool stream_add(struct stream *stream, struct str text);
// Adds the end of the answer; nothing may be added after it.
bool stream_end(struct stream *stream);
// Writes what the connection accepts now; of the file at most STREAM_FILE_AT_ONCE bytes, so that other streams get their turn.
// False: the peer is gone.
bool stream_write(struct stream *stream);
// Discards the bytes that wait in memory. The stream may only be closed after that.
void stream_forget(struct stream *stream);
// Reads and discards what the peer sent. False: the peer is gone, or has aborted the request.
bool stream_read(struct stream *stream);

#endif
