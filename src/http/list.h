// SPDX-License-Identifier: Apache-2.0
// Lists in header fields (RFC 9110 sections 5.6.1 to 5.6.6). For files in http/ only.
#ifndef TENURE_HTTP_LIST_H
#define TENURE_HTTP_LIST_H

#include "base/str.h"

// As str_split, but a separator inside a quoted string does not separate; items come trimmed.
bool list_next(struct str *rest, char separator, struct str *item);
// Splits "name=value" at the '=': both trimmed, the value without its quotes. False, and value STR_NONE, when there is
// no '='.
bool list_pair(struct str item, struct str *name, struct str *value);
// Not empty, and all its bytes are tchar.
bool list_is_token(struct str s);

#endif
