// SPDX-License-Identifier: Apache-2.0
// The header block of a response, as CGI has it.
#ifndef TENURE_SERVER_WIRE_REPLY_H
#define TENURE_SERVER_WIRE_REPLY_H

#include "base/buf.h"
#include "http/response.h"

// Statuses that have no body, and so neither Content-Type nor Content-Length: 204 and 304.
bool reply_has_body(const struct response *response);
// Appends it, with the empty line that ends it. Status always comes first and is always there: without it Apache
// evaluates If-Match itself. Content-Length is exact, that of GET's body for HEAD, too.
void reply_head(struct buf *out, const struct response *response);
// The same for a body whose length is not known yet.
void reply_head_open(struct buf *out, const struct response *response);

#endif
