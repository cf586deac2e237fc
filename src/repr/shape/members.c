// SPDX-License-Identifier: Apache-2.0
// The members that a shape has.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "repr/shape/internal.h"

struct str shape_member_names(struct pool *pool, const struct shape *members, unsigned kinds)
{
	struct buf out = buf_new(pool, 128);

	for (const struct shape *member = members; member->name != NULL; member++) {
		if ((kinds & ((member->flags & SHAPE_ATTR) != 0 ? SHAPE_ATTRIBUTES : SHAPE_ELEMENTS)) == 0)
			continue;
		buf_addf(&out, "%s\"%s\"", out.n > 0 ? ", " : "", member->name);
	}
	return out.n > 0 ? buf_str(&out) : STR("none");
}

const struct shape *shape_find_member(const struct shape *members, struct str name)
{
	for (const struct shape *member = members; member->name != NULL; member++) {
		if (str_eq_c(name, member->name))
			return member;
	}
	return NULL;
}
