// SPDX-License-Identifier: Apache-2.0
// Media types: Content-Type (RFC 9110 section 8.3) and proactive negotiation by Accept (section 12.5.1).
#ifndef TENURE_HTTP_MEDIA_H
#define TENURE_HTTP_MEDIA_H

#include "base/str.h"

// Is content_type the given type, apart from parameters and case? "application/json; charset=utf-8" is "application/json". False,
// too, if content_type is not a media type.
bool media_is(struct str content_type, const char *type);
// The charset parameter, without quotes; STR_NONE if absent.
struct str media_charset(struct str content_type);
// The index of the best of n offers for this value of Accept; -1 if none is acceptable. For each offer the most precise range
// decides its q; the highest q wins, then the earlier offer. An empty or absent Accept gives the first offer. Malformed ranges
// are ignored.
int media_choose(struct str accept, const char *const *offers, size_t n);

#endif
