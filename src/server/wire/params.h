// SPDX-License-Identifier: Apache-2.0
// FastCGI parameters → struct request. Of the address only REQUEST_URI is read: PATH_INFO, SCRIPT_NAME and QUERY_STRING
// are decoded, merged or rewritten, by each web server in its own way.
#ifndef TENURE_SERVER_WIRE_PARAMS_H
#define TENURE_SERVER_WIRE_PARAMS_H

#include "http/request.h"
#include "server/wire/transport.h"

// Fills *request (zeroed by the caller) but for uri and body from envp, "NAME=VALUE" strings that end with NULL and
// outlive the request. max_headers: bytes of all HTTP_* names and values together.
// *content_length: as sent, STR_NONE when there is none or it is empty (nginx sends it so for requests without body).
// TRANSPORT_OK, _NO_TARGET, or _HEADERS_TOO_LARGE; in the last case everything but the headers is there.
enum transport_fault params_read(struct pool *pool, char *const *envp, size_t max_headers, struct request *request,
	struct str *content_length);

// Is a body of n bytes what Content-Length promised? TRANSPORT_OK, also when none was sent; TRANSPORT_BODY_CUT.
enum transport_fault params_check_length(struct str content_length, uint64_t n);

#endif
