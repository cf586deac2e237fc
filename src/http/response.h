// SPDX-License-Identifier: Apache-2.0
// A response that is being built. Nothing of it is sent before the transaction's COMMIT.
#ifndef TENURE_HTTP_RESPONSE_H
#define TENURE_HTTP_RESPONSE_H

#include "base/buf.h"
#include "base/spill.h"
#include "http/request.h"

enum { RESPONSE_MAX_HEADERS = 256 };

struct response {
	struct pool *pool;
	int status;
	struct str content_type; // "" if there is no body
	struct spill *spill;     // the part of the answer before body; mostly NULL
	bool no_spill;           // a part could not be written to it: all that comes stays in memory
	struct str body;
	size_t n_headers;
	struct http_header headers[RESPONSE_MAX_HEADERS]; // all but Status, Content-Type and Content-Length
};

// Length of the whole body in bytes, the spill included.
uint64_t response_length(const struct response *response);
// Moves text, the beginning or the next part of the body, to the response's spill, and empties text. If the spill can't be
// written, text stays as it is, and so do all parts that come (response->no_spill). Returns the bytes in the spill.
uint64_t response_spill(struct response *response, struct buf *text);
// Empties the spill.
void response_unspill(struct response *response);
// Empties the response, for a handler that runs again and starts from nothing.
void response_reset(struct response *response, struct pool *pool);
// Sets a header field and replaces one of the same name (in any case). name is a literal or lives in the pool. value is copied;
// CR, LF and NUL in it become blanks. Beyond RESPONSE_MAX_HEADERS the field is dropped and logged.
void response_set(struct response *response, const char *name, struct str value);
// The same, unless there is a field of that name already.
void response_set_default(struct response *response, const char *name, struct str value);
// Adds another field of the same name (Vary, Link), or one whose name no other code sets: then nothing has to be searched.
void response_add(struct response *response, const char *name, struct str value);
// Removes every header field of that name.
void response_unset(struct response *response, const char *name);
// STR_NONE if not set.
struct str response_get(const struct response *response, const char *name);

#endif
