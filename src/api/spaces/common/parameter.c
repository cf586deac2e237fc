// SPDX-License-Identifier: Apache-2.0
// Boolean parameters of the query.
#include "base/base.h"

#include "api/spaces/common/spaces.h"

bool spaces_query_has(const struct call *call, const char *name)
{
	struct str value;

	return uri_query(&call->request.uri, str_c(name), &value);
}

bool spaces_query_is_true(const struct call *call, const char *name)
{
	struct str value;

	return uri_query(&call->request.uri, str_c(name), &value) && !str_eq_nocase(value, STR("false")) &&
	       !str_eq(value, STR("0"));
}
