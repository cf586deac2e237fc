// SPDX-License-Identifier: Apache-2.0
// Converts FastCGI parameters to a struct request. The address is taken from REQUEST_URI only: each web server decodes, merges or
// rewrites PATH_INFO, SCRIPT_NAME and QUERY_STRING in its own way.
#ifndef TENURE_SERVER_WIRE_PARAMS_H
#define TENURE_SERVER_WIRE_PARAMS_H

#include "http/request.h"
#include "server/wire/transport.h"

// Fills *request, which the caller has zeroed, except uri and body. envp: strings "NAME=VALUE", ending with NULL, that outlive
// the request. max_headers: limit in bytes of all HTTP_* names and values together.
// *content_length: as received; STR_NONE if there is none or it is empty (as nginx sends it for requests without body).
// Returns TRANSPORT_OK, _NO_TARGET, or _HEADERS_TOO_LARGE; in the last case everything but the headers is filled.
enum transport_fault params_read(struct pool *pool, char *const *envp, size_t max_headers, struct request *request,
	struct str *content_length);

// Is a body of n bytes as long as Content-Length said? TRANSPORT_OK, also if there is no Content-Length, else TRANSPORT_BODY_CUT.
enum transport_fault params_check_length(struct str content_length, uint64_t n);

#endif
