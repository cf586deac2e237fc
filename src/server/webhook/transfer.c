// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <curl/curl.h>
#include <unistd.h>

#include "server/webhook/transfer.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

// Longest lines of the answer's header, and milliseconds until a connection must stand, as a part of the whole.
enum { CONNECT_SHARE = 2 };

struct transfer {
	struct transfer *next, **back; // all that go on
	struct transfers *all;
	CURL *curl;
	struct curl_slist *headers;
	void *arg;
	size_t received; // bytes of the answer, its header included
	bool refused;    // the last address of the host is not allowed
	bool tried;      // one of them is, or was when the connection was made that this transfer goes on with
	char error[CURL_ERROR_SIZE];
};

struct transfers {
	const struct transfer_rules *rules;
	CURLM *multi;
	struct transfer *first;
};

struct transfers *transfers_new(const struct transfer_rules *rules)
{
	struct transfers *transfers = calloc(1, sizeof(*transfers));

	assert(rules->timeout_ms > 0);
	if (transfers == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(transfers);
		return NULL;
	}
	transfers->rules = rules;
	transfers->multi = curl_multi_init();
	if (transfers->multi == NULL)
		transfers_free(&transfers);
	return transfers;
}

static void transfer_free(struct transfer *transfer)
{
	if (transfer->curl != NULL) {
		(void)curl_multi_remove_handle(transfer->all->multi, transfer->curl);
		curl_easy_cleanup(transfer->curl);
	}
	curl_slist_free_all(transfer->headers);
	if (transfer->back != NULL) {
		*transfer->back = transfer->next;
		if (transfer->next != NULL)
			transfer->next->back = transfer->back;
	}
	free(transfer);
}

void *transfers_drop(struct transfers *transfers)
{
	struct transfer *transfer = transfers->first;
	void *arg = transfer != NULL ? transfer->arg : NULL;

	if (transfer != NULL)
		transfer_free(transfer);
	return arg;
}

void transfers_free(struct transfers **transfers)
{
	if (*transfers == NULL)
		return;
	while ((*transfers)->first != NULL)
		(void)transfers_drop(*transfers);
	if ((*transfers)->multi != NULL)
		(void)curl_multi_cleanup((*transfers)->multi);
	free(*transfers);
	*transfers = NULL;
}

// ---- callbacks of libcurl

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = arg;
	const struct transfer_rules *rules = transfer->all->rules;

	transfer->refused = purpose != CURLSOCKTYPE_IPCXN || !address_is_allowed(&address->addr, &rules->networks, &rules->ports);
	if (transfer->refused)
		return CURL_SOCKET_BAD;
	transfer->tried = true;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Called when the connection stands, one kept from an earlier transfer as well: for that one open_socket() is not called.
static int note_connection(void *arg, char *to, char *from, int to_port, int from_port)
{
	struct transfer *transfer = arg;

	UNUSED(to);
	UNUSED(from);
	UNUSED(to_port);
	UNUSED(from_port);
	transfer->tried = true;
	return CURL_PREREQFUNC_OK;
}

// Counts what comes and forgets it; an answer that is too long is ended.
static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
	struct transfer *transfer = arg;

	UNUSED(bytes);
	transfer->received += size * count;
	return transfer->received <= TRANSFER_ANSWER_MAX ? size * count : 0;
}

// ---- beginning

static char *c_string(struct str text)
{
	assert(memchr(text.p, '\0', text.n) == NULL);
	return strndup(text.p, text.n);
}

static bool set_headers(struct transfer *transfer, const struct transfer_request *request)
{
	static const char *const always[] = { "Content-Type: application/json", "Accept: */*", "Expect:" };

	for (size_t i = 0; i < COUNT_OF(always) + TRANSFER_HEADERS_MAX; i++) {
		struct str line = i < COUNT_OF(always) ? str_c(always[i]) : request->headers[i - COUNT_OF(always)];
		char *text = line.p != NULL ? c_string(line) : NULL;
		struct curl_slist *longer = text != NULL ? curl_slist_append(transfer->headers, text) : NULL;
		free(text);
		if (line.p != NULL && longer == NULL)
			return false;
		if (longer != NULL)
			transfer->headers = longer;
	}
	return true;
}

