// SPDX-License-Identifier: Apache-2.0
// floor SOCKET WORKERS BYTES: answers every request with the same BYTES; 0: with 204, which has none.
#include "base/base.h"

#include "floor.h"

static char body[FLOOR_MAX_BODY];
static size_t body_n;

static void answer(void *arg, FCGX_Request *request)
{
	UNUSED(arg);
	floor_answer(request, body, body_n);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		die("usage: floor SOCKET WORKERS BYTES");
	body_n = strcmp(argv[3], "0") != 0 ? bench_number(argv[3], FLOOR_MAX_BODY) : 0;
	memset(body, 'x', body_n);
	return floor_serve(argv[1], bench_number(argv[2], FLOOR_MAX_WORKERS), NULL, answer);
}
