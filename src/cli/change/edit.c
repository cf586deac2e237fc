// SPDX-License-Identifier: Apache-2.0
// tenure TYPE edit: opens the document in the user's editor, and sends what was saved with the etag that was read.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/change/change.h"
#include "cli/change/merge.h"
#include "cli/core/cli.h"
#include "cli/core/state.h"
#include "cli/core/text.h"

// Keys that interrupt or quit are the editor's while it runs: some use them as commands.
static int run_editor(struct cli *cli, const char *path)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	struct sigaction interrupt, quit;
	const char *editor = getenv("VISUAL");
	int status = 0;

	if (editor == NULL || editor[0] == '\0')
		editor = getenv("EDITOR");
	if (editor == NULL || editor[0] == '\0')
		editor = "vi";
	// The shell splits the editor's own options. The file's name is passed as an argument, so the shell does not parse it.
	const char *line = str_printf(cli->pool, "%s \"$1\"", editor).p;
	fflush(stdout);
	sigaction(SIGINT, &ignored, &interrupt);
	sigaction(SIGQUIT, &ignored, &quit);
	pid_t pid = fork(), ended = pid;
	if (pid == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", line, "sh", path, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	int error = errno;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (ended < 0)
		return cli_fail(EX_OSERR, "can't run the editor: %s", strerror(error));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return cli_fail(EX_SOFTWARE, "the editor \"%s\" failed: nothing is sent", editor);
	return EX_OK;
}

// False: errno says why.
static bool write_text(const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_CREAT, 0600);

	return fd >= 0 && cli_write_and_close(fd, text);
}

// Leading lines that begin with # are the remarks of an earlier try.
static struct str without_remarks(struct str text)
{
	while (text.n > 0 && text.p[0] == '#') {
		size_t end = str_find(text, '\n', 0);
		text = str_part(text, end + 1, text.n);
	}
	return text;
}

// Runs the editor, again while the saved text is no JSON object. *edited NULL: nothing was changed. Exit code.
static int edit_text(struct cli *cli, const char *path, struct str text, struct doc **edited)
{
	struct str before = text, error, saved;

	*edited = NULL;
	for (;;) {
		if (!write_text(path, text))
			return cli_fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
		int code = run_editor(cli, path);
		if (code != EX_OK)
			return code;
		saved.p = cli_read_whole(cli->pool, path, &saved.n);
		if (saved.p == NULL)
			return EX_NOINPUT;
		saved = without_remarks(saved);
		if (str_eq(saved, before))
			return text.p == before.p ? EX_OK : cli_fail(EX_DATAERR, "still no JSON: nothing is sent");
		if (doc_parse_json(cli->pool, saved, (struct doc_limits){ 200, 0 }, edited, &error)) {
			if (doc_kind(*edited) == DOC_OBJECT)
				return EX_OK;
			error = STR("it has to be an object: { … }");
			*edited = NULL;
		}
		before = saved;
		text = str_printf(cli->pool, "# %.*s\n# Correct it, or leave it as it is to give up.\n%.*s", STR_ARG(error),
			STR_ARG(saved));
	}
}

static const char *temporary(struct cli *cli)
{
	const char *folder = getenv("TMPDIR");
	char *path = str_cstr(cli->pool, str_printf(cli->pool, "%s/tenure-XXXXXX.json",
		folder != NULL && folder[0] == '/' ? folder : "/tmp"));
	int fd = mkostemps(path, (int)sizeof(".json") - 1, O_CLOEXEC);

	if (fd < 0) {
		cli_fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
		return NULL;
	}
	close(fd);
	return path;
}

static int edit_and_send(struct cli *cli, const struct target *target, const struct doc *base, const char *path)
{
	struct buf text = buf_new(cli->pool, 0);
	struct change change = { .kind = CHANGE_PUT, .base = base };
	// Most members of bare metal are set by the service alone, so only the others are shown.
	const struct doc *document = target->kind == TARGET_METAL ? cli_document_own(cli->pool, base, NULL, target->kind) : base;
	struct doc *edited;

	change.etag = str_cstr(cli->pool, str_c(tenure_resource_etag(target->resource)));
	doc_write_pretty(document, &text);
	int code = edit_text(cli, path, buf_str(&text), &edited);
	if (code != EX_OK)
		return code;
	if (edited == NULL || doc_equal(edited, document)) {
		cli_fail(0, "%s: unchanged, nothing is sent", target->label);
		return EX_OK;
	}
	change.document = edited;
	change.body = doc_text(cli->pool, edited);
	return change_make(cli, target, &change);
}

int edit_document(struct cli *cli, const struct target *target)
{
	const struct doc *document;
	int code = target_read(cli, target, &document);

	if (code != EX_OK)
		return code;
	if (tenure_resource_etag(target->resource) == NULL)
		return cli_fail(EX_PROTOCOL, "%s: the service told no etag, so nothing would guard the change", target->label);
	const char *path = temporary(cli);
	if (path == NULL)
		return EX_CANTCREAT;
	code = edit_and_send(cli, target, document, path);
	if (code == EX_OK)
		unlink(path);
	else
		cli_fail(0, "your text is kept in %s", path);
	return code;
}