// Trusts the authorities of ca_file alone. Without the second option libcurl trusts those in the system's folder as well; a TLS
// library that reads no folders has no such option.
static bool set_authorities(CURL *curl, const char *ca_file)
{
	CURLcode code;

	if (ca_file[0] == '\0')
		return true;
	if (curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file) != CURLE_OK)
		return false;
	code = curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	return code == CURLE_OK || code == CURLE_NOT_BUILT_IN;
}

// What decides where a connection may lead.
static bool set_ways(const struct transfer *transfer)
{
	const struct transfer_rules *rules = transfer->all->rules;
	CURL *curl = transfer->curl;

	return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, rules->http ? "http,https" : "https") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK && // none, whatever the environment says
	       curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, note_connection) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PREREQDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
	       set_authorities(curl, rules->ca_file);
}

// QUICK_EXIT: a name is looked up in a thread of libcurl's. When the time of a transfer is over, this thread is left to itself. Otherwise libcurl
// would wait for the resolver, and with it all transfers.
static bool set_rest(struct transfer *transfer, const struct transfer_request *request)
{
	const struct transfer_rules *rules = transfer->all->rules;
	CURL *curl = transfer->curl;
	char *url = c_string(request->url);
	bool ok = url != NULL && curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK;

	free(url);
	return ok && curl_easy_setopt(curl, CURLOPT_PRIVATE, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USERAGENT, "tenure/" TENURE_VERSION) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)rules->timeout_ms) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(rules->timeout_ms / CONNECT_SHARE + 1)) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, request->body.p) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer) == CURLE_OK;
}

bool transfers_start(struct transfers *transfers, const struct transfer_request *request, void *arg)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));

	assert(arg != NULL && request->body.n > 0);
	if (transfer == NULL)
		return false;
	transfer->all = transfers;
	transfer->arg = arg;
	transfer->curl = curl_easy_init();
	if (transfer->curl == NULL || !set_headers(transfer, request) || !set_ways(transfer) || !set_rest(transfer, request) ||
		curl_multi_add_handle(transfers->multi, transfer->curl) != CURLM_OK) {
		transfer_free(transfer);
		return false;
	}
	transfer->next = transfers->first;
	transfer->back = &transfers->first;
	if (transfer->next != NULL)
		transfer->next->back = &transfer->next;
	transfers->first = transfer;
	return true;
}

// ---- going on, and ending

void transfers_wait(struct transfers *transfers, int ms)
{
	int running;

	if (transfers->first == NULL) {
		(void)curl_multi_poll(transfers->multi, NULL, 0, ms, NULL);
		return;
	}
	(void)curl_multi_perform(transfers->multi, &running);
	(void)curl_multi_poll(transfers->multi, NULL, 0, ms, NULL);
	(void)curl_multi_perform(transfers->multi, &running);
}

static void copy_visible(char to[TRANSFER_ERROR_MAX], const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0' && n + 1 < TRANSFER_ERROR_MAX; n++)
		to[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	to[n] = '\0';
}

// An answer that is too long is an answer: its status counts. The error is shown to the webhook's owner, so it must not tell what
// an address that is not allowed would have answered, nor whether there is one.
static void describe(const struct transfer *transfer, CURLcode code, struct transfer_end *end)
{
	const char *text = transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code);
	const bool unknown = code == CURLE_COULDNT_RESOLVE_HOST || (code == CURLE_OPERATION_TIMEDOUT && !transfer->tried);

	if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && transfer->received > TRANSFER_ANSWER_MAX && end->status != 0))
		return;
	end->status = 0;
	if (transfer->refused || unknown) {
		copy_visible(end->reason, transfer->refused ? "it leads to an address that is not public, and of no network in allow" : text);
		text = "the host is unknown, or has no address that messages may be sent to";
	}
	copy_visible(end->error, text);
}

bool transfers_next(struct transfers *transfers, struct transfer_end *end)
{
	struct transfer *transfer = NULL;
	CURLMsg *message;
	int left;
	long status = 0;

	do
		message = curl_multi_info_read(transfers->multi, &left);
	while (message != NULL && message->msg != CURLMSG_DONE);
	if (message == NULL)
		return false;
	CURLcode code = message->data.result;
	(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
	(void)curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
	*end = (struct transfer_end){ .arg = transfer->arg, .status = status > 0 && status < 1000 ? (unsigned)status : 0 };
	describe(transfer, code, end);
	transfer_free(transfer);
	return true;
}
