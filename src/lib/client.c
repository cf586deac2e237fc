// SPDX-License-Identifier: Apache-2.0
// Clients: the settings that all calls of a program share, and the error of the last call that failed.
#include "base/base.h"

#include "http/uri.h"
#include "lib/client.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

enum { CONNECT_MS = 10000, CALL_MS = 60000, RETRIES = 3, LONGEST_WAIT_MS = 5000 };

const char *tenure_version(void)
{
	return TENURE_VERSION;
}

const char *tenure_status_text(enum tenure_status status)
{
	static const char *const texts[] = {
		[TENURE_OK] = "done",
		[TENURE_END] = "there are no more",
		[TENURE_PENDING] = "it goes on in the background",
		[TENURE_INVALID] = "the call makes no sense",
		[TENURE_REFUSED] = "the service refused what was sent",
		[TENURE_UNAUTHENTICATED] = "the token is missing, unknown or expired",
		[TENURE_FORBIDDEN] = "not permitted",
		[TENURE_NOT_FOUND] = "there is no such thing",
		[TENURE_GONE] = "it was deleted",
		[TENURE_MOVED] = "it was moved to another tenant",
		[TENURE_CONFLICT] = "its state forbids it",
		[TENURE_BLOCKED] = "something keeps it from being moved",
		[TENURE_STALE] = "it changed since it was read",
		[TENURE_NEEDS_ETAG] = "a change needs an etag here",
		[TENURE_UNAVAILABLE] = "the service is not available",
		[TENURE_UNCERTAIN] = "it may have been done or not",
		[TENURE_PROTOCOL] = "this is no answer of a Tenure service",
		[TENURE_FAILED] = "the service failed",
	};

	return (size_t)status < COUNT_OF(texts) && texts[status] != NULL ? texts[status] : "unknown";
}

// Is it fit for a header field: without control characters and blanks?
static bool field_ok(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c <= ' ' || c == 0x7f)
			return false;
	}
	return true;
}

struct tenure_client *tenure_client_new(const char *url, const char *token)
{
	struct str address = str_c(url), secret = str_c(token);

	if (url == NULL || !transport_url_ok(url) || !field_ok(address) || !field_ok(secret))
		return NULL;
	struct tenure_client *client = calloc(1, sizeof(*client));
	if (client == NULL)
		return NULL;
	client->pool = pool_new();
	client->error.pool = pool_new();
	client->transport = transport_new();
	if (client->pool == NULL || client->error.pool == NULL || client->transport == NULL) {
		tenure_client_free(&client);
		return NULL;
	}
	while (address.n > 0 && address.p[address.n - 1] == '/')
		address.n--;
	client->url = str_dup(client->pool, address);
	client->token = str_dup(client->pool, secret);
	client->error.location = client->error.document = STR_NONE;
	tenure_client_set_timeouts(client, CONNECT_MS, CALL_MS);
	tenure_client_set_retries(client, RETRIES, LONGEST_WAIT_MS);
	return client;
}

void tenure_client_free(struct tenure_client **client)
{
	if (*client == NULL)
		return;
	if ((*client)->transport != NULL)
		transport_free(&(*client)->transport);
	pool_free(&(*client)->error.pool);
	pool_free(&(*client)->pool);
	free(*client);
	*client = NULL;
}

void tenure_client_set_timeouts(struct tenure_client *client, long connect_ms, long call_ms)
{
	// For libcurl, 0 means its own default of 300 s.
	client->connect_ms = connect_ms > 0 ? connect_ms : 0x7fffffffL;
	client->call_ms = call_ms > 0 ? call_ms : 0;
}

void tenure_client_set_ca_file(struct tenure_client *client, const char *path)
{
	client->ca_file = path != NULL ? str_cstr(client->pool, str_c(path)) : NULL;
}

void tenure_client_set_retries(struct tenure_client *client, unsigned retries, long longest_wait_ms)
{
	client->retries = retries;
	client->longest_wait_ms = longest_wait_ms > 0 ? longest_wait_ms : 0;
}

// ---- the last error

const char *tenure_error_text(const struct tenure_client *client)
{
	return client->error.text.n > 0 ? client->error.text.p : "";
}

int tenure_error_http(const struct tenure_client *client)
{
	return client->error.http;
}

const char *tenure_error_location(const struct tenure_client *client)
{
	return client->error.location.p;
}

const char *tenure_error_document(const struct tenure_client *client, size_t *length)
{
	if (length != NULL)
		*length = client->error.document.n;
	return client->error.document.p;
}

const char *tenure_error_member(struct tenure_client *client, const char *name)
{
	struct pool *pool = client->error.pool;
	struct doc *problem;
	struct str unused;
	const struct doc *value, *errors;

	if (client->error.document.p == NULL || name == NULL ||
		!doc_parse_json(pool, client->error.document, (struct doc_limits){ 1000, 0 }, &problem, &unused))
		return NULL;
	// Placement's problems are in a list with a single error.
	if (!doc_get(problem, str_c(name), &value) &&
		(!doc_get(problem, STR("errors"), &errors) || !doc_get(doc_at(errors, 0), str_c(name), &value)))
		return NULL;
	if (doc_kind(value) == DOC_STRING)
		return str_dup(pool, doc_string(value)).p;
	struct buf text = buf_new(pool, 0);
	doc_write_json(value, &text);
	return str_dup(pool, buf_str(&text)).p;
}

// ---- addresses and etags

bool client_path_add(struct buf *path, struct str segment)
{
	if (segment.n == 0 || str_eq(segment, STR(".")) || str_eq(segment, STR("..")) || memchr(segment.p, '/', segment.n) != NULL ||
		memchr(segment.p, '\0', segment.n) != NULL || !str_utf8_ok(segment, NULL))
		return false;
	buf_addc(path, '/');
	uri_add_segment(path, segment);
	return true;
}

bool client_etag_header(struct pool *pool, struct str text, struct str *header)
{
	struct str tag = str_trim(text);
	bool weak = str_starts(tag, STR("W/"));

	*header = STR_NONE;
	if (tag.n == 0 || !field_ok(tag))
		return false;
	struct str opaque = str_part(tag, weak ? 2 : 0, tag.n);
	bool quoted = opaque.n >= 2 && opaque.p[0] == '"' && opaque.p[opaque.n - 1] == '"';
	if (str_eq(tag, STR("*")) || quoted) {
		*header = str_dup(pool, tag);
		return true;
	}
	if (opaque.n == 0 || memchr(opaque.p, '"', opaque.n) != NULL || memchr(opaque.p, ',', opaque.n) != NULL)
		return false;
	*header = str_printf(pool, "%s\"%.*s\"", weak ? "W/" : "", STR_ARG(opaque));
	return true;
}

enum tenure_status client_wish_etag(struct tenure_client *client, struct pool *pool, struct wish *wish,
	struct tenure_etag etag, struct str current)
{
	switch (etag.kind) {
	case TENURE_ETAG_IS_NONE:
		return TENURE_OK;
	case TENURE_ETAG_IS_CURRENT:
		if (current.n == 0)
			return client_fail(client, TENURE_INVALID, "no etag is known yet: read it first");
		wish->if_match = current;
		return TENURE_OK;
	case TENURE_ETAG_IS_NEW:
		wish->if_none_match = STR("*");
		return TENURE_OK;
	case TENURE_ETAG_IS_TEXT:
		if (etag.text != NULL && client_etag_header(pool, str_c(etag.text), &wish->if_match))
			return TENURE_OK;
		break;
	}
	return client_fail(client, TENURE_INVALID, "\"%s\" is no etag", etag.text != NULL ? etag.text : "");
}
