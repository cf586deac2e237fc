// SPDX-License-Identifier: Apache-2.0
// What was shown last, in one file for each URL: --etag auto takes the etag from there, and --retry the base of a merge.
// Documents may be secret, so only the user may read these files.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "cli/core/cli.h"
#include "cli/core/state.h"
#include "cli/core/text.h"

// The folder ${XDG_STATE_HOME:-~/.local/state}/tenure; NULL: there is no home.
static const char *folder(struct cli *cli)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state != NULL && state[0] == '/')
		return str_printf(cli->pool, "%s/tenure", state).p;
	return home != NULL && home[0] == '/' ? str_printf(cli->pool, "%s/.local/state/tenure", home).p : NULL;
}

static const char *file_of(struct cli *cli, const char *path)
{
	struct str url = cli->client->url;
	uint8_t digest[DIGEST_SHA256];
	const char *dir = folder(cli);
	struct buf name = buf_new(cli->pool, 256);

	if (dir == NULL)
		return NULL;
	digest_sha256(str_printf(cli->pool, "%.*s%s", STR_ARG(url), path), digest);
	buf_addf(&name, "%s/", dir);
	buf_add_hex(&name, digest, sizeof(digest));
	BUF_LIT(&name, ".json");
	return str_cstr(cli->pool, buf_str(&name));
}

// A home folder that is not there is not made: users without one have such a name, /nonexistent.
static bool make_folders(struct cli *cli, const char *dir)
{
	char *path = str_cstr(cli->pool, str_c(dir));
	const char *home = getenv("HOME");
	size_t made = home != NULL ? strlen(home) : 0;

	while (made > 0 && home[made - 1] == '/')
		made--;
	// XDG_STATE_HOME may lead elsewhere: to the parent of a home that is called tenure, or to a folder whose name goes on
	// behind the home's.
	if (made > 0 && (strncmp(dir, home, made) != 0 || dir[made] != '/'))
		made = 0;
	for (char *slash = path + made + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool cli_write_and_close(int fd, struct str text)
{
	while (text.n > 0) {
		ssize_t n = write(fd, text.p, text.n);
		if (n < 0 && errno != EINTR)
			break;
		text = n > 0 ? str_part(text, (size_t)n, text.n) : text;
	}
	int error = errno;
	bool closed = close(fd) == 0;
	if (text.n > 0)
		errno = error;
	return closed && text.n == 0;
}

// Writes under another name first and renames it, so a reader sees either the old or the new file.
static bool write_file(struct cli *cli, const char *path, struct str text)
{
	char *temporary = str_cstr(cli->pool, str_printf(cli->pool, "%s.XXXXXX", path));
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return false;
	if (cli_write_and_close(fd, text) && rename(temporary, path) == 0)
		return true;
	int error = errno;
	unlink(temporary);
	errno = error;
	return false;
}

void cli_state_save(struct cli *cli, const char *path, const char *etag, struct str document)
{
	const char *dir = folder(cli), *file = file_of(cli, path);
	struct doc *record = doc_new_object(cli->pool), *shown = NULL;
	struct str unused;

	if (file == NULL || etag == NULL)
		return;
	if (document.p != NULL)
		doc_parse_json(cli->pool, document, (struct doc_limits){ 1000, 0 }, &shown, &unused);
	doc_set_str(cli->pool, record, "url", cli->client->url);
	doc_set_str(cli->pool, record, "path", str_c(path));
	doc_set_str(cli->pool, record, "etag", str_c(etag));
	doc_set(record, STR("document"), shown);
	if (!make_folders(cli, dir) || !write_file(cli, file, doc_text(cli->pool, record)))
		cli_warn("can't remember the etag in %s: %s", dir, strerror(errno));
}

void cli_state_forget(struct cli *cli, const char *path)
{
	const char *file = file_of(cli, path);

	if (file != NULL)
		unlink(file);
}

bool cli_state_load(struct cli *cli, const char *path, struct remembered *remembered)
{
	const char *file = file_of(cli, path);
	const struct doc *value;
	struct doc *record;
	struct str text, unused;

	*remembered = (struct remembered){ .document = NULL };
	if (file == NULL || access(file, R_OK) != 0)
		return false;
	text.p = cli_read_whole(cli->pool, file, &text.n);
	if (text.p == NULL || !doc_parse_json(cli->pool, text, (struct doc_limits){ 1000, 0 }, &record, &unused))
		return false;
	// The file's name is a hash, so URL and path are compared, too.
	if (!doc_get(record, STR("url"), &value) || !str_eq(doc_string(value), cli->client->url) ||
		!doc_get(record, STR("path"), &value) || !str_eq_c(doc_string(value), path) ||
		!doc_get(record, STR("etag"), &value))
		return false;
	remembered->etag = str_dup(cli->pool, doc_string(value));
	doc_get(record, STR("document"), &remembered->document);
	return true;
}
