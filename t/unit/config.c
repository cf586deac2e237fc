// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <sys/stat.h>
#include <unistd.h>

#include "api/settings.h"
#include "base/buf.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "db/settings.h"
#include "registry/baremetal/settings.h"
#include "registry/core/settings.h"
#include "server/setup/settings.h"
#include "settings/settings.h"
#include "tap.h"
#include "wadl/settings.h"

static char dir[] = "/tmp/tenure-config-XXXXXX";
static struct pool *pool;
static const char *made[64];
static size_t n_made;

static const char *in_dir(const char *name)
{
	return str_printf(pool, "%s/%s", dir, name).p;
}

static const char *file_of(const char *name, struct str content)
{
	const char *path = in_dir(name);
	FILE *file = fopen(path, "w");

	if (file == NULL || fwrite(content.p, 1, content.n, file) != content.n || fclose(file) != 0)
		bail_out("can't write a file");
	assert(n_made < COUNT_OF(made));
	made[n_made++] = path;
	return path;
}

static struct config *good(const char *path)
{
	char *error;
	struct config *config = config_load(path, settings_tables(), &error);

	if (config == NULL) {
		diag("%s", error);
		bail_out("a good configuration was refused");
	}
	return config;
}

// Loads content from the file "bad.conf" and expects its error: want, behind that file's folder.
static void refused(struct str content, const char *want, const char *name)
{
	char *error = NULL;
	struct config *config = config_load(file_of("bad.conf", content), settings_tables(), &error);
	const char *folder = in_dir("");

	n_made--;
	ok(config == NULL, "refused: %s", name);
	struct str got = str_c(error);
	if (str_starts(got, str_c(folder)))
		got = str_part(got, strlen(folder), got.n);
	is_str(got, want, "says: %s", name);
	free(error);
	config_free(&config);
}

static void defaults(void)
{
	struct config *c = good(file_of("empty.conf", STR("")));

	is_str(str_c(db_settings(c)->host), "localhost", "host");
	is_int(db_settings(c)->port, 3306, "port");
	is_str(str_c(db_settings(c)->password), "", "no password");
	is_str(str_c(db_settings(c)->tls), "off", "tls");
	is_int((long long)registry_settings(c)->max_body, 3145728, "max_body");
	is_int(api_settings(c)->max_target, 32768, "max_target");
	is_int((long long)registry_settings(c)->retention, 30 * 86400, "retention");
	is_int((long long)registry_settings(c)->change_retention, 365 * 86400, "change_retention");
	is_int((long long)registry_settings(c)->usage_retention, 1096 * 86400, "usage_retention");
	is_int(registry_settings(c)->move_sync_max, 50000, "move_sync_max");
	ok(str_ends(str_c(wadl_settings(c)->wadl_dir), STR("/tenure/wadl")), "wadl_dir");
	is_int((long long)c->n_endpoints, 0, "no endpoint");
	ok(config_endpoint(c, "service") == NULL, "none by that name");
	config_free(&c);
	ok(c == NULL, "free forgets it");
	config_free(&c);
}

static void values(void)
{
	struct config *c = good(file_of("values.conf", STR(
		"\xef\xbb\xbf# a comment\r\n; another\r\n\r\n"
		"[database]\r\n  name =  my registry \r\npassword = a = b # c\r\nhost=\r\nread_timeout = 2m\r\n"
		"[ tenure ]\nmax_body=64K\nretention = 2w\nmax_target = 9000\nlog = syslog\n"
		"baremetal_drivers = ipmi, my_own-2.0\n"
		"[endpoint service]\nworkers = 7\nauth = token, noauth\nsocket_mode = 600\n"
		"public_url = https://x.example:8443/api\n"
		"[endpoint admin-2]\nworkers = 2\n[endpoint service]\nworkers = 9")));

	is_str(str_c(db_settings(c)->name), "my registry", "blanks inside stay, around go");
	is_str(str_c(db_settings(c)->password), "a = b # c", "no comments behind values");
	is_str(str_c(db_settings(c)->host), "", "an empty value");
	is_int(db_settings(c)->read_timeout, 120, "minutes");
	is_int((long long)registry_settings(c)->max_body, 65536, "K");
	is_int((long long)registry_settings(c)->retention, 14 * 86400, "weeks");
	is_int(api_settings(c)->max_target, 9000, "plain bytes");
	is_str(str_c(baremetal_settings(c)->drivers), "ipmi, my_own-2.0", "names");
	is_int((long long)c->n_endpoints, 2, "two endpoints");
	const struct endpoint_config *service = config_endpoint(c, "service"), *admin = config_endpoint(c, "admin-2");
	is_int(server_endpoint_settings(service)->workers, 9, "a section may come again, the last word wins");
	is_int((long long)server_endpoint_settings(service)->socket_mode, 0600, "octal");
	is_str(str_c(wadl_endpoint_settings(service)->wadl), "service.wadl", "the WADL is named after the endpoint");
	is_str(str_c(wadl_endpoint_settings(admin)->wadl), "admin-2.wadl", "so is the other's");
	ok(str_ends(str_c(server_endpoint_settings(admin)->socket), STR("/tenure/admin-2.sock")), "and the socket");
	is_int((long long)server_endpoint_settings(admin)->socket_mode, 0660, "defaults for each endpoint");
	is_str(str_c(api_endpoint_settings(service)->public_url), "https://x.example:8443/api", "a URL");
	config_free(&c);
}

