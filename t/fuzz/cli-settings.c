// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// The lines of ~/.config/tenure/config, and a file of what was shown last: each is taken, or an exit code says what is wrong.
#include "fuzz.h"

#include "cli/core/settings.c"

static void fuzz_one(struct pool *pool, struct str input)
{
	static bool quiet;
	struct cli cli = { .pool = pool };
	struct settings settings = { .url = NULL };
	struct str line;
	size_t number = 0;

	if (!quiet)
		quiet = freopen("/dev/null", "w", stdout) != NULL;
	while (str_split(&input, '\n', &line)) {
		int code = take_line(&cli, "config", ++number, line, &settings);
		MUST(code == EX_OK || code == EX_CONFIG);
	}
	if (settings.url != NULL)
		(void)transport_url_ok(settings.url);
}
