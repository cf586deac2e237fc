// SPDX-License-Identifier: Apache-2.0
// If-Match and If-None-Match. A resource's tag is W/"128 hex digits" in a header and W/hex in a body. Forms into which clients
// and proxies change it are accepted as well: without quotes, without W/, with "-gzip", "-br", "-deflate", "-zstd" or ";gzip"
// appended inside the quotes (mod_deflate, lighttpd), in lists; also "*". Weak tags match in If-Match: the etag specification
// requires that, although RFC 9110 section 13.1.1 asks for a strong comparison.
#ifndef TENURE_HTTP_CONDITIONAL_H
#define TENURE_HTTP_CONDITIONAL_H

#include "base/str.h"

struct pool;

enum { CONDITIONAL_MAX_TAGS = 32 };

struct tag_list {
	bool present; // the header was present
	bool any;     // it was "*"
	struct str tags[CONDITIONAL_MAX_TAGS]; // the opaque part of each tag: without W/, quotes and suffixes of proxies
	size_t n;
};

// Parses a header's value; STR_NONE (no header) gives present = false. The tags are views of value. False, for which the caller
// answers 400, if it is neither "*" nor a list of tags, or has more than CONDITIONAL_MAX_TAGS.
bool conditional_parse(struct str value, struct tag_list *list);
// Is the list "*", or does it contain tag (an opaque part; case is ignored)?
bool conditional_matches(const struct tag_list *list, struct str tag);

#endif
