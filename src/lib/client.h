// SPDX-License-Identifier: Apache-2.0
// Clients and the calls that they make. For files in lib/, and for cli/ where the public header does not suffice.
#ifndef TENURE_LIB_CLIENT_H
#define TENURE_LIB_CLIENT_H

#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"
#include "lib/tenure.h"
#include "repr/json/doc.h"

// The header field by which a request names the version of its dialect.
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
	bool sees_other;          // 303 is an answer to it: it moves something, or asks where a move has led
	const struct version_field *version; // NULL: none
};

struct answer {
	int status; // 0: there was none
	struct str etag, location, body; // p NULL where there is none
	struct str warnings; // the texts of the header fields Warning, a line each
	long retry_after; // seconds, -1 when the answer has none
};

// How one attempt ended: with an answer; certainly without having reached the service; or nobody knows.
enum sent { SENT_ANSWERED, SENT_NEVER, SENT_UNKNOWN };

struct transport;

struct tenure_client {
	struct pool *pool; // for what lives as long as the client
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
	// Called before a call that would change something. If it returns false, the call is not sent and ends with TENURE_OK and
	// no document: a dry run. NULL: all calls are sent.
	bool (*before_change)(const struct tenure_client *client, const struct wish *wish, void *arg);
	void *before_change_arg;
	// Called for an answer that has header fields Warning, with their texts, a line each. NULL: they are ignored.
	void (*warned)(struct str warnings, void *arg);
	void *warned_arg;
	const char *change_query; // appended to the address of each change: "?dry_run=true"; NULL: nothing
	bool nothing_sent; // before_change kept the last call from being sent
};

// Sends the call, and sends it again where that is safe. Returns how it ended; the client keeps the error. The answer lives in
// pool. Blocks for at most the client's timeouts and waits.
enum tenure_status client_call(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	struct answer *answer);
// Sets the client's error to a text of the library's own. Returns status.
enum tenure_status client_fail(struct tenure_client *client, enum tenure_status status, const char *format, ...)
	PRINTF_LIKE(3, 4);

// Makes the header value of an etag from a document or user: adds the quotes if they are missing, and keeps W/. False: the text
// cannot be in a header field.
bool client_etag_header(struct pool *pool, struct str text, struct str *header);
// Puts the precondition that the caller chose into the call. current: the object's etag; n 0: none.
enum tenure_status client_wish_etag(struct tenure_client *client, struct pool *pool, struct wish *wish,
	struct tenure_etag etag, struct str current);

// Reads a document that the service sent.
enum tenure_status client_parse(struct tenure_client *client, struct pool *pool, struct str text, struct doc **doc);

// ---- baremetal.c

extern const struct version_field baremetal_version;
// A copy of a bare-metal document without the members that only the service sets.
struct doc *client_metal_own(struct pool *pool, const struct doc *document);
// The JSON Patch that changes base into wanted. Members that only the service sets are ignored.
struct doc *client_diff(struct pool *pool, const struct doc *base, const struct doc *wanted);

// ---- placement.c

#define PLACEMENT_ROOT "/placement"
extern const struct version_field placement_version;
// A copy of a provider's document with only the members that its PUT accepts.
struct doc *provider_own(struct pool *pool, const struct doc *document);
// A copy of a provider's document with the merge patch applied, and with only the members that its PUT accepts. A member that the
// patch removes is null.
struct doc *provider_merge(struct pool *pool, const struct doc *document, const struct doc *patch);

// Adds a segment, percent-encoded, to an address. False: the segment cannot be a name: it is empty, "." or "..", holds "/" or
// NUL, or is no UTF-8. Nothing was added then. So names in answers of the service can be passed as they are. CLIENT_SEGMENT_RULE
// ends an error text about a segment, behind a colon.
#define CLIENT_SEGMENT_RULE "it has to be UTF-8, not empty, without \"/\", and neither \".\" nor \"..\""
bool client_path_add(struct buf *path, struct str segment);

// ---- list.c

// Takes the query of the next page, "?limit=…", from the member "next" of a page, and nothing else of that address: so neither a
// proxy that does not know its own name nor a hostile service can make the client send its token elsewhere. present: the page's
// own query.
// *query p NULL: there is no next page. False: "next" leads nowhere, or to the page itself, so that the list would be endless; *query
// has p NULL then, too.
bool client_next_query(struct pool *pool, const struct doc *page, struct str present, struct str *query);

// ---- move.c

// The background move at a location, as a 202 has it; NULL: it is none.
struct tenure_move *client_move_at(struct tenure_client *client, struct str location);
// The id of the tenant whose move it is: where tenure_move_known() finds it.
const char *client_move_tenant(const struct tenure_move *move, struct pool *pool);

// ---- transport.c, alone with libcurl

struct transport *transport_new(void); // NULL when libcurl refuses
void transport_free(struct transport **transport);
// Makes one attempt. If there is no answer, *why says what went wrong. Both live in pool.
enum sent transport_send(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	struct answer *answer, struct str *why);
// True when url is one that transport_send can use: http or https with a host, and without user, query and fragment.
bool transport_url_ok(const char *url);

#endif
