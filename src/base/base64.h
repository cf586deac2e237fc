// SPDX-License-Identifier: Apache-2.0
// Bytes as text: base64 (RFC 4648, section 4), with padding, and base64url (section 5), without. buf_add_base64() writes the
// former.
#ifndef TENURE_BASE_BASE64_H
#define TENURE_BASE_BASE64_H

#include "base/base.h"
#include "base/str.h"

struct buf;
struct pool;

// Is it base64: characters of its alphabet alone, in groups of four, the last of which may end with one or two "="? "" is. Bits
// behind the last byte may be anything, as Kubernetes and web servers accept them.
bool base64_is_valid(struct str text);
// The number of bytes that valid base64 stands for.
size_t base64_size(struct str text);
// The bytes that valid base64 stands for, from the pool.
struct str base64_decoded(struct pool *pool, struct str text);

void base64_url_add(struct buf *buf, const void *bytes, size_t n);
// out has room for text.n * 3 / 4 bytes, *n is how many it has then. False: a character of another alphabet, padding, a length
// that no bytes give, or bits at the end that aren't 0, so that each sequence of bytes has one text.
bool base64_url_read(struct str text, uint8_t *out, size_t *n);

#endif
