// SPDX-License-Identifier: Apache-2.0
// Headers of a response.
#include "base/base.h"

#include "base/log.h"
#include "base/pool.h"
#include "http/response.h"

// The pool may have been rewound since, so nothing of the old response is kept, not even its spill.
void response_reset(struct response *response, struct pool *pool)
{
	response->pool = pool;
	response->status = 0;
	response->content_type = STR("");
	response->spill = NULL;
	response->no_spill = false;
	response->body = STR("");
	response->n_headers = 0;
}

uint64_t response_length(const struct response *response)
{
	return spill_size(response->spill) + response->body.n;
}

uint64_t response_spill(struct response *response, struct buf *text)
{
	if (response->spill == NULL && !response->no_spill)
		response->spill = spill_new(response->pool);
	response->no_spill = response->no_spill || response->spill == NULL || !spill_add(response->spill, buf_str(text));
	if (!response->no_spill)
		text->n = 0;
	return spill_size(response->spill);
}

void response_unspill(struct response *response)
{
	spill_clear(response->spill);
	response->no_spill = false;
}

enum { DEL = 0x7f };

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == DEL;
}

// Is one of the bytes a control character? Looks at eight bytes at a time; the last eight may overlap.
static bool has_controls(struct str value)
{
	const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t found = 0, word;

	for (size_t at = 0; value.n >= sizeof(word) && at < value.n; at += sizeof(word)) {
		memcpy(&word, value.p + (at <= value.n - sizeof(word) ? at : value.n - sizeof(word)), sizeof(word));
		uint64_t del = word ^ each * DEL;
		found |= (word - each * ' ') & ~word; // 0x80 in the lowest byte that is below a blank
		found |= (del - each) & ~del;         // 0x80 in the lowest byte that is DEL
	}
	for (size_t i = 0; value.n < sizeof(word) && i < value.n; i++)
		found |= is_control(value.p[i]) ? 0x80 : 0;
	return (found & each * 0x80) != 0;
}

// Replaces control characters but the tab by blanks. A line end would begin a header field, or a body, chosen by a client, and
// Apache answers 500 if there is any other one (RFC 9110 section 5.5 allows none).
static struct str one_line(struct pool *pool, struct str value)
{
	char *out = pool_alloc(pool, value.n);

	if (value.n > 0)
		memcpy(out, value.p, value.n);
	if (!has_controls(value))
		return str_n(out, value.n);
	for (size_t i = 0; i < value.n; i++) {
		if (is_control(out[i]) && out[i] != '\t')
			out[i] = ' ';
	}
	return str_n(out, value.n);
}

// NULL if there is no field of that name.
static const struct http_header *find(const struct response *response, struct str name)
{
	for (size_t i = 0; i < response->n_headers; i++) {
		if (str_eq_nocase(response->headers[i].name, name))
			return &response->headers[i];
	}
	return NULL;
}

void response_set(struct response *response, const char *name, struct str value)
{
	const struct http_header *header = find(response, str_c(name));

	if (header != NULL)
		response->headers[header - response->headers].value = one_line(response->pool, value);
	else
		response_add(response, name, value);
}

void response_set_default(struct response *response, const char *name, struct str value)
{
	if (find(response, str_c(name)) == NULL)
		response_add(response, name, value);
}

void response_add(struct response *response, const char *name, struct str value)
{
	if (response->n_headers == RESPONSE_MAX_HEADERS) {
		log_warning("response header %s dropped: there are %d already", name, RESPONSE_MAX_HEADERS);
		return;
	}
	response->headers[response->n_headers++] =
		(struct http_header){ str_c(name), one_line(response->pool, value) };
}

void response_unset(struct response *response, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < response->n_headers; i++) {
		if (!str_eq_nocase(response->headers[i].name, str_c(name)))
			response->headers[kept++] = response->headers[i];
	}
	response->n_headers = kept;
}

struct str response_get(const struct response *response, const char *name)
{
	const struct http_header *header = find(response, str_c(name));

	return header != NULL ? header->value : STR_NONE;
}
