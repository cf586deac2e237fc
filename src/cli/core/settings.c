// SPDX-License-Identifier: Apache-2.0
// Finds the service and the credentials. Options override the environment, which overrides the user's file.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/core/cli.h"

enum { FILE_MAX_BYTES = 64 * 1024 * 1024, SECONDS_MAX = 86400 };

struct settings {
	const char *url, *token, *token_file, *tenant, *ca_file, *timeout, *format;
};

static const struct { const char *key; size_t at; } file_keys[] = {
	{ "url", offsetof(struct settings, url) }, { "token", offsetof(struct settings, token) },
	{ "token-file", offsetof(struct settings, token_file) }, { "tenant", offsetof(struct settings, tenant) },
	{ "ca-file", offsetof(struct settings, ca_file) }, { "timeout", offsetof(struct settings, timeout) },
	{ "format", offsetof(struct settings, format) },
};

// NULL: errno says why.
static char *read_all(struct pool *pool, int fd, size_t *length)
{
	struct buf text = buf_new(pool, 4096);
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n >= 0 && text.n > FILE_MAX_BYTES)
			errno = EFBIG;
		if (n < 0 || text.n > FILE_MAX_BYTES)
			return NULL;
		buf_add(&text, str_n(chunk, (size_t)n));
	}
	*length = text.n;
	return (char *)str_dup(pool, buf_str(&text)).p;
}

char *cli_read_whole(struct pool *pool, const char *path, size_t *length)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	*length = 0;
	char *text = fd >= 0 ? read_all(pool, fd, length) : NULL;
	if (text == NULL)
		cli_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return text;
}

enum secrecy { HOLDS_NO_SECRET, HOLDS_SECRET };

// Checks that nobody else may change the file and, if it holds a secret, read it. It checks the open file, since by then the name
// may lead to another one.
static int safe_file(int fd, const char *path, enum secrecy secrecy)
{
	struct stat file;

	if (fstat(fd, &file) != 0)
		return cli_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	if (!S_ISREG(file.st_mode))
		return cli_fail(EX_CONFIG, "%s is no regular file", path);
	if (file.st_uid != geteuid() && file.st_uid != 0)
		return cli_fail(EX_NOPERM, "%s belongs to somebody else", path);
	if ((file.st_mode & 022) != 0)
		return cli_fail(EX_NOPERM, "%s can be changed by others: chmod go-w", path);
	if (secrecy == HOLDS_SECRET && (file.st_mode & 077) != 0)
		return cli_fail(EX_NOPERM, "%s holds a token and can be read by others: chmod 600", path);
	return EX_OK;
}

static int read_safely(struct pool *pool, const char *path, enum secrecy secrecy, struct str *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return cli_fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
	int code = safe_file(fd, path, secrecy);
	if (code == EX_OK) {
		text->p = read_all(pool, fd, &text->n);
		if (text->p == NULL)
			code = cli_fail(EX_NOINPUT, "%s: can't be read", path);
	}
	close(fd);
	return code;
}

// Takes "key = value" into the settings; ignores sections and comments. Exit code.
static int take_line(struct cli *cli, const char *path, size_t number, struct str line, struct settings *settings)
{
	struct str text = str_trim(line);

	if (text.n > 0 && text.p[text.n - 1] == '\r')
		text = str_trim(str_part(text, 0, text.n - 1));
	if (text.n == 0 || text.p[0] == '#' || text.p[0] == ';' || str_eq(text, STR("[tenure]")))
		return EX_OK;
	size_t equals = str_find(text, '=', 0);
	struct str key = str_trim(str_part(text, 0, equals)), value = str_trim(str_part(text, equals + 1, text.n));
	for (size_t i = 0; i < COUNT_OF(file_keys) && equals < text.n; i++) {
		if (!str_eq_c(key, file_keys[i].key) || memchr(value.p, '\0', value.n) != NULL)
			continue;
		*(const char **)(void *)((char *)settings + file_keys[i].at) = str_cstr(cli->pool, value);
		return EX_OK;
	}
	return cli_fail(EX_CONFIG, "%s:%zu: not one of url, token, token-file, tenant, ca-file, timeout, format = VALUE",
		path, number);
}

static const char *config_path(struct cli *cli)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (folder != NULL && folder[0] == '/')
		return str_printf(cli->pool, "%s/tenure/config", folder).p;
	return home != NULL ? str_printf(cli->pool, "%s/.config/tenure/config", home).p : NULL;
}

static int load_file(struct cli *cli, struct settings *settings)
{
	const char *path = config_path(cli);
	struct str text = STR(""), line;

	if (path == NULL || access(path, F_OK) != 0)
		return EX_OK;
	int code = read_safely(cli->pool, path, HOLDS_NO_SECRET, &text);
	for (size_t number = 1; code == EX_OK && str_split(&text, '\n', &line); number++)
		code = take_line(cli, path, number, line, settings);
	if (code == EX_OK && settings->token != NULL)
		code = read_safely(cli->pool, path, HOLDS_SECRET, &text);
	return code;
}

static const char *first_of(const char *option, const char *variable, const char *file)
{
	const char *environment = variable != NULL ? getenv(variable) : NULL;

	return option != NULL ? option : environment != NULL && environment[0] != '\0' ? environment : file;
}

// Reads the first line of the file. An empty one is a mistake, as an empty option is: the call would be made as somebody else.
static int read_token(struct cli *cli, const char *path, const char **token)
{
	struct str text;
	int code = read_safely(cli->pool, path, HOLDS_SECRET, &text);

	if (code != EX_OK)
		return code;
	struct str line = str_part(text, 0, str_find(text, '\n', 0));
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	line = str_trim(line);
	if (line.n == 0)
		return cli_fail(EX_NOINPUT, "%s holds no token: its first line is empty", path);
	if (memchr(line.p, '\0', line.n) != NULL)
		return cli_fail(EX_NOINPUT, "%s holds no token: its first line has a NUL", path);
	*token = str_cstr(cli->pool, line);
	return EX_OK;
}

