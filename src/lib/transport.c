// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange by libcurl. Redirects are never followed: the token would go along.
#include "base/base.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <signal.h>

#include "base/memory.h"
#include "lib/client.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

// A service's pages stay far below; beyond it the answer is not one.
enum { ANSWER_MAX = 256 * 1024 * 1024, WARNINGS_MAX = 4096 }; // bytes

struct transport {
	CURL *curl;
};

struct receiver {
	struct pool *pool;
	struct answer *answer;
	struct buf body;
};

// A connection that the other side closed must not end the program, and the program's own handling of signals must stay as it is.
// So SIGPIPE is blocked in this thread during the exchange, and one that was raised meanwhile is consumed before it is unblocked.
struct pipe_guard {
	sigset_t before;
	bool was_pending;
};

static struct pipe_guard pipe_hold(void)
{
	struct pipe_guard guard = { .was_pending = false };
	sigset_t pending, pipes;

	sigemptyset(&pending);
	sigpending(&pending);
	guard.was_pending = sigismember(&pending, SIGPIPE) == 1;
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, &guard.before);
	return guard;
}

static void pipe_release(const struct pipe_guard *guard)
{
	struct timespec at_once = { 0, 0 };
	sigset_t pipes;

	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	while (!guard->was_pending && sigtimedwait(&pipes, NULL, &at_once) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

struct transport *transport_new(void)
{
	struct transport *transport = calloc(1, sizeof(*transport));

	if (transport == NULL)
		return NULL;
	transport->curl = curl_easy_init();
	if (transport->curl == NULL) {
		free(transport);
		return NULL;
	}
	return transport;
}

void transport_free(struct transport **transport)
{
	if (*transport == NULL)
		return;
	struct pipe_guard guard = pipe_hold();
	curl_easy_cleanup((*transport)->curl);
	pipe_release(&guard);
	free(*transport);
	*transport = NULL;
}

static bool part_absent(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool absent = curl_url_get(url, part, &text, 0) != CURLUE_OK;

	curl_free(text);
	return absent;
}

bool transport_url_ok(const char *text)
{
	CURLU *url = curl_url();
	char *scheme = NULL;

	bool ok = url != NULL && strncmp(text, "http", 4) == 0 && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
		curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		(strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && part_absent(url, CURLUPART_USER) &&
		part_absent(url, CURLUPART_QUERY) && part_absent(url, CURLUPART_FRAGMENT);
	curl_free(scheme);
	curl_url_cleanup(url);
	return ok;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;

	if (size * count > ANSWER_MAX - receiver->body.n)
		return 0;
	buf_add(&receiver->body, str_n(bytes, size * count));
	return size * count;
}

static long seconds_of(struct str value)
{
	uint64_t seconds;

	return str_to_u64(value, &seconds) && seconds < 1000000 ? (long)seconds : -1;
}

// Adds the text of a field Warning, `299 - "text"`: what stands between its quotes, without backslashes. What is more than people
// read is left out: each field copies the text of those before.
static void take_warning(struct receiver *receiver, struct str value)
{
	struct str before = receiver->answer->warnings;

	if (str_find(value, '"', 0) == value.n || before.n + value.n > WARNINGS_MAX)
		return;
	struct buf text = buf_new(receiver->pool, before.n + value.n + 1);

	buf_add(&text, before);
	if (before.n > 0)
		buf_addc(&text, '\n');
	for (size_t i = str_find(value, '"', 0) + 1; i < value.n && value.p[i] != '"'; i++) {
		if (value.p[i] == '\\' && i + 1 < value.n)
			i++;
		buf_addc(&text, value.p[i]);
	}
	receiver->answer->warnings = buf_str(&text);
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;
	struct answer *answer = receiver->answer;
	struct str line = str_n(bytes, size * count);

	// A final answer follows an interim one: what that had is not its.
	if (str_starts(line, STR("HTTP/")))
		*answer = (struct answer){ .retry_after = -1 };
	while (line.n > 0 && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\n'))
		line.n--;
	size_t colon = str_find(line, ':', 0);
	if (colon == line.n)
		return size * count;
	struct str name = str_part(line, 0, colon);
	struct str value = str_dup(receiver->pool, str_trim(str_part(line, colon + 1, line.n)));
	if (memchr(value.p, '\0', value.n) != NULL)
		return size * count;
	if (str_eq_nocase(name, STR("etag")))
		answer->etag = value;
	else if (str_eq_nocase(name, STR("location")))
		answer->location = value;
	else if (str_eq_nocase(name, STR("warning")))
		take_warning(receiver, value);
	else if (str_eq_nocase(name, STR("retry-after")))
		answer->retry_after = seconds_of(value);
	return size * count;
}

static struct curl_slist *add_field(struct curl_slist *fields, struct pool *pool, const char *name, struct str value)
{
	struct str line = str_printf(pool, "%s: %.*s", name, STR_ARG(value));
	struct curl_slist *longer = curl_slist_append(fields, line.p);

	if (longer == NULL)
		memory_end(0);
	return longer;
}

static struct curl_slist *fields_of(const struct tenure_client *client, struct pool *pool, const struct wish *wish)
{
	struct curl_slist *fields = add_field(NULL, pool, "Accept", STR("application/json, application/problem+json"));

	// Without waiting for 100 Continue, which costs a round trip.
	fields = add_field(fields, pool, "Expect", STR(""));
	if (client->token.n > 0)
		fields = add_field(fields, pool, "X-Auth-Token", client->token);
	if (wish->body.p != NULL)
		fields = add_field(fields, pool, "Content-Type", str_c(wish->type));
	if (wish->if_match.n > 0)
		fields = add_field(fields, pool, "If-Match", wish->if_match);
	if (wish->if_none_match.n > 0)
		fields = add_field(fields, pool, "If-None-Match", wish->if_none_match);
	if (wish->prefer != NULL)
		fields = add_field(fields, pool, "Prefer", str_c(wish->prefer));
	if (wish->version != NULL)
		fields = add_field(fields, pool, wish->version->name, str_c(wish->version->value));
	return fields;
}

// Is the host of the URL this machine itself: localhost, 127.0.0.0/8 or ::1?
static bool is_loopback(const char *url)
{
	CURLU *parsed = curl_url();
	char *host = NULL;
	struct in_addr four;
	bool loopback = false;

	if (parsed != NULL && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		loopback = str_eq_nocase(str_c(host), STR("localhost")) || str_eq_c(str_c(host), "[::1]") ||
			(inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET);
	curl_free(host);
	curl_url_cleanup(parsed);
	return loopback;
}

static void set_connection(CURL *curl, const struct tenure_client *client, char error[CURL_ERROR_SIZE])
{
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "tenure/" TENURE_VERSION);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	// libcurl would ask the environment's proxy for this machine's addresses, too: the token would leave the machine, in
	// clear text.
	if (is_loopback(client->url.p))
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	// Timeouts by signals would touch the whole process.
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, client->connect_ms);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, client->call_ms);
	if (client->ca_file != NULL) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, client->ca_file);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL); // else libcurl trusts the authorities in the system's folder as well
	}
}

