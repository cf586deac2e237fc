// SPDX-License-Identifier: Apache-2.0
// The request target, decoded strictly. Only REQUEST_URI is read: PATH_INFO, SCRIPT_NAME and QUERY_STRING are decoded,
// merged or rewritten differently by each web server.
#ifndef TENURE_HTTP_URI_H
#define TENURE_HTTP_URI_H

#include "base/outcome.h"
#include "base/str.h"

struct pool;
struct buf;

enum { URI_MAX_SEGMENTS = 32, URI_MAX_QUERY = 64 };

struct uri_pair {
	struct str name, value;
	bool has_value; // "a" against "a="
};

struct uri {
	struct str target; // as received, without scheme and authority
	struct str path;   // its part before '?', still encoded
	struct str query;  // after '?', still encoded; p NULL when there is no '?'
	struct str segments[URI_MAX_SEGMENTS]; // decoded; "/" has none
	size_t n_segments;
	bool trailing_slash;   // the path ends in '/', and is not "/"; the empty last segment is not counted
	struct uri_pair pairs[URI_MAX_QUERY]; // decoded
	size_t n_pairs;
};

// Takes an origin-form target, or an absolute-form one whose scheme and authority it drops.
// Percent-encoding must be whole; the decoded text must be UTF-8 without NUL; a path segment must not be empty, "." or
// "..", encoded or not, nor hold an encoded '/' ("%2F"). In the query '+' means a blank (HTML forms), "%2B" a plus.
// All views live in pool or in target.
// OUTCOME_OK, OUTCOME_BAD_ADDRESS with *detail saying what is wrong and what would be right,
// OUTCOME_TARGET_TOO_LONG when target.n > max.
enum outcome uri_parse(struct pool *pool, struct str target, size_t max, struct uri *uri, struct str *detail);

// Value of the first pair of that name; false when there is none.
bool uri_query(const struct uri *uri, struct str name, struct str *value);

// Appends s percent-encoded as one path segment or query value: RFC 3986 unreserved, and in segments "!$'()*,;:@" too,
// stay; everything else is %XX in upper case.
void uri_add_segment(struct buf *buf, struct str s);
void uri_add_value(struct buf *buf, struct str s);
// Decodes one percent-encoded text (a token's part); false when malformed, not UTF-8, or with NUL.
bool uri_decode(struct pool *pool, struct str s, struct str *decoded);

#endif
