// SPDX-License-Identifier: Apache-2.0
// If-Match and If-None-Match. A resource's tag is W/"128 hex digits" in a header and W/hex in a body; what clients and
// proxies make of it still names it: unquoted, without W/, with "-gzip", "-br", "-deflate", "-zstd" or ";gzip"
// appended inside the quotes (mod_deflate, lighttpd), in lists, and "*". Weak tags match in If-Match: the etag
// specification asks for it, although RFC 9110 section 13.1.1 compares strongly.
#ifndef TENURE_HTTP_CONDITIONAL_H
#define TENURE_HTTP_CONDITIONAL_H

#include "base/str.h"

struct pool;

enum { CONDITIONAL_MAX_TAGS = 32 };

struct tag_list {
	bool present; // the header was there
	bool any;     // "*"
	struct str tags[CONDITIONAL_MAX_TAGS]; // opaque part of each: no W/, no quotes, no proxy's suffix
	size_t n;
};

// Reads a header's value; STR_NONE (header absent) gives present = false.
// False when it is neither "*" nor a list of tags, or has more than CONDITIONAL_MAX_TAGS: answer 400.
// The tags are views of value.
bool tag_list_parse(struct str value, struct tag_list *list);
// True when the list is "*" or names tag (its opaque part; hex compares without case).
bool tag_list_matches(const struct tag_list *list, struct str tag);

#endif
