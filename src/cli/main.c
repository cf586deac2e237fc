// SPDX-License-Identifier: Apache-2.0
// tenure: the command line client.
#include "base/base.h"

#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "base/completion.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/command/commands.h"
#include "cli/command/resource.h"
#include "cli/command_line.h"
#include "cli/core/cli.h"
#include "cli/core/text.h"

static bool needs_service(const struct command *command)
{
	return command->run != command_help && command->run != command_version;
}

static int run(struct cli *cli, int argc, char **argv)
{
	// Its arguments are the words of another command line, so they are no options of this one.
	bool describes;
	if (completion_wanted(argc, argv, &describes)) {
		cli->arguments = (const char **)(argv + 2);
		cli->n_arguments = (size_t)argc - 2;
		return cli_complete(cli, describes);
	}
	int code = options_parse(cli, argc, argv);
	if (code != OPTIONS_GO_ON)
		return code;
	code = needs_service(cli->command) ? settings_load(cli) : EX_OK;
	if (code == EX_OK)
		code = cli->command->run(cli);
	else if (cli->url == NULL && strcmp(cli->command->noun, "resource") == 0 && cli->n_arguments > 0)
		resource_suggest(cli, cli->arguments[0]);
	tenure_client_free(&cli->client);
	return code;
}

int main(int argc, char **argv)
{
	descriptors_occupy();
	log_open("tenure", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	memory_end_with_code(NULL);
	struct cli cli = { .pool = pool_new_or_end(), .commands = cli_commands };
	// Unicode widths of characters, whatever the user's language is.
	setlocale(LC_CTYPE, "C.UTF-8");
	// If the reader of our output is gone, the command finishes what it has begun, and the exit code says so.
	signal(SIGPIPE, SIG_IGN);
	cli.out_is_terminal = isatty(STDOUT_FILENO) == 1;
	int code = run(&cli, argc, argv);
	pool_free(&cli.pool);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	// `tenure tenant list | head` has seen what it wanted: there is nobody to tell of an error.
	return cli_reader_is_gone(0) ? EX_IOERR : cli_fail(EX_IOERR, "can't write the output");
}
