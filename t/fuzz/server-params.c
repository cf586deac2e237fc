// SPDX-License-Identifier: Apache-2.0
// max_len: 131072
// FastCGI parameters, a line each, the last line being a body's length: what is read of them stands in the request.
#include "fuzz.h"

#include "server/wire/params.h"

enum { HEADERS_MAX = 65536 };

static void fuzz_one(struct pool *pool, struct str input)
{
	struct request *request = POOL_NEW(pool, struct request);
	struct str first = fuzz_first(&input), line, length = STR_NONE;
	char **envp = POOL_ARRAY(pool, char *, input.n + 2);
	size_t n = 0, bytes = 0;

	while (str_split(&input, '\n', &line)) {
		if (memchr(line.p, '\0', line.n) == NULL)
			envp[n++] = str_cstr(pool, line);
	}
	envp[n] = NULL;
	enum transport_fault fault = params_read(pool, envp, HEADERS_MAX, request, &length);
	MUST(fault == TRANSPORT_OK || fault == TRANSPORT_NO_TARGET || fault == TRANSPORT_HEADERS_TOO_LARGE);
	MUST(request->n_headers <= REQUEST_MAX_HEADERS);
	MUST(fault != TRANSPORT_OK || request->target.n > 0);
	for (size_t i = 0; i < request->n_headers; i++) {
		struct str name = request->headers[i].name;
		bytes += name.n + request->headers[i].value.n;
		MUST(str_find(name, '_', 0) == name.n);
		for (size_t j = 0; j < i; j++)
			MUST(!str_eq(name, request->headers[j].name));
	}
	// Repeated ones are joined by ", ".
	MUST(fault != TRANSPORT_OK || bytes <= 2 * HEADERS_MAX);
	(void)request_prefers(request, "return", "minimal");
	(void)request_prefers(request, "respond-async", NULL);
	(void)params_check_length(length, first.n);
	(void)params_check_length(first, length.n);
}
