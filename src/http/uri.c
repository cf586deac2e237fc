// SPDX-License-Identifier: Apache-2.0
// The request target, decoded strictly.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"

// What "+" stands for: a blank in the query, as HTML forms have it; itself anywhere else.
enum plus { PLUS_IS_PLUS, PLUS_IS_BLANK };

// Copies s, decoded, to out, which has room for s.n bytes. False if a '%' is not followed by two hex digits.
static bool unescape(struct str s, enum plus plus, char *out, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '%') {
			if (i + 2 >= s.n)
				return false;
			int high = str_hex_digit(s.p[i + 1]), low = str_hex_digit(s.p[i + 2]);
			if (high < 0 || low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus == PLUS_IS_BLANK) {
			c = ' ';
		}
		out[(*n)++] = c;
	}
	return true;
}

// Decodes s. Returns NULL, or the rule that the text breaks.
static const char *decode(struct pool *pool, struct str s, enum plus plus, struct str *decoded)
{
	*decoded = s;
	if (str_find(s, '%', 0) < s.n || (plus == PLUS_IS_BLANK && str_find(s, '+', 0) < s.n)) {
		char *out = pool_alloc(pool, s.n);
		size_t n;
		if (!unescape(s, plus, out, &n))
			return "'%' must be followed by two hexadecimal digits; a percent sign itself is written %25";
		*decoded = str_n(out, n);
	}
	if (!str_utf8_ok(*decoded, NULL))
		return "the decoded text is not well-formed UTF-8; encode each byte of the UTF-8 form as %XX";
	if (str_find(*decoded, '\0', 0) < decoded->n)
		return "it holds a NUL (%00), which no name here can contain";
	return NULL;
}

bool uri_decode(struct pool *pool, struct str s, struct str *decoded)
{
	return decode(pool, s, PLUS_IS_PLUS, decoded) == NULL;
}

// Returns the rule that a decoded path segment breaks, or NULL.
static const char *segment_fault(struct str segment)
{
	if (segment.n == 0)
		return "it is empty; write one '/' between segments";
	if (str_eq_c(segment, ".") || str_eq_c(segment, ".."))
		return "\".\" and \"..\" name nothing here, encoded or not; write the whole path";
	if (str_find(segment, '/', 0) < segment.n)
		return "it holds an encoded '/' (%2F), which no id can contain";
	return NULL;
}

static enum outcome refuse(struct str *detail, struct str why)
{
	*detail = why;
	return OUTCOME_BAD_ADDRESS;
}

// Splits and decodes the path. It is split before it is decoded, so an encoded '/' never separates segments.
static enum outcome parse_path(struct pool *pool, struct uri *uri, struct str *detail)
{
	struct str rest = str_part(uri->path, 1, uri->path.n);
	struct str raw, segment;

	if (rest.n == 0)
		return OUTCOME_OK;
	while (str_split(&rest, '/', &raw)) {
		if (raw.n == 0 && rest.p == NULL) {
			uri->trailing_slash = true;
			break;
		}
		if (uri->n_segments == URI_MAX_SEGMENTS)
			return refuse(detail, str_printf(pool, "the path has more than %d segments", URI_MAX_SEGMENTS));
		const char *fault = decode(pool, raw, PLUS_IS_PLUS, &segment);
		if (fault == NULL)
			fault = segment_fault(segment);
		if (fault != NULL)
			return refuse(detail, str_printf(pool, "segment %zu of the path: %s", uri->n_segments + 1, fault));
		uri->segments[uri->n_segments++] = segment;
	}
	return OUTCOME_OK;
}

static const char *parse_pair(struct pool *pool, struct str item, struct uri_pair *pair)
{
	size_t at = str_find(item, '=', 0);

	pair->has_value = at < item.n;
	pair->value = STR("");
	const char *fault = decode(pool, str_part(item, 0, at), PLUS_IS_BLANK, &pair->name);
	if (fault == NULL)
		fault = decode(pool, str_part(item, at + 1, item.n), PLUS_IS_BLANK, &pair->value);
	return fault;
}

// Splits and decodes the query; empty items, as in "a&&b", are skipped.
static enum outcome parse_query(struct pool *pool, struct uri *uri, struct str *detail)
{
	struct str rest = uri->query;
	struct str item;
	size_t room = rest.n > 0;

