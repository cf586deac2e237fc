// SPDX-License-Identifier: Apache-2.0
// Addresses of the service, made of what the user typed.
#include "base/base.h"

#include "cli/core/cli.h"

int cli_path_add(struct buf *path, const char *segment, const char *what)
{
	return client_path_add(path, str_c(segment)) ? EX_OK : cli_fail_segment(segment, what);
}

int cli_path_below(struct cli *cli, const char *root, const char *segment, const char *what, struct str *path)
{
	struct buf out = buf_new(cli->pool, 128);

	buf_add(&out, str_c(root));
	int code = cli_path_add(&out, segment, what);
	*path = buf_str(&out);
	return code;
}
