// SPDX-License-Identifier: Apache-2.0
// tenure: tenants, resources, bare metal and moves from a terminal or a script.
#include "base/base.h"

#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/core/cli.h"

static bool needs_service(const struct command *command)
{
	return command->run != command_help && command->run != command_version;
}

static int run(struct cli *cli, int argc, char **argv)
{
	// Its words are those of another command line, and no options of this one.
	if (argc > 1 && strcmp(argv[1], "__complete") == 0) {
		cli->arguments = (const char **)(argv + 2);
		cli->n_arguments = (size_t)argc - 2;
		return command_complete(cli);
	}
	int over = options_parse(cli, argc, argv);
	if (over != 0)
		return over - 1;
	int code = needs_service(cli->command) ? settings_load(cli) : EX_OK;
	if (code == EX_OK)
		code = cli->command->run(cli);
	tenure_client_free(&cli->client);
	return code;
}

int main(int argc, char **argv)
{
	struct cli cli = { .pool = pool_new(), .commands = cli_commands };

	if (cli.pool == NULL)
		return cli_fail(EX_OSERR, "no memory");
	log_open("tenure", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	// Widths of characters are those of Unicode, whatever the user's language.
	setlocale(LC_CTYPE, "C.UTF-8");
	// A reader that went away is told by the exit code, after what was begun is done.
	signal(SIGPIPE, SIG_IGN);
	cli.out_is_terminal = isatty(STDOUT_FILENO) == 1;
	int code = run(&cli, argc, argv);
	pool_free(&cli.pool);
	if (fflush(stdout) != 0 || ferror(stdout))
		return cli_fail(EX_IOERR, "can't write the output");
	return code;
}
