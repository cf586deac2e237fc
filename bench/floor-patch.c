// SPDX-License-Identifier: Apache-2.0
// floor-patch SOCKET WORKERS BYTES TENANT: answers every request with BYTES after the statements of a PATCH of a node, whatever
// the request says: what a service behind a web server could do at best.
#include "base/base.h"

#include "bare-put.h"
#include "floor.h"

#include <sys/mman.h>

static char body[FLOOR_MAX_BODY];
static size_t body_n;
static const char *tenant;
static unsigned workers, *opened; // opened: by all workers together

static void *open_nodes(void)
{
	return put_open(tenant, true, __atomic_fetch_add(opened, 1, __ATOMIC_RELAXED) % workers, workers);
}

static void answer(void *arg, FCGX_Request *request)
{
	put_next(arg);
	floor_answer(request, body, body_n);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		die("usage: floor-patch SOCKET WORKERS BYTES TENANT");
	workers = bench_number(argv[2], FLOOR_MAX_WORKERS);
	body_n = bench_number(argv[3], FLOOR_MAX_BODY);
	tenant = argv[4];
	memset(body, 'x', body_n);
	opened = mmap(NULL, sizeof(*opened), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (opened == MAP_FAILED)
		die("no memory");
	return floor_serve(argv[1], workers, open_nodes, answer);
}
