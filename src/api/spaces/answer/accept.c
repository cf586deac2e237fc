// SPDX-License-Identifier: Apache-2.0
// Reads from the request whether the client wants a Table, and what its rows contain of the objects.
#include "base/base.h"

#include "api/spaces/answer/answer.h"

// A parameter's value in "application/json;as=Table;v=v1;g=meta.k8s.io"; STR_NONE if it is absent.
static struct str media_param(struct str range, const char *name)
{
	struct str item, rest = range;

	while (str_split(&rest, ';', &item)) {
		size_t equals = str_find(item, '=', 0);
		if (equals < item.n && str_eq_nocase(str_trim(str_part(item, 0, equals)), str_c(name)))
			return str_trim(str_part(item, equals + 1, item.n));
	}
	return STR_NONE;
}

// The version of the Table that this range asks for, if it is a supported one.
static struct str table_version(struct str range)
{
	struct str version = media_param(range, "v");

	if (!str_eq(media_param(range, "as"), STR("Table")) || !str_eq(media_param(range, "g"), STR("meta.k8s.io")))
		return STR_NONE;
	if (str_eq(version, STR("v1")))
		return STR("meta.k8s.io/v1");
	return str_eq(version, STR("v1beta1")) ? STR("meta.k8s.io/v1beta1") : STR_NONE;
}

// The first supported range of Accept decides; clients that want tables don't use weights.
struct str answer_wanted_table(const struct call *call)
{
	struct str rest = request_header(&call->request, "accept"), range;

	while (str_split(&rest, ',', &range)) {
		struct str type = str_trim(str_part(range, 0, str_find(range, ';', 0)));
		bool json = str_eq_nocase(type, STR("application/json")) || str_eq(type, STR("*/*")) ||
			str_eq_nocase(type, STR("application/*"));
		if (json && table_version(range).p != NULL)
			return table_version(range);
		if (json && media_param(range, "as").p == NULL)
			return STR_NONE;
	}
	return STR_NONE;
}

// Reads the parameter includeObject.
enum table_object answer_included_object(const struct call *call)
{
	struct str value = STR("");

	(void)uri_query(&call->request.uri, STR("includeObject"), &value);
	if (str_eq(value, STR("Object")))
		return TABLE_OBJECT;
	return str_eq(value, STR("None")) ? TABLE_NONE : TABLE_METADATA;
}
