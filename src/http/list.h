// SPDX-License-Identifier: Apache-2.0
// Lists in header fields (RFC 9110 sections 5.6.1 to 5.6.6). For files in http/ only.
#ifndef TENURE_HTTP_LIST_H
#define TENURE_HTTP_LIST_H

#include "base/str.h"

// Like str_split(), but a separator inside a quoted string does not count; items are trimmed.
bool list_next(struct str *rest, char separator, struct str *item);
// Splits "name=value" at the '=': both are trimmed, quotes around the value are removed. If there is no '=', returns false and
// sets value to STR_NONE.
bool list_pair(struct str item, struct str *name, struct str *value);
// Is it a token (RFC 9110): not empty, all bytes tchar?
bool list_is_token(struct str s);

#endif
