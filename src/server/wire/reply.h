// SPDX-License-Identifier: Apache-2.0
// The header block of a response, in CGI form.
#ifndef TENURE_SERVER_WIRE_REPLY_H
#define TENURE_SERVER_WIRE_REPLY_H

#include "base/buf.h"
#include "http/response.h"

// False for statuses that have no body, and so neither Content-Type nor Content-Length: 204 and 304.
bool reply_has_body(const struct response *response);
// Appends the header block and the empty line that ends it. The Status field is always there, and first: without it Apache
// evaluates If-Match itself. Content-Length is exact; for HEAD it is the length of GET's body.
void reply_head(struct buf *out, const struct response *response);
// The same for a body whose length is not known yet: without Content-Length.
void reply_head_open(struct buf *out, const struct response *response);

#endif
