// SPDX-License-Identifier: Apache-2.0
// UUIDs, version 4 (RFC 9562): uids of resources, ids of requests and moves.
#ifndef TENURE_BASE_UUID_H
#define TENURE_BASE_UUID_H

#include "base/str.h"

struct buf;

enum { UUID_LENGTH = 36 }; // characters of a UUID as text

struct uuid {
	uint8_t b[16];
};

// A random UUID, from OpenSSL's generator (base/digest.h).
struct uuid uuid_new(void);
bool uuid_eq(struct uuid a, struct uuid b);
bool uuid_is_zero(struct uuid u);
// Appends the 36 characters in lower case.
void uuid_add(struct buf *buf, struct uuid u);
// The 36 characters in lower case, in pool.
struct str uuid_str(struct pool *pool, struct uuid u);
// The two arguments of "%.*s" for the 36 characters of u. Each argument is evaluated once.
#define UUID_ARG(pool, u) UUID_LENGTH, uuid_str((pool), (u)).p
// Parses the 36-character form, in either case. False for anything else.
bool uuid_parse(struct str text, struct uuid *u);
// A view of the 16 bytes of *u, for binding to a statement.
struct str uuid_bytes(const struct uuid *u);
// Copies 16 bytes. False if s has another length.
bool uuid_from_bytes(struct str s, struct uuid *u);

#endif
