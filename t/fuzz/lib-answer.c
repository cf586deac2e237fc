// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// What libtenure reads: header lines up to an empty one, then a body, that of a refusal. Its text is UTF-8 without NUL.
#include "fuzz.h"

#include "lib/transport.c"
#define changes call_changes
#include "lib/call.c"

// The library takes what libcurl may write to.
static char *writable(struct pool *pool, struct str text)
{
	char *copy = POOL_ARRAY(pool, char, text.n + 1);

	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	return copy;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	static struct pool *error_pool;
	struct answer answer = { .retry_after = -1 };
	struct receiver receiver = { .pool = pool, .answer = &answer, .body = buf_new(pool, 0) };
	if (error_pool == NULL)
		error_pool = pool_new();
	struct tenure_client client = { .pool = pool, .url = STR("http://service"), .error.pool = error_pool };
	const struct wish wish = { .method = "GET", .path = STR("/v2.0/t") };
	struct str line, status = fuzz_first(&input);
	struct doc *doc;

	answer.status = 200;
	while ((line = fuzz_first(&input)).n > 0) {
		MUST(take_header(writable(pool, line), 1, line.n, &receiver) == line.n);
	}
	answer.status = status.n > 0 ? 100 + (unsigned char)status.p[0] % 10 * 50 + (unsigned char)status.p[status.n - 1] % 50 :
		404;
	MUST(take_body(writable(pool, input), 1, input.n, &receiver) == input.n);
	answer.body = buf_str(&receiver.body);
	enum tenure_status told = client_parse(&client, pool, answer.body, &doc);
	MUST(told == TENURE_OK || client.error.text.n > 0);
	client.error.text = STR_NONE;
	(void)refused(&client, &wish, &answer);
	struct str header;
	if (answer.etag.p != NULL && client_etag_header(pool, answer.etag, &header))
		MUST(str_eq(header, STR("*")) || (header.n >= 2 && header.p[header.n - 1] == '"'));
}