static void includes(void)
{
	if (mkdir(in_dir("conf.d"), 0700) != 0)
		bail_out("mkdir");
	file_of("conf.d/1.conf", STR("[database]\nname = one\nuser = u1\n"));
	file_of("conf.d/2.conf", STR("[database]\nname = two\n[endpoint e]\nworkers = 3\n"));
	file_of("conf.d/note.txt", STR("not a configuration"));
	file_of("secret", STR("s3cret\n"));
	struct config *c = good(file_of("main.conf", STR("include = conf.d/*.conf\ninclude = nothing.d/*.conf\n"
		"[database]\nhost = h\npassword = @secret\n[endpoint e]\nbacklog = 5\n")));

	is_str(str_c(db_settings(c)->name), "two", "files in the order of their names");
	is_str(str_c(db_settings(c)->user), "u1", "what only one says");
	is_str(str_c(db_settings(c)->host), "h", "and the file itself");
	is_str(str_c(db_settings(c)->password), "s3cret", "a value from a file beside it, without the newline");
	is_int(server_endpoint_settings(config_endpoint(c, "e"))->workers, 3, "an endpoint from an included file");
	is_int(server_endpoint_settings(config_endpoint(c, "e"))->backlog, 5, "completed here");
	config_free(&c);

	file_of("conf.d/2.conf", STR("[database]\nport = x\n"));
	char *error;
	c = config_load(in_dir("main.conf"), settings_tables(), &error);
	ok(c == NULL && strstr(error, "conf.d/2.conf:2: [database] port: got \"x\"") != NULL,
	   "an error in an included file");
	free(error);
}

