// SPDX-License-Identifier: Apache-2.0
// A growing byte string in a pool. Growing copies the bytes; the old copy stays in the pool until the pool is cleared.
#ifndef TENURE_BASE_BUF_H
#define TENURE_BASE_BUF_H

#include "base/str.h"

struct buf {
	struct pool *pool;
	char *p;
	size_t n;    // bytes used
	size_t room; // bytes allocated
};

// room: expected size in bytes, 0 if unknown.
struct buf buf_new(struct pool *pool, size_t room);
// Makes room for n more bytes and returns their address. The caller writes them and adds their number to buf->n.
char *buf_more(struct buf *buf, size_t n);
// The next two functions are inline because a list is written almost only by them.
static inline void buf_add(struct buf *buf, struct str s)
{
	if (s.n == 0)
		return;
	memcpy(s.n <= buf->room - buf->n ? buf->p + buf->n : buf_more(buf, s.n), s.p, s.n);
	buf->n += s.n;
}
static inline void buf_addc(struct buf *buf, char c)
{
	*(buf->n < buf->room ? buf->p + buf->n : buf_more(buf, 1)) = c;
	buf->n++;
}
void buf_add_u64(struct buf *buf, uint64_t value);
void buf_add_i64(struct buf *buf, int64_t value);
// Writes each byte as two lower-case hex digits, 2 * n in all, without a NUL.
void buf_hex(char *to, const void *bytes, size_t n);
void buf_add_hex(struct buf *buf, const void *bytes, size_t n);
// Appends the bytes in base64 (RFC 4648, section 4), with padding.
void buf_add_base64(struct buf *buf, const void *bytes, size_t n);
void buf_addf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
#define BUF_LIT(buf, literal) buf_add((buf), STR(literal))
// The content; valid until the next addition.
struct str buf_str(const struct buf *buf);

#endif
