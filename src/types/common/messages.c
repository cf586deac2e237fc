// SPDX-License-Identifier: Apache-2.0
// Messages that many kinds contain: metadata, references, selectors, and values that have a special form in JSON.
#include "base/base.h"

#include "types/common/messages.h"
#include "base/clock.h"
#include "base/pool.h"

bool message_single_value(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	struct doc_iter it = doc_iter(object);

	UNUSED(why);
	*json = doc_next(&it) ? doc_copy(pool, it.value) : NULL;
	return true;
}

// Time as JSON text: null if there are no seconds; fractions of a second are dropped, as in JSON from Kubernetes.
static bool time_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	static const int64_t year_1 = -62135596800, year_10000 = 253402300800, us = 1000000;
	const struct doc *value;
	struct buf text = buf_new(pool, 24);
	int64_t seconds;

	*json = NULL;
	*why = "must be a time of the years 1 to 9999";
	if (!doc_get(object, STR("seconds"), &value) || !doc_i64(value, &seconds))
		return true;
	if (seconds < year_1 || seconds >= year_10000)
		return false;
	clock_add_rfc3339(&text, seconds * us);
	*json = doc_new_string(pool, buf_str(&text));
	return true;
}
PB_MESSAGE_CONVERTED(time, time_to_json, PB_LONG_ZERO(1, "seconds"), PB_INT_ZERO(2, "nanos"));

static bool quantity_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	message_single_value(pool, object, json, why);
	if (*json == NULL)
		*json = doc_new_string(pool, STR("0"));
	return true;
}
PB_MESSAGE_CONVERTED(quantity, quantity_to_json, PB_TEXT_ZERO(1, "string"));

static bool int_or_string_to_json(struct pool *pool, const struct doc *object, struct doc **json, const char **why)
{
	const struct doc *type, *value;
	int64_t is_string = 0;

	*why = "must be an integer (type 0) or a string (type 1)";
	if (doc_get(object, STR("type"), &type))
		doc_i64(type, &is_string);
	if (is_string < 0 || is_string > 1)
		return false;
	if (doc_get(object, is_string == 1 ? STR("strVal") : STR("intVal"), &value))
		*json = doc_copy(pool, value);
	else
		*json = is_string == 1 ? doc_new_string(pool, STR("")) : doc_new_i64(pool, 0);
	return true;
}
PB_MESSAGE_CONVERTED(int_or_string, int_or_string_to_json, PB_INT_ZERO(1, "type"), PB_INT_ZERO(2, "intVal"), PB_TEXT_ZERO(3, "strVal"));

static PB_MESSAGE_CONVERTED(fields_v1, message_single_value, PB_JSON(1, "Raw"));
PB_MESSAGE(owner_reference,
	PB_TEXT_ZERO(1, "kind"), PB_TEXT_ZERO(3, "name"), PB_TEXT_ZERO(4, "uid"), PB_TEXT_ZERO(5, "apiVersion"),
	PB_BOOL_ZERO(6, "controller"), PB_BOOL_ZERO(7, "blockOwnerDeletion"));
PB_MESSAGE(managed_fields_entry,
	PB_TEXT(1, "manager"), PB_TEXT(2, "operation"), PB_TEXT(3, "apiVersion"), PB_OBJECT(4, "time", time),
	PB_TEXT(6, "fieldsType"), PB_OBJECT(7, "fieldsV1", fields_v1), PB_TEXT(8, "subresource"));
PB_SHARED_MESSAGE(object_meta,
	PB_TEXT(1, "name"), PB_TEXT(2, "generateName"), PB_TEXT(3, "namespace"), PB_TEXT(4, "selfLink"), PB_TEXT(5, "uid"),
	PB_TEXT(6, "resourceVersion"), PB_LONG(7, "generation"), PB_OBJECT(8, "creationTimestamp", time),
	PB_OBJECT(9, "deletionTimestamp", time), PB_LONG_ZERO(10, "deletionGracePeriodSeconds"), PB_MAP_OF_TEXTS(11, "labels"),
	PB_MAP_OF_TEXTS(12, "annotations"), PB_LIST(13, "ownerReferences", owner_reference), PB_TEXTS(14, "finalizers"),
	PB_LIST(17, "managedFields", managed_fields_entry));
PB_SHARED_MESSAGE(local_object_reference, PB_TEXT(1, "name"));
PB_SHARED_MESSAGE(label_selector_requirement, PB_TEXT_ZERO(1, "key"), PB_TEXT_ZERO(2, "operator"), PB_TEXTS(3, "values"));
PB_SHARED_MESSAGE(label_selector, PB_MAP_OF_TEXTS(1, "matchLabels"), PB_LIST(2, "matchExpressions", label_selector_requirement));
PB_SHARED_MESSAGE(typed_local_object_reference, PB_TEXT_ZERO(1, "apiGroup"), PB_TEXT_ZERO(2, "kind"), PB_TEXT_ZERO(3, "name"));
PB_SHARED_MESSAGE(typed_object_reference,
	PB_TEXT_ZERO(1, "apiGroup"), PB_TEXT_ZERO(2, "kind"), PB_TEXT_ZERO(3, "name"), PB_TEXT_ZERO(4, "namespace"));
PB_MESSAGE(node_selector_requirement, PB_TEXT_ZERO(1, "key"), PB_TEXT_ZERO(2, "operator"), PB_TEXTS(3, "values"));
PB_SHARED_MESSAGE(node_selector_term,
	PB_LIST(1, "matchExpressions", node_selector_requirement), PB_LIST(2, "matchFields", node_selector_requirement));
PB_SHARED_MESSAGE(node_selector, PB_LIST(1, "nodeSelectorTerms", node_selector_term));
PB_SHARED_MESSAGE(secret_reference, PB_TEXT(1, "name"), PB_TEXT(2, "namespace"));
PB_SHARED_MESSAGE(object_reference,
	PB_TEXT(1, "kind"), PB_TEXT(2, "namespace"), PB_TEXT(3, "name"), PB_TEXT(4, "uid"), PB_TEXT(5, "apiVersion"),
	PB_TEXT(6, "resourceVersion"), PB_TEXT(7, "fieldPath"));
PB_SHARED_MESSAGE(field_selector_requirement, PB_TEXT_ZERO(1, "key"), PB_TEXT_ZERO(2, "operator"), PB_TEXTS(3, "values"));
PB_SHARED_MESSAGE(condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_LONG(3, "observedGeneration"),
	PB_OBJECT(4, "lastTransitionTime", time), PB_TEXT_ZERO(5, "reason"), PB_TEXT_ZERO(6, "message"));