static void set_request(CURL *curl, const struct wish *wish, const char *url)
{
	bool post = strcmp(wish->method, "POST") == 0, get = strcmp(wish->method, "GET") == 0;

	curl_easy_setopt(curl, CURLOPT_URL, url);
	// If a reused connection breaks, libcurl sends any request again, even a change that the service has made. It does not do
	// so on a new connection.
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, get ? 0L : 1L);
	if (wish->body.p != NULL || post) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, wish->body.p != NULL ? wish->body.p : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)wish->body.n);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, wish->method);
}

// Only where nothing of the request can have left is it certain that it was not done. Two of libcurl's codes are for the time
// before the request, too: a limit that passed while it connected, and a proxy that refused to connect. The time at which the
// request began is 0 then.
static enum sent how_sent(CURL *curl, CURLcode code)
{
	curl_off_t began_us = 0;

	switch (code) {
	case CURLE_OK:
		return SENT_ANSWERED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return SENT_NEVER;
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_RECV_ERROR:
		return curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &began_us) == CURLE_OK && began_us == 0 ? SENT_NEVER : SENT_UNKNOWN;
	default:
		return SENT_UNKNOWN;
	}
}

enum sent transport_send(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	struct answer *answer, struct str *why)
{
	CURL *curl = client->transport->curl;
	char error[CURL_ERROR_SIZE] = "";
	struct receiver receiver = { .pool = pool, .answer = answer, .body = buf_new(pool, 0) };
	long status = 0;

	*answer = (struct answer){ .retry_after = -1 };
	curl_easy_reset(curl);
	set_connection(curl, client, error);
	set_request(curl, wish, str_printf(pool, "%.*s%.*s", STR_ARG(client->url), STR_ARG(wish->path)).p);
	struct curl_slist *fields = fields_of(client, pool, wish);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiver);
	struct pipe_guard guard = pipe_hold();
	CURLcode code = curl_easy_perform(curl);
	pipe_release(&guard);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	enum sent sent = how_sent(curl, code);
	// The error buffer and the receiver end with this function.
	curl_easy_reset(curl);
	curl_slist_free_all(fields);
	answer->status = sent == SENT_ANSWERED ? (int)status : 0;
	answer->body = str_dup(pool, buf_str(&receiver.body));
	*why = str_dup(pool, str_c(error[0] != '\0' ? error : curl_easy_strerror(code)));
	return sent;
}
