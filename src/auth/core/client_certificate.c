// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/client_certificate.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/crypto/certificate.h"
#include "base/digest.h"
#include "http/request.h"

struct client_certificate_settings {
	const char *secret; // by which the web server vouches for SSL_CLIENT_CERT
};

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, client_certificate_settings, member, __VA_ARGS__)

static const struct setting client_certificate_rows[] = {
	ENDPOINT("certificate_secret", SECRET, secret, "", 0, SETTING_TEXT_MAX, NULL,
		"Shared secret that the web server sends as TENURE_CERTIFICATE_SECRET where it verifies clients' certificates, and "
		"nowhere else. Required with auth = certificate, and for tokens of jwt that are bound to a certificate."),
};
const struct config_table client_certificate_table = {
	.settings = client_certificate_rows, .n = COUNT_OF(client_certificate_rows), .size = sizeof(struct client_certificate_settings),
	.of_endpoint = true,
};

struct str client_certificate_secret(const struct endpoint_config *endpoint)
{
	const struct client_certificate_settings *settings = config_endpoint_values(endpoint, &client_certificate_table);

	return str_c(settings->secret);
}

bool client_certificate_came(const struct request *request)
{
	return request->client_certificate.n > 0 || (request->client_verify.n > 0 && !str_eq(request->client_verify, STR("NONE")));
}

const char *client_certificate_check(const struct request *request, struct str secret)
{
	if (secret.n == 0 || !digest_equal(request->certificate_secret, secret))
		return "the web server sent a certificate without vouching for it; its configuration has to send TENURE_CERTIFICATE_SECRET where it "
			"verifies certificates";
	if (!str_eq(request->client_verify, STR("SUCCESS")))
		return "the web server could not verify the client's certificate";
	if (request->client_certificate.n == 0)
		return "the web server verified a certificate and sent none; its configuration has to send SSL_CLIENT_CERT";
	return NULL;
}

const char *client_certificate_read(struct pool *pool, const struct request *request, struct certificate *certificate)
{
	const char *wrong = certificate_read(pool, request->client_certificate, certificate);
	int64_t now = clock_now_us();

	if (wrong != NULL)
		return wrong;
	// A connection may be older than the end of the certificate that opened it.
	if (now < certificate->from_us || now >= certificate->until_us)
		return "the certificate has expired, or is not valid yet";
	return NULL;
}
