// SPDX-License-Identifier: Apache-2.0
// The request target, decoded strictly. It is taken from REQUEST_URI only: each web server decodes, merges or rewrites PATH_INFO,
// SCRIPT_NAME and QUERY_STRING in its own way.
#ifndef TENURE_HTTP_URI_H
#define TENURE_HTTP_URI_H

#include "base/outcome.h"
#include "base/str.h"

struct pool;
struct buf;

// A request for allocation candidates may have 64 groups with some parameters each.
enum { URI_MAX_SEGMENTS = 32, URI_MAX_QUERY = 320 };

struct uri_pair {
	struct str name, value;
	bool has_value; // distinguishes "a=" (true) from "a"
};

struct uri {
	struct str target; // as received, without scheme and authority
	struct str path;   // the part before '?', still encoded
	struct str query;  // the part after '?', still encoded; p is NULL if there is no '?'
	struct str segments[URI_MAX_SEGMENTS]; // decoded; the path "/" has none
	size_t n_segments;
	bool trailing_slash;   // the path ends in '/', and is not "/"; the empty last segment is not counted
	struct uri_pair *pairs; // decoded, at most URI_MAX_QUERY
	size_t n_pairs;
};

// Parses an origin-form target, or an absolute-form target without its scheme and authority.
// Each '%' must be followed by two hex digits; the decoded text must be UTF-8 without NUL. A path segment must not be empty, "."
// or "..", encoded or not, and must not contain an encoded '/' ("%2F"). In the query '+' means a blank (HTML forms) and "%2B" a
// plus. All views point into pool or target.
// OUTCOME_OK, OUTCOME_BAD_ADDRESS with *detail saying what is wrong and what would be right,
// OUTCOME_TARGET_TOO_LONG when target.n > max.
enum outcome uri_parse(struct pool *pool, struct str target, size_t max, struct uri *uri, struct str *detail);

// Finds the value of the first pair of that name. False if there is none.
bool uri_query(const struct uri *uri, struct str name, struct str *value);

// Append s, percent-encoded, as one path segment or one query value. RFC 3986's unreserved characters stay, in segments also
// "!$'()*,;:@"; every other byte becomes %XX in upper case.
void uri_add_segment(struct buf *buf, struct str s);
void uri_add_value(struct buf *buf, struct str s);
// Decodes one percent-encoded text, such as a part of a token. False if it is malformed, not UTF-8, or contains NUL.
bool uri_decode(struct pool *pool, struct str s, struct str *decoded);

#endif
