// SPDX-License-Identifier: Apache-2.0
// Texts of others on a terminal: safe, and in columns.
#ifndef TENURE_BASE_VISIBLE_H
#define TENURE_BASE_VISIBLE_H

#include "base/str.h"

struct pool;

// Makes text safe for a terminal: control characters, and characters that hide or change the writing direction, become \xHH or
// \u{HHHH}, and so do bytes that are no UTF-8. In pool.
struct str visible_text(struct pool *pool, struct str s);
// The same for JSON text, where such characters become \uHHHH.
struct str visible_json(struct pool *pool, struct str s);
// How many columns the text takes on a terminal. The program must have set LC_CTYPE to a locale of UTF-8.
size_t visible_width(struct str s);

#endif
