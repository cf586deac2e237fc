// SPDX-License-Identifier: Apache-2.0
// Functions that several authenticators use: where a token stands in a request, whose page sent it, what may be a
// name, messages.
#include "base/base.h"

#include <stdarg.h>

#include "auth/core/authenticator.h"
#include "base/ascii.h"
#include "base/memory.h"

bool auth_read_token(const struct request *request, struct str *token)
{
	struct str authorization = str_trim(request_header(request, "authorization"));
	size_t blank = str_find(authorization, ' ', 0);

	*token = str_trim(request_header(request, "x-auth-token"));
	if (token->n > 0)
		return true;
	if (!str_eq_nocase(str_part(authorization, 0, blank), STR("Bearer")))
		return false;
	*token = str_trim(str_part(authorization, blank, authorization.n));
	return true;
}

const char *const auth_token_headers[] = { "x-auth-token", "authorization", NULL };

bool auth_has_own_origin(const struct request *request)
{
	static const char *const schemes[] = { "https://", "http://" };
	struct str origin = str_trim(request_header(request, "origin")), host = request->host;

	for (size_t i = 0; i < COUNT_OF(schemes); i++) {
		struct str scheme = str_c(schemes[i]);

		if (str_starts(origin, scheme))
			return host.n > 0 && str_eq_nocase(str_part(origin, scheme.n, origin.n), host);
	}
	return origin.n == 0; // "null": a page without an origin
}

// Browsers tell whose page it was: by Sec-Fetch-Site (Fetch Metadata) over https and to localhost alone, and some older ones not
// at all; by Origin with each change that another origin's page sends. What only reads gives that page nothing.
bool auth_is_of_another_site(const struct request *request, struct str *detail)
{
	struct str site = str_trim(request_header(request, "sec-fetch-site"));
	bool reads = request->method == METHOD_GET || request->method == METHOD_HEAD || request->method == METHOD_OPTIONS;
	bool of_another = site.n > 0 ? str_eq(site, STR("cross-site")) || str_eq(site, STR("same-site")) : !auth_has_own_origin(request);

	if (reads || !of_another)
		return false;
	*detail = STR("a page of another site made the browser send this with the user's password or certificate: "
		"changes are accepted from pages of this origin, and from programs");
	return true;
}

bool auth_is_name(struct str name)
{
	return str_utf8_ok(name, NULL) && str_find(name, '\0', 0) == name.n && str_utf8_length(name) <= AUTH_MAX_NAME;
}

enum { SECRET_LEAST = 16 }; // characters

// Is it SECRET_LEAST characters or longer, all of them characters that need no quoting in any web server's configuration (what
// openssl rand -hex or -base64 prints)?
static bool is_secret(struct str secret)
{
	for (size_t i = 0; i < secret.n; i++) {
		char c = secret.p[i];
		if (!ascii_is_alnum(c) && strchr("+/=-_.~", c) == NULL)
			return false;
	}
	return secret.n >= SECRET_LEAST;
}

char *auth_check_secret(const char *endpoint, const char *authenticator, const char *setting, struct str secret, const char *variable,
	const char *parameter)
{
	if (secret.n == 0)
		return auth_message("endpoint %s: auth = %s needs %s, by which the web server vouches for %s: set it to what `openssl rand -hex 32` "
			"prints, and have the web server send the same as parameter %s, only where it authenticates; the files of httpd-conf/ show how",
			endpoint, authenticator, setting, variable, parameter);
	if (!is_secret(secret))
		return auth_message("endpoint %s: %s must be %d characters or more of A-Z a-z 0-9 + / = - _ . ~, such as `openssl rand -hex 32` prints",
			endpoint, setting, SECRET_LEAST);
	return NULL;
}

char *auth_message(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		memory_end(0);
	va_end(args);
	return text;
}
