// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/uuid.h"

enum { RESERVE = 64 };

// Random bytes in stock, because the generator's cost is per call, not per byte. A child discards the stock of its parent.
static struct {
	uint8_t bytes[RESERVE][16];
	size_t left;
	bool watches_fork;
} reserve;

static void forget_reserve(void)
{
	reserve.left = 0;
}

static void fill_reserve(void)
{
	if (!reserve.watches_fork && pthread_atfork(NULL, NULL, forget_reserve) != 0)
		memory_end(0);
	reserve.watches_fork = true;
	digest_random(reserve.bytes, sizeof(reserve.bytes));
	reserve.left = RESERVE;
}

struct uuid uuid_new(void)
{
	struct uuid u;

	if (reserve.left == 0)
		fill_reserve();
	memcpy(u.b, reserve.bytes[--reserve.left], sizeof(u.b));
	u.b[6] = (uint8_t)((u.b[6] & 0x0f) | 0x40); // version 4
	u.b[8] = (uint8_t)((u.b[8] & 0x3f) | 0x80); // variant of RFC 9562
	return u;
}

bool uuid_eq(struct uuid a, struct uuid b)
{
	return memcmp(a.b, b.b, sizeof(a.b)) == 0;
}

bool uuid_is_zero(struct uuid u)
{
	return uuid_eq(u, (struct uuid){ { 0 } });
}

void uuid_add(struct buf *buf, struct uuid u)
{
	char *to = buf_more(buf, UUID_LENGTH);

	char hex[2 * sizeof(u.b)];

	buf_hex(hex, u.b, sizeof(u.b));
	memcpy(to, hex, 8);
	memcpy(to + 9, hex + 8, 4);
	memcpy(to + 14, hex + 12, 4);
	memcpy(to + 19, hex + 16, 4);
	memcpy(to + 24, hex + 20, 12);
	to[8] = to[13] = to[18] = to[23] = '-';
	buf->n += UUID_LENGTH;
}

struct str uuid_str(struct pool *pool, struct uuid u)
{
	struct buf buf = buf_new(pool, UUID_LENGTH);

	uuid_add(&buf, u);
	return buf_str(&buf);
}

bool uuid_parse(struct str text, struct uuid *u)
{
	char hex[32];
	size_t n = 0;

	if (text.n != UUID_LENGTH)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash != (text.p[i] == '-'))
			return false;
		if (!dash)
			hex[n++] = text.p[i];
	}
	struct uuid parsed;
	if (!digest_from_hex(str_n(hex, n), parsed.b, sizeof(parsed.b)))
		return false;
	*u = parsed;
	return true;
}

struct str uuid_bytes(const struct uuid *u)
{
	return str_n((const char *)u->b, sizeof(u->b));
}

bool uuid_from_bytes(struct str s, struct uuid *u)
{
	if (s.n != sizeof(u->b))
		return false;
	memcpy(u->b, s.p, sizeof(u->b));
	return true;
}
