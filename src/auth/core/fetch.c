// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <curl/curl.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/core/fetch.h"
#include "base/buf.h"
#include "base/descriptors.h"
#include "base/memory.h"
#include "base/pool.h"

#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

enum { TOKEN_MAX = 8192 }; // bytes of a header field that is kept

struct fetcher {
	CURL *curl; // NULL until the first exchange, so that it is made by the process that uses it
	const char *ca_file;
};

struct receiver {
	struct pool *pool;
	struct fetch_answer *answer;
	struct buf body;
	size_t max_body;
	bool too_large;
};

struct fetcher *fetcher_new(const char *ca_file)
{
	struct fetcher *fetcher = calloc(1, sizeof(*fetcher));

	assert(ca_file != NULL);
	if (fetcher != NULL)
		fetcher->ca_file = ca_file;
	return fetcher;
}

void fetcher_free(struct fetcher **fetcher)
{
	if (*fetcher == NULL)
		return;
	if ((*fetcher)->curl != NULL)
		curl_easy_cleanup((*fetcher)->curl);
	free(*fetcher);
	*fetcher = NULL;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;

	if (size * count > receiver->max_body - receiver->body.n) {
		receiver->too_large = true;
		return 0; // libcurl gives the exchange up
	}
	buf_add(&receiver->body, str_n(bytes, size * count));
	return size * count;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;
	struct str line = str_n(bytes, size * count);

	while (line.n > 0 && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\n'))
		line.n--;
	size_t colon = str_find(line, ':', 0);
	struct str value = str_trim(str_part(line, colon + 1, line.n));
	if (str_eq_nocase(str_part(line, 0, colon), STR("X-Subject-Token")) && value.n <= TOKEN_MAX)
		receiver->answer->subject_token = str_dup(receiver->pool, value);
	return size * count;
}

static struct curl_slist *list_headers(const struct fetch_request *request)
{
	const char *const always[] = { "Accept: application/json", "Expect:", request->body != NULL ? "Content-Type: application/json" : NULL };
	struct curl_slist *list = NULL;

	for (size_t i = 0; i < COUNT_OF(always) + FETCH_HEADERS_MAX; i++) {
		const char *line = i < COUNT_OF(always) ? always[i] : request->headers[i - COUNT_OF(always)];
		struct curl_slist *longer = line != NULL ? curl_slist_append(list, line) : list;
		if (line != NULL && longer == NULL)
			memory_end(0);
		list = longer;
	}
	return list;
}

static void set_options(const struct fetcher *fetcher, const struct fetch_request *request, struct receiver *receiver,
	char error[CURL_ERROR_SIZE])
{
	CURL *curl = fetcher->curl;

	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "tenure/" TENURE_VERSION);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); // a timeout by signals would touch the whole process
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); // a name server that does not answer is not waited for beyond the timeout
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)request->timeout_ms);
	if (fetcher->ca_file[0] != '\0') {
		curl_easy_setopt(curl, CURLOPT_CAINFO, fetcher->ca_file);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL); // else libcurl trusts the authorities in the system's folder as well
	}
	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	if (request->body != NULL)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, receiver);
}

bool fetch(struct fetcher *fetcher, struct pool *pool, const struct fetch_request *request, struct fetch_answer *answer,
	struct str *error)
{
	struct receiver receiver = { .pool = pool, .answer = answer, .body = buf_new(pool, 0), .max_body = request->max_body };
	char text[CURL_ERROR_SIZE] = "";

	assert(request->timeout_ms > 0 && request->max_body > 0);
	*answer = (struct fetch_answer){ .subject_token = STR("") };
	if (fetcher->curl == NULL && (fetcher->curl = curl_easy_init()) == NULL) {
		*error = STR("libcurl can't be set up");
		return false;
	}
	set_options(fetcher, request, &receiver, text);
	struct curl_slist *headers = list_headers(request);
	curl_easy_setopt(fetcher->curl, CURLOPT_HTTPHEADER, headers);
	CURLcode code = curl_easy_perform(fetcher->curl);
	curl_easy_getinfo(fetcher->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_slist_free_all(headers);
	answer->body = buf_str(&receiver.body);
	if (code == CURLE_OK)
		return true;
	if (receiver.too_large)
		*error = str_printf(pool, "the answer has more than %zu bytes", request->max_body);
	else
		*error = str_dup(pool, str_c(text[0] != '\0' ? text : curl_easy_strerror(code)));
	return false;
}

bool fetch_apart(void (*run)(void *arg), void *arg)
{
	pid_t child = fork(), ended = -1;
	int status = 1;

	if (child == 0) {
		pid_t grandchild = fork();
		if (grandchild != 0)
			_exit(grandchild > 0 ? 0 : 1);
		descriptors_drop();
		run(arg);
		_exit(0);
	}
	while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	// Where SIGCHLD is ignored, as in workers that no master has started, nobody learns how a child ended (wait(2), ECHILD).
	return child > 0 && (ended > 0 ? status == 0 : errno == ECHILD);
}
