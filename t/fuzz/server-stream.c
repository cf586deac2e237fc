// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// FastCGI records that come in while an answer goes on: whole or in pieces, they are read or end the connection.
#include "fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

#include "server/wire/stream.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct stream stream;
	int ends[2];
	bool open = true;

	UNUSED(pool);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
	stream_open(&stream, ends[0], 1);
	MUST(stream_add(&stream, STR("HTTP")));
	for (size_t at = 0, step; open && at < input.n; at += step) {
		step = (unsigned char)input.p[at] + 1U;
		struct str part = str_part(input, at, at + step);
		ssize_t sent = write(ends[1], part.p, part.n);
		MUST(sent == (ssize_t)part.n || sent < 0);
		open = stream_read(&stream);
		MUST(stream.n_head <= STREAM_HEAD);
	}
	if (open)
		MUST(stream_end(&stream));
	(void)stream_write(&stream);
	close(ends[1]);
	while (stream_read(&stream))
		continue;
	stream_close(&stream);
}
