// SPDX-License-Identifier: Apache-2.0
// Media types: Content-Type (RFC 9110 section 8.3) and proactive negotiation by Accept (section 12.5.1).
#ifndef TENURE_HTTP_MEDIA_H
#define TENURE_HTTP_MEDIA_H

#include "base/str.h"

// A media type without parameters equals type, without regard to case: "application/json; charset=utf-8" is
// "application/json". False, too, when the text is no media type.
bool media_is(struct str content_type, const char *type);
// The charset parameter (unquoted), STR_NONE when absent.
struct str media_charset(struct str content_type);
// Index of the best of n offers for this Accept value, -1 when none is acceptable. Precise ranges beat wide ones, q
// decides, the earlier offer wins ties; an empty or absent Accept takes the first; a malformed one is read as far as it
// makes sense.
int media_choose(struct str accept, const char *const *offers, size_t n);

#endif
