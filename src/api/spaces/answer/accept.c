// SPDX-License-Identifier: Apache-2.0
// Reads from the request in which form the client wants objects, and what the rows of a Table contain of them.
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

// The apiVersion in which this range asks for its form, if it is a supported one.
static struct str form_version(struct str range)
{
	struct str version = media_param(range, "v");

	if (!str_eq(media_param(range, "g"), STR("meta.k8s.io")))
		return STR_NONE;
	if (str_eq(version, STR("v1")))
		return STR("meta.k8s.io/v1");
	return str_eq(version, STR("v1beta1")) ? STR("meta.k8s.io/v1beta1") : STR_NONE;
}

// The form that a range of a JSON type asks for. False: no supported one.
static bool form_of_range(struct str range, bool of_list, struct answer_form *form)
{
	struct str as = media_param(range, "as");

	*form = (struct answer_form){ AS_OBJECT, STR_NONE };
	if (as.p == NULL)
		return true;
	form->version = form_version(range);
	if (str_eq(as, STR("Table")))
		form->as = AS_TABLE;
	else if (str_eq(as, of_list ? STR("PartialObjectMetadataList") : STR("PartialObjectMetadata")))
		form->as = AS_METADATA;
	return form->as != AS_OBJECT && form->version.p != NULL;
}

// The first supported range of Accept decides; clients that want another form than objects don't use weights.
struct answer_form answer_wanted_form(const struct call *call, bool of_list)
{
	struct answer_form form;
	struct str rest = request_header(&call->request, "accept"), range;

	while (str_split(&rest, ',', &range)) {
		struct str type = str_trim(str_part(range, 0, str_find(range, ';', 0)));
		bool json = str_eq_nocase(type, STR("application/json")) || str_eq(type, STR("*/*")) ||
			str_eq_nocase(type, STR("application/*"));
		if (json && form_of_range(range, of_list, &form))
			return form;
	}
	return (struct answer_form){ AS_OBJECT, STR_NONE };
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