static void environment(void)
{
	const char *path = file_of("env.conf", STR("[database]\nname = file\n[endpoint my-service]\nworkers = 3\n"));
	char *error;

	setenv("TENURE_DATABASE_NAME", "env", 1);
	setenv("TENURE_TENURE_MAX_BODY", "2M", 1);
	setenv("TENURE_ENDPOINT_MY_SERVICE_WORKERS", "11", 1);
	setenv("TENURE_SERVICE_URL", "not a setting and none of ours", 1);
	struct config *c = good(path);
	is_str(str_c(db_settings(c)->name), "env", "the environment wins");
	is_int((long long)registry_settings(c)->max_body, 2097152, "over a default, too");
	is_int(server_endpoint_settings(config_endpoint(c, "my-service"))->workers, 11, "for an endpoint, - is _");
	config_free(&c);

	setenv("TENURE_DATABASE_PORT", "0", 1);
	c = config_load(path, settings_tables(), &error);
	is_str(str_c(error), "environment TENURE_DATABASE_PORT: [database] port: got \"0\"; expected a "
	       "number from 1 to 65535", "a bad value in the environment");
	free(error);
	unsetenv("TENURE_DATABASE_PORT");
	setenv("TENURE_ENDPOINT_OTHER_WORKERS", "1", 1);
	c = config_load(path, settings_tables(), &error);
	ok(c == NULL && strstr(error, "environment: got TENURE_ENDPOINT_OTHER_WORKERS;") != NULL, "an unknown one");
	free(error);
	unsetenv("TENURE_ENDPOINT_OTHER_WORKERS");

	// A misspelt setting of each section, in any of which it would have no effect.
	static const char *const misspelt[] = { "TENURE_KEYSTONE_AUTH_URI", "TENURE_PLACEMENT_POLCY", "TENURE_BAREMETAL_DRIVER",
		"TENURE_JWT_", "TENURE_CERTIFICATE_MAPS", "TENURE_DATABASE_HOSTS", "TENURE_TENURE_BODY_MAX" };
	for (size_t i = 0; i < COUNT_OF(misspelt); i++) {
		setenv(misspelt[i], "x", 1);
		c = config_load(path, settings_tables(), &error);
		ok(c == NULL && strstr(error, misspelt[i]) != NULL, "%s is refused", misspelt[i]);
		free(error);
		unsetenv(misspelt[i]);
	}
	static const char *const others[] = { "TENURE_PLACEMENT_URL", "TENURE_PLACEMENT_TLS_URL", "TENURE_CERTIFICATE_SECRET" };
	for (size_t i = 0; i < COUNT_OF(others); i++)
		setenv(others[i], "x", 1);
	c = good(path);
	ok(c != NULL, "names of other programs are none of its business");
	config_free(&c);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		unsetenv(others[i]);
	unsetenv("TENURE_ENDPOINT_MY_SERVICE_WORKERS");
	unsetenv("TENURE_TENURE_MAX_BODY");
	unsetenv("TENURE_DATABASE_NAME");
}

static void bad_hosts(void)
{
	struct buf many = buf_new(pool, 256);

	BUF_LIT(&many, "[database]\nhost = a");
	for (int i = 1; i < 16; i++)
		buf_addf(&many, ", a:%d", i);
	struct config *c = good(file_of("hosts.conf", buf_str(&many)));
	config_free(&c);
	BUF_LIT(&many, ", b");
	refused(buf_str(&many), "bad.conf: [database] host: got more than 16 servers; expected at most 16, since they are the nodes of one cluster", "17 hosts");
	refused(STR("[database]\nhost = a, b:65536\n"),
	        "bad.conf: [database] host: got \"b:65536\"; expected HOST or HOST:PORT, with an IPv6 address in [ and ]", "a port");
	refused(STR("[database]\nhost = a, [::1\n"),
	        "bad.conf: [database] host: got \"[::1\"; expected HOST or HOST:PORT, with an IPv6 address in [ and ]", "half an address");
	refused(STR("[database]\nhost = a, b,\n"), "bad.conf: [database] host: got an empty name between commas; expected HOST or HOST:PORT",
	        "an end of a list");
	refused(STR("[database]\nhost = a, b, A:3306\n"), "bad.conf: [database] host: got \"A:3306\" twice; expected each server once",
	        "a host that comes again");
}

static void bad_structure(void)
{
	refused(STR("[database]\nnmae = x\n"),
	        "bad.conf:2: [database]: got key \"nmae\"; expected one of host, read_from, read_wait, socket, port, name, user, "
	        "password, admin_user, admin_password, replication_user, replication_password, tls, tls_ca, tls_cert, tls_key, connect_timeout, read_timeout, "
	        "lock_wait, idle_write_timeout, retries", "a key");
	refused(STR("[databse]\n"),
	        "bad.conf:1: got section \"[databse]\"; expected [database], [tenure], [host], [baremetal], [webhooks], [placement], [keystone], [jwt], [certificate] or [endpoint NAME]", "a section");
	refused(STR("[tenure x]\n"),
	        "bad.conf:1: got section \"[tenure x]\"; expected [database], [tenure], [host], [baremetal], [webhooks], [placement], [keystone], [jwt], [certificate] or [endpoint NAME]",
	        "a section's name");
	refused(STR("[endpoint]\n"),
	        "bad.conf:1: [endpoint]: got name \"\"; expected 1 to 32 of A-Z a-z 0-9 - _", "no name");
	refused(STR("[endpoint ../x]\n"), "bad.conf:1: [endpoint]: got name \"../x\"; expected 1 to 32 of A-Z a-z 0-9 - _",
	        "a path for a name");
	refused(STR("[database\n"), "bad.conf:1: got \"[database\"; expected a section in [ and ]", "half a section");
	refused(STR("[tenure]\n\nlog\n"), "bad.conf:3: got a line without \"=\"; expected key = value", "no =");
	refused(STR("[database]\npassword hunter2\n"), "bad.conf:2: got a line without \"=\"; expected key = value",
	        "a secret without =, which is not shown");
	refused(STR("name = x\n"), "bad.conf:1: got key \"name\"; expected a section first, or include", "no section");
	refused(STR("[tenure]\ninclude = x\n"),
	        "bad.conf:2: got key \"include\"; expected include before the first section", "a late include");
	refused(STR("include = missing.conf\n"),
	        "bad.conf:1: include: got \"missing.conf\"; expected files that can be read",
	        "an include that is not there");
	refused(STR("include = bad.conf\n"), "bad.conf:1: got includes more than 8 deep; expected fewer", "a cycle");
	refused(STR("[tenure]\nuser = a\0b\n"), "bad.conf:2: got other bytes; expected UTF-8 without NUL", "NUL");
	refused(STR("[tenure]\ngroup = staff\n"),
	        "bad.conf: [tenure] group: got \"staff\" and no user; expected user as well", "a group alone");
	refused(STR("[tenure]\nuser = \xff\n"), "bad.conf:2: got other bytes; expected UTF-8 without NUL",
	        "not UTF-8");
}

