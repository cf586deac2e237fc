// SPDX-License-Identifier: Apache-2.0
// Functions that several authenticators use: where a token stands in a request, what may be a name, messages.
#include "base/base.h"

#include <stdarg.h>

#include "auth/authenticator.h"

// The token of X-Auth-Token or Authorization: Bearer; other schemes of Authorization are for the web server. False: there is
// none.
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

bool auth_is_name(struct str name)
{
	return str_utf8_ok(name, NULL) && str_find(name, '\0', 0) == name.n && str_utf8_length(name) <= AUTH_MAX_NAME;
}

char *auth_message(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	return text;
}