// The first source that has a token, or the name of its file, wins.
static int load_token(struct cli *cli, const struct settings *file, const char **token)
{
	const char *sources[][2] = {
		{ cli->options[OPT_TOKEN], cli->options[OPT_TOKEN_FILE] },
		{ getenv("TENURE_TOKEN"), getenv("TENURE_TOKEN_FILE") },
		{ file->token, file->token_file },
	};
	*token = NULL;
	for (size_t i = 0; i < COUNT_OF(sources); i++) {
		if (sources[i][0] != NULL && sources[i][0][0] != '\0') {
			*token = sources[i][0];
			return EX_OK;
		}
		if (sources[i][1] != NULL && sources[i][1][0] != '\0')
			return read_token(cli, sources[i][1], token);
	}
	return EX_OK;
}

static int set_format(struct cli *cli, const char *name)
{
	static const char *const names[] = { [FORMAT_TABLE] = "table", [FORMAT_JSON] = "json", [FORMAT_CSV] = "csv" };

	cli->format_given = cli->options[OPT_FORMAT] != NULL;
	for (size_t i = 0; name != NULL && i < COUNT_OF(names); i++) {
		if (strcmp(names[i], name) == 0) {
			cli->format = (enum format)i;
			return EX_OK;
		}
	}
	return name == NULL ? EX_OK : cli_fail(EX_USAGE, "the format is table, json or csv, not \"%s\"", name);
}

// Says what is wrong with an address that the library does not take, or that leads past the service's root, and what would be
// right. EX_OK if nothing is known to be wrong.
static int check_url(struct cli *cli)
{
	static const char *const versions[] = { "/v1.0", "/v2.0" };
	struct str url = str_c(cli->url);

	if (strstr(cli->url, "://") == NULL)
		return cli_fail(EX_USAGE, "\"%s\" has no scheme: give http://%s or https://%s", cli->url, cli->url, cli->url);
	while (url.n > 0 && url.p[url.n - 1] == '/')
		url.n--;
	for (size_t i = 0; i < COUNT_OF(versions); i++) {
		size_t n = strlen(versions[i]);
		if (url.n > n && str_eq_c(str_part(url, url.n - n, url.n), versions[i])) {
			struct str base = str_part(url, 0, url.n - n);
			return cli_fail(EX_USAGE, "\"%s\" names a version of the API; the service's URL is %.*s", cli->url,
				STR_ARG(base));
		}
	}
	return EX_OK;
}

// What the service remarks on a call that it carried out.
static void print_warnings(struct str warnings, void *arg)
{
	struct str line;

	UNUSED(arg);
	while (str_split(&warnings, '\n', &line))
		cli_warn("%.*s", STR_ARG(line));
}

static int open_client(struct cli *cli, const struct settings *file)
{
	const char *token = NULL, *timeout = first_of(cli->options[OPT_TIMEOUT], NULL, file->timeout);
	uint64_t seconds = 60;

	if (cli->url == NULL)
		return cli_fail(EX_USAGE, "where is the service? --url, TENURE_URL, or url = … in ~/.config/tenure/config");
	if (timeout != NULL && (!str_to_u64(str_c(timeout), &seconds) || seconds > SECONDS_MAX))
		return cli_fail(EX_USAGE, "--timeout takes seconds, up to %d", SECONDS_MAX);
	int code = check_url(cli);
	if (code == EX_OK)
		code = load_token(cli, file, &token);
	if (code != EX_OK)
		return code;
	cli->has_token = token != NULL;
	cli->client = tenure_client_new(cli->url, token);
	if (cli->client == NULL)
		return cli_fail(EX_USAGE, "\"%s\" is no http or https URL with a host and without user, query and fragment, "
			"or the token has a blank or control character", cli->url);
	tenure_client_set_timeouts(cli->client, 10000, (long)seconds * 1000);
	tenure_client_set_ca_file(cli->client, first_of(cli->options[OPT_CA_FILE], "TENURE_CA_FILE", file->ca_file));
	cli->client->warned = print_warnings;
	if (cli->options[OPT_DRY_RUN] != NULL)
		cli_dry_run(cli);
	return EX_OK;
}

// An option with an empty value is a mistake, such as a variable of a script that is not set. The environment must not take its
// place: another credential or tenant might be there.
static int refuse_empty(const struct cli *cli)
{
	static const enum option options[] = { OPT_URL, OPT_TOKEN, OPT_TOKEN_FILE, OPT_CA_FILE, OPT_TENANT, OPT_NAMESPACE };

	for (size_t i = 0; i < COUNT_OF(options); i++) {
		const char *value = cli->options[options[i]];
		if (value != NULL && value[0] == '\0')
			return cli_fail(EX_USAGE, "%s is empty", option_rows[options[i]].name);
	}
	return EX_OK;
}

int settings_load(struct cli *cli)
{
	struct settings file = { NULL };
	int code = refuse_empty(cli);

	if (code == EX_OK)
		code = load_file(cli, &file);

	if (code != EX_OK)
		return code;
	cli->url = first_of(cli->options[OPT_URL], "TENURE_URL", file.url);
	cli->tenant = first_of(cli->options[OPT_TENANT], "TENURE_TENANT", file.tenant);
	code = set_format(cli, first_of(cli->options[OPT_FORMAT], NULL, file.format));
	return code == EX_OK ? open_client(cli, &file) : code;
}