static void bad_values(void)
{
	static const struct {
		const char *section, *line, *want;
	} cases[] = {
		{ "database", "port = 65536", "port: got \"65536\"; expected a number from 1 to 65535" },
		{ "database", "port = 1K", "port: got \"1K\"; expected a number from 1 to 65535" },
		{ "database", "port = -1", "port: got \"-1\"; expected a number from 1 to 65535" },
		{ "database", "port =", "port: got \"\"; expected a number from 1 to 65535" },
		{ "database", "tls = yes", "tls: got \"yes\"; expected one of off, on, verify" },
		{ "database", "name =", "name: got \"\"; expected a text of 1 to 64 bytes without control characters" },
		{ "database", "user = a\x1b[0m",
		  "user: got \"a\\x1b[0m\"; expected a text of 0 to 128 bytes without control characters" },
		{ "tenure", "max_body = 2G",
		  "max_body: got \"2G\"; expected bytes from 1024 to 15728640, such as 65536, 64K or 1M" },
		{ "tenure", "max_body = 16M",
		  "max_body: got \"16M\"; expected bytes from 1024 to 15728640, such as 65536, 64K or 1M" },
		{ "tenure", "max_body = 1m",
		  "max_body: got \"1m\"; expected bytes from 1024 to 15728640, such as 65536, 64K or 1M" },
		{ "tenure", "max_body = 18014398509481985K",
		  "max_body: got \"18014398509481985K\"; expected bytes from 1024 to 15728640, such as 65536, 64K or 1M" },
		{ "tenure", "retention = 3x",
		  "retention: got \"3x\"; expected seconds from 0 to 3153600000, such as 90, 90s, 15m, 12h, 30d or 4w" },
		{ "tenure", "retention = d",
		  "retention: got \"d\"; expected seconds from 0 to 3153600000, such as 90, 90s, 15m, 12h, 30d or 4w" },
		{ "endpoint e", "socket_mode = 0888", "socket_mode: got \"0888\"; expected an octal number from 0 to 0777" },
		{ "endpoint e", "socket_mode = 7777", "socket_mode: got \"7777\"; expected an octal number from 0 to 0777" },
		{ "endpoint e", "auth = token,magic",
		  "auth: got \"token,magic\"; expected one or more, with commas, of token, remote-user, noauth, keystone, jwt, certificate" },
		{ "endpoint e", "auth =", "auth: got \"\"; expected one or more, with commas, of token, remote-user, noauth, keystone, jwt, certificate" },
		{ "tenure", "baremetal_drivers = ipmi,,redfish",
		  "baremetal_drivers: got \"ipmi,,redfish\"; expected one or more different names of letters, digits, \"-\", "
		  "\"_\" and \".\", with commas, of 4096 bytes at most" },
		{ "tenure", "baremetal_drivers = ipmi, ipmi",
		  "baremetal_drivers: got \"ipmi, ipmi\"; expected one or more different names of letters, digits, \"-\", "
		  "\"_\" and \".\", with commas, of 4096 bytes at most" },
		{ "endpoint e", "public_url = x.example",
		  "public_url: got \"x.example\"; expected http:// or https://, a host, "
		  "perhaps :port and /prefix, no slash at the end; several with commas" },
		{ "endpoint e", "public_url = http://x/",
		  "public_url: got \"http://x/\"; expected http:// or https://, a host, "
		  "perhaps :port and /prefix, no slash at the end; several with commas" },
		{ "endpoint e", "public_url = http://",
		  "public_url: got \"http://\"; expected http:// or https://, a host, "
		  "perhaps :port and /prefix, no slash at the end; several with commas" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str content = str_printf(pool, "[%s]\n%s\n", cases[i].section, cases[i].line);
		struct str want = str_printf(pool, "bad.conf:2: [%s] %s", cases[i].section, cases[i].want);

		refused(content, want.p, cases[i].line);
	}
	struct buf socket = buf_new(pool, 0);
	BUF_LIT(&socket, "[endpoint e]\nsocket = /");
	for (int i = 0; i < 107; i++)
		buf_addc(&socket, 's');
	char *error;
	ok(config_load(file_of("long.conf", buf_str(&socket)), settings_tables(), &error) == NULL, "a socket path of 108 bytes");
	free(error);
}

static void secrets(void)
{
	char *error;

	file_of("nul", STR("a\0b"));
	refused(STR("[database]\npassword = @nul\n"),
	        "bad.conf:2: [database] password: got something else; expected a text of 0 to 4096 bytes "
	        "without control characters", "a secret with NUL is not shown");
	const char *path = file_of("gone.conf", STR("[database]\npassword = @not-there\n"));
	ok(config_load(path, settings_tables(), &error) == NULL && strstr(error, "gone.conf:2: can't open ") != NULL &&
	   strstr(error, "/not-there\": No such file or directory") != NULL, "a secret's file that is missing");
	free(error);
	ok(config_load("/nonexistent/tenure.conf", settings_tables(), &error) == NULL && strstr(error, "No such file") != NULL, "no file");
	free(error);
	ok(config_load(dir, settings_tables(), &error) == NULL && strstr(error, "directory") != NULL, "a folder is no file");
	free(error);
}

static void too_many(void)
{
	struct buf text = buf_new(pool, 0);

	for (int i = 0; i <= CONFIG_MAX_ENDPOINTS; i++)
		buf_addf(&text, "[endpoint e%d]\n", i);
	refused(buf_str(&text), "bad.conf:17: got more than 16 endpoints; expected fewer", "seventeen endpoints");
}

static void printing(void)
{
	struct config *c = good(file_of("print.conf", STR("[database]\nname = shown\npassword = hidden\n[endpoint e]\n")));
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	config_print(c, out);
	fclose(out);
	ok(strstr(text, "\nname = shown\n") != NULL, "prints values");
	ok(strstr(text, "hidden") == NULL && strstr(text, "\npassword = ********\n") != NULL, "but no passwords");
	ok(strstr(text, "\nadmin_password =\n") != NULL, "an empty one is seen to be empty");
	ok(strstr(text, "\n[endpoint e]\n") != NULL && strstr(text, "\nsocket_mode = 0660\n") != NULL, "and endpoints");
	struct config *again = good(file_of("again.conf", str_n(text, n)));
	is_int((long long)registry_settings(again)->retention, (long long)registry_settings(c)->retention, "what is printed can be read");
	is_str(str_c(wadl_endpoint_settings(config_endpoint(again, "e"))->wadl), "e.wadl", "with its endpoints");
	config_free(&again);
	config_free(&c);
	free(text);
}

int main(void)
{
	pool = pool_new();
	if (mkdtemp(dir) == NULL)
		bail_out("mkdtemp");
	defaults();
	values();
	includes();
	environment();
	bad_hosts();
	bad_structure();
	bad_values();
	secrets();
	too_many();
	printing();
	while (n_made > 0)
		unlink(made[--n_made]);
	unlink(in_dir("bad.conf"));
	rmdir(in_dir("conf.d"));
	rmdir(dir);
	pool_free(&pool);
	return done_testing();
}
