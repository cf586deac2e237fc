// SPDX-License-Identifier: Apache-2.0
// bare-put TENANT SECONDS CONNECTIONS [nodes]: the statements of a PUT of a config map, or a PATCH of a node, alone. Each
// connection takes resources of its own. Prints commits per second.
#include "base/base.h"

#include "bare-put.h"

static void put(void *arg)
{
	put_next(arg);
}

int main(int argc, char **argv)
{
	void *clients[BARE_MAX_CLIENTS];

	if (argc != 4 && !(argc == 5 && strcmp(argv[4], "nodes") == 0))
		die("usage: bare-put TENANT SECONDS CONNECTIONS [nodes]");
	unsigned seconds = bench_number(argv[2], 3600), n = bench_number(argv[3], BARE_MAX_CLIENTS);
	for (unsigned i = 0; i < n; i++)
		clients[i] = put_open(argv[1], argc == 5, i, n);
	printf("%.1f\n", bare_race(clients, n, seconds, put));
	return 0;
}
