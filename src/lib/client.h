// SPDX-License-Identifier: Apache-2.0
// For files in lib/, and cli/ where it needs more than the public header gives: clients and the calls they make.
#ifndef TENURE_LIB_CLIENT_H
#define TENURE_LIB_CLIENT_H

#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"
#include "lib/tenure.h"
#include "repr/json/doc.h"

// The header field by which a dialect is told which version of it is meant.
struct version_field {
	const char *name, *value;
};

// A call to be made.
struct wish {
	const char *method;
	struct str path;          // encoded, with its query
	struct str body;          // p NULL: none
	const char *type;         // of the body
	struct str if_match;      // as the header field has it; n 0: none
	struct str if_none_match;
	const char *prefer;       // NULL: none
	const struct version_field *version; // NULL: none
};

struct answer {
	int status; // 0: there was none
	struct str etag, location, body; // p NULL where there is none
	long retry_after; // seconds, -1 when the answer has none
};

// How one attempt went.
enum sent { SENT_ANSWERED, SENT_NEVER, SENT_UNKNOWN };

struct transport;

struct tenure_client {
	struct pool *pool; // what lasts as long as the client
	struct str url;    // without '/' at its end
	struct str token;  // n 0: none
	const char *ca_file;
	long connect_ms, call_ms, longest_wait_ms;
	unsigned retries;
	struct transport *transport;
	struct {
		struct pool *pool;
		struct str text;
		struct str location; // p NULL: none
		struct str document; // p NULL: none
		int http;
	} error;
	// Asked before a call that would change something: false keeps it from being sent, and it ends with TENURE_OK and
	// no document. NULL: all are sent.
	bool (*before_change)(const struct tenure_client *client, const struct wish *wish, void *arg);
	void *before_change_arg;
	bool nothing_sent; // by before_change's word; of the last call
};

// Sends the wish, again where that is safe, and tells how it ended; an error is kept in the client. The answer lives in
// pool.
enum tenure_status client_call(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	struct answer *answer);
// Keeps an error of the library's own and returns status.
enum tenure_status client_fail(struct tenure_client *client, enum tenure_status status, const char *format, ...)
	PRINTF_LIKE(3, 4);

// "W/"abc"" out of what a document or a user has: quoted, W/ kept. False when it can't stand in a header field.
bool etag_header(struct pool *pool, struct str text, struct str *header);
// Puts the etag asked for into the wish; current is the object's, n 0 for none.
enum tenure_status wish_etag(struct tenure_client *client, struct pool *pool, struct wish *wish,
	struct tenure_etag etag, struct str current);

// Reads a document that the service sent.
enum tenure_status client_parse(struct tenure_client *client, struct pool *pool, struct str text, struct doc **doc);

// ---- baremetal.c

extern const struct version_field metal_version;
// A copy without what the service alone sets in a thing of bare metal.
struct doc *metal_own(struct pool *pool, const struct doc *document);
// The JSON Patch that makes what base is into what wanted is; what the service alone sets is passed over.
struct doc *metal_diff(struct pool *pool, const struct doc *base, const struct doc *wanted);

// ---- placement.c

#define PLACEMENT_ROOT "/placement"
extern const struct version_field placement_version;
// A copy with what PUT takes of a provider alone.
struct doc *provider_own(struct pool *pool, const struct doc *document);
// The same of what a merge patch makes of it: a member that it removes is null.
struct doc *provider_merge(struct pool *pool, const struct doc *document, const struct doc *patch);

// An address being put together: false when a segment is no id.
bool path_add(struct buf *path, const char *segment);

// ---- transport.c, alone with libcurl

struct transport *transport_new(void); // NULL when libcurl refuses
void transport_free(struct transport **transport);
// One attempt. *why: what went wrong when it was not answered; in pool, as the answer.
enum sent transport_send(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	struct answer *answer, struct str *why);
// True when url is one that transport_send can use: http or https with a host, and without user, query and fragment.
bool transport_url_ok(const char *url);

#endif