	for (size_t i = 0; i < rest.n; i++)
		room += rest.p[i] == '&';
	uri->pairs = POOL_ARRAY(pool, struct uri_pair, room < URI_MAX_QUERY ? room : URI_MAX_QUERY);
	while (str_split(&rest, '&', &item)) {
		if (item.n == 0)
			continue;
		if (uri->n_pairs == URI_MAX_QUERY)
			return refuse(detail, str_printf(pool, "the query has more than %d parameters", URI_MAX_QUERY));
		const char *fault = parse_pair(pool, item, &uri->pairs[uri->n_pairs]);
		if (fault != NULL)
			return refuse(detail, str_printf(pool, "parameter %zu of the query: %s", uri->n_pairs + 1, fault));
		uri->n_pairs++;
	}
	return OUTCOME_OK;
}

// The target without "http://authority", if it is in absolute form.
static struct str origin_form(struct str target)
{
	size_t scheme = str_eq_nocase(str_part(target, 0, 7), STR("http://")) ? 7
		: str_eq_nocase(str_part(target, 0, 8), STR("https://")) ? 8 : 0;

	if (scheme == 0)
		return target;
	size_t slash = str_find(target, '/', scheme);
	size_t question = str_find(target, '?', scheme);
	return str_part(target, slash < question ? slash : question, target.n);
}

// Describes the first character that must not stand unencoded in a target. NULL: there is none.
static const char *raw_fault(struct str target)
{
	for (size_t i = 0; i < target.n; i++) {
		unsigned char c = (unsigned char)target.p[i];
		if (c == '#')
			return "the address holds a '#'; a fragment is not sent, and the character itself is written %23";
		if (c == ' ')
			return "the address holds a blank; write it %20";
		if (c < ' ' || c == 0x7f)
			return "the address holds a control character; such bytes are percent-encoded";
	}
	return NULL;
}

enum outcome uri_parse(struct pool *pool, struct str target, size_t max, struct uri *uri, struct str *detail)
{
	*uri = (struct uri){ .n_segments = 0 };
	if (target.n > max) {
		*detail = str_printf(pool, "the address has %zu bytes; at most %zu are read", target.n, max);
		return OUTCOME_TARGET_TOO_LONG;
	}
	const char *fault = raw_fault(target);
	if (fault != NULL)
		return refuse(detail, str_c(fault));

	struct str origin = origin_form(target);
	bool absolute = origin.n < target.n;
	size_t question = str_find(origin, '?', 0);
	uri->target = origin;
	uri->path = str_part(origin, 0, question);
	if (question < origin.n)
		uri->query = str_n(origin.p + question + 1, origin.n - question - 1);
	if (absolute && uri->path.n == 0)
		uri->path = STR("/");
	if (uri->path.n == 0 || uri->path.p[0] != '/')
		return refuse(detail, STR("the address must begin with '/'"));

	enum outcome outcome = parse_path(pool, uri, detail);
	return outcome == OUTCOME_OK ? parse_query(pool, uri, detail) : outcome;
}

bool uri_query(const struct uri *uri, struct str name, struct str *value)
{
	for (size_t i = 0; i < uri->n_pairs; i++) {
		if (str_eq(uri->pairs[i].name, name)) {
			*value = uri->pairs[i].value;
			return true;
		}
	}
	return false;
}

static bool is_unreserved(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '.' ||
		c == '_' || c == '~';
}

// Percent-encodes all but unreserved characters and those in also.
static void add_encoded(struct buf *buf, struct str s, const char *also)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (is_unreserved(c) || (c != '\0' && strchr(also, c) != NULL)) {
			buf_addc(buf, c);
		} else {
			unsigned char byte = (unsigned char)c;
			char hex[3] = { '%', digits[byte >> 4], digits[byte & 15] };
			buf_add(buf, str_n(hex, sizeof hex));
		}
	}
}

void uri_add_segment(struct buf *buf, struct str s)
{
	add_encoded(buf, s, "!$'()*,;:@");
}

void uri_add_value(struct buf *buf, struct str s)
{
	add_encoded(buf, s, "");
}
