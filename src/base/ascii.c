// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"

struct str ascii_lowered(struct pool *pool, struct str s)
{
	char *lowered = pool_alloc(pool, s.n);

	for (size_t i = 0; i < s.n; i++)
		lowered[i] = ascii_to_lower(s.p[i]);
	return str_n(lowered, s.n);
}
