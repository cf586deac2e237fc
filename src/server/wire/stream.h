// SPDX-License-Identifier: Apache-2.0
// An answer that goes on, as FastCGI records, on a connection that was handed over. Never waits: what the web server
// doesn't take is kept until it does.
#ifndef TENURE_SERVER_WIRE_STREAM_H
#define TENURE_SERVER_WIRE_STREAM_H

#include "base/str.h"

enum { STREAM_HEAD = 8 };

struct stream {
	int fd;
	uint16_t request_id;
	char *out;          // from malloc; bytes from sent to n wait
	size_t sent, n, room;
	int64_t moved_us;   // clock_tick_us when the web server last took something, or had taken all
	bool ended;         // the end was added
	unsigned char head[STREAM_HEAD]; // of a record that comes in
	size_t n_head;
	size_t to_skip;     // of its content
};

// Takes fd.
void stream_open(struct stream *stream, int fd, uint16_t request_id);
void stream_close(struct stream *stream);
size_t stream_waiting(const struct stream *stream);
// Adds content. False: no memory.
bool stream_add(struct stream *stream, struct str text);
// Adds the end of the answer; nothing can follow.
bool stream_end(struct stream *stream);
// Writes what goes. False: the peer is gone.
bool stream_write(struct stream *stream);
// Drops what waits; the connection is of no use then but to be closed.
void stream_forget(struct stream *stream);
// Reads what comes. False: the peer is gone, or wants no more.
bool stream_read(struct stream *stream);

#endif
