// SPDX-License-Identifier: Apache-2.0
// Reads all parameters in one pass. FCGX_GetParam() would search all of them for each name.
#include "base/base.h"

#include "server/wire/params.h"

enum wanted {
	REQUEST_METHOD,
	REQUEST_URI,
	SERVER_PROTOCOL,
	CONTENT_TYPE,
	CONTENT_LENGTH,
	REMOTE_ADDR,
	REMOTE_USER,
	TENURE_REMOTE_USER_SECRET,
	SSL_CLIENT_VERIFY,
	SSL_CLIENT_CERT,
	TENURE_CERTIFICATE_SECRET,
	HTTPS,
	REQUEST_SCHEME,
	TENURE_LOCATION_NAME,
	WANTED__COUNT
};

static const struct str wanted_names[WANTED__COUNT] = {
#define WANTED(name) [name] = { #name, sizeof(#name) - 1 }
	WANTED(REQUEST_METHOD),
	WANTED(REQUEST_URI),
	WANTED(SERVER_PROTOCOL),
	WANTED(CONTENT_TYPE),
	WANTED(CONTENT_LENGTH),
	WANTED(REMOTE_ADDR),
	WANTED(REMOTE_USER),
	WANTED(TENURE_REMOTE_USER_SECRET),
	WANTED(SSL_CLIENT_VERIFY),
	WANTED(SSL_CLIENT_CERT),
	WANTED(TENURE_CERTIFICATE_SECRET),
	WANTED(HTTPS),
	WANTED(REQUEST_SCHEME),
	WANTED(TENURE_LOCATION_NAME),
#undef WANTED
};

static void keep_wanted(struct str values[WANTED__COUNT], struct str name, struct str value)
{
	for (size_t i = 0; i < WANTED__COUNT; i++) {
		if (str_eq(name, wanted_names[i])) {
			values[i] = value;
			return;
		}
	}
}

// No client needs the header "Proxy"; as the variable HTTP_PROXY it would configure HTTP libraries (CVE-2016-5385).
static bool header_is_ignored(struct str name)
{
	return name.n == 0 || str_eq_nocase(name, STR("PROXY"));
}

static bool is_https(const struct str values[WANTED__COUNT])
{
	struct str https = values[HTTPS];

	if (https.n > 0)
		return !str_eq_nocase(https, STR("off")) && !str_eq(https, STR("0"));
	return str_eq_nocase(values[REQUEST_SCHEME], STR("https"));
}

static void fill(struct request *request, const struct str values[WANTED__COUNT])
{
	struct str host = request_header(request, "host");

	request->method_text = values[REQUEST_METHOD];
	request->method = http_method_parse(values[REQUEST_METHOD]);
	request->target = values[REQUEST_URI];
	request->protocol = values[SERVER_PROTOCOL];
	request->content_type = str_trim(values[CONTENT_TYPE]);
	request->remote_addr = values[REMOTE_ADDR];
	request->remote_user = values[REMOTE_USER];
	request->remote_user_secret = values[TENURE_REMOTE_USER_SECRET];
	request->client_verify = values[SSL_CLIENT_VERIFY];
	request->client_certificate = values[SSL_CLIENT_CERT];
	request->certificate_secret = values[TENURE_CERTIFICATE_SECRET];
	request->host = host.p != NULL ? str_trim(host) : STR("");
	request->https = is_https(values);
	request->location_name = values[TENURE_LOCATION_NAME];
}

enum transport_fault params_read(struct pool *pool, char *const *envp, size_t max_headers, struct request *request,
	struct str *content_length)
{
	const struct str prefix = STR("HTTP_");
	struct str values[WANTED__COUNT];
	size_t header_bytes = 0, n_fields = 0;
	bool too_large = false;

	assert(envp != NULL && max_headers > 0);
	for (size_t i = 0; i < WANTED__COUNT; i++)
		values[i] = STR("");
	for (size_t i = 0; envp[i] != NULL; i++) {
		struct str pair = str_c(envp[i]);
		size_t equals = str_find(pair, '=', 0);
		struct str name = str_part(pair, 0, equals);
		struct str value = str_part(pair, equals + 1, pair.n);

		if (!str_starts(name, prefix)) {
			keep_wanted(values, name, value);
			continue;
		}
		name = str_part(name, prefix.n, name.n);
		header_bytes += name.n + value.n;
		// Header fields of the same name are joined by copying, so each of them is counted.
		if (header_bytes > max_headers || ++n_fields > REQUEST_MAX_HEADERS)
			too_large = true;
		else if (!header_is_ignored(name) && request_add_header(pool, request, name, value) != OUTCOME_OK)
			too_large = true;
	}
	fill(request, values);
	*content_length = values[CONTENT_LENGTH].n > 0 ? values[CONTENT_LENGTH] : STR_NONE;
	if (request->target.n == 0)
		return TRANSPORT_NO_TARGET;
	return too_large ? TRANSPORT_HEADERS_TOO_LARGE : TRANSPORT_OK;
}

enum transport_fault params_check_length(struct str content_length, uint64_t n)
{
	uint64_t promised;

	if (content_length.p == NULL)
		return TRANSPORT_OK;
	return str_to_u64(content_length, &promised) && promised == n ? TRANSPORT_OK : TRANSPORT_BODY_CUT;
}
