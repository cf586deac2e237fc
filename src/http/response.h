// SPDX-License-Identifier: Apache-2.0
// A response being made; nothing of it leaves before the transaction's COMMIT.
#ifndef TENURE_HTTP_RESPONSE_H
#define TENURE_HTTP_RESPONSE_H

#include "base/buf.h"
#include "base/spill.h"
#include "http/request.h"

enum { RESPONSE_MAX_HEADERS = 256 };

struct response {
	struct pool *pool;
	int status;
	struct str content_type; // "" when there is no body
	struct spill *spill;     // what goes before body; NULL mostly
	struct str body;
	size_t n_headers;
	struct http_header headers[RESPONSE_MAX_HEADERS]; // all but Status, Content-Type and Content-Length
};

// Bytes of the body altogether.
uint64_t response_length(const struct response *response);
// Puts what is in text, the body's beginning or what follows that, into the response's spill, and empties it. Where that can't
// be done text stays as it is. Answers how many bytes the spill has then.
uint64_t response_spill(struct response *response, struct buf *text);
// Empties the spill.
void response_unspill(struct response *response);
// Empties it (a handler that runs again starts from nothing).
void response_reset(struct response *response, struct pool *pool);
// Sets a header: replaces one of the same name (case-insensitive). name is a literal or lives in the pool; value is
// copied, CR, LF and NUL in it become blanks. Beyond RESPONSE_MAX_HEADERS it is dropped with a log line.
void response_set(struct response *response, const char *name, struct str value);
// Adds another of the same name (Vary, Link).
void response_add(struct response *response, const char *name, struct str value);
// Takes every header of that name away.
void response_unset(struct response *response, const char *name);
// STR_NONE when not set.
struct str response_get(const struct response *response, const char *name);

#endif
