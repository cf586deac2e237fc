// SPDX-License-Identifier: Apache-2.0
// The certificate that a client has shown to the web server: by which rules it is believed. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_CLIENT_CERTIFICATE_H
#define TENURE_AUTH_CORE_CLIENT_CERTIFICATE_H

#include "base/str.h"

struct certificate;
struct config_table;
struct endpoint_config;
struct pool;
struct request;

// The endpoint's setting certificate_secret, by which the web server vouches for certificates. "": it vouches for none.
struct str client_certificate_secret(const struct endpoint_config *endpoint);
extern const struct config_table client_certificate_table; // has that setting; the authenticator certificate brings it into the configuration

// Did the client show a certificate, verified or not?
bool client_certificate_came(const struct request *request);
// NULL: the web server has verified the client's certificate, sends it, and vouches for it by the secret. Otherwise which of these is
// missing.
const char *client_certificate_check(const struct request *request, struct str secret);
// Reads the certificate, whose strings are in pool afterwards. Call it only after client_certificate_check(). NULL, or what is
// wrong: it can't be read, or is not valid at present.
const char *client_certificate_read(struct pool *pool, const struct request *request, struct certificate *certificate);

#endif
