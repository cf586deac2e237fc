// SPDX-License-Identifier: Apache-2.0
// Messages that many kinds contain: metadata, references, selectors, and values that have a special form in JSON.
#include "base/base.h"

#include "api/spaces/protobuf/tables.h"
#include "base/clock.h"
#include "base/pool.h"

bool proto_tell_alone(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	struct doc_iter it = doc_iter(object);

	UNUSED(why);
	*told = doc_next(&it) ? doc_copy(pool, it.value) : NULL;
	return true;
}

// Time as JSON text: null if there are no seconds; fractions of a second are dropped, as in JSON from Kubernetes.
static bool tell_time(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	static const int64_t year_1 = -62135596800, year_10000 = 253402300800, us = 1000000;
	const struct doc *value;
	struct buf text = buf_new(pool, 24);
	int64_t seconds;

	*told = NULL;
	*why = "must be a time of the years 1 to 9999";
	if (!doc_get(object, STR("seconds"), &value) || !doc_i64(value, &seconds))
		return true;
	if (seconds < year_1 || seconds >= year_10000)
		return false;
	clock_add_rfc3339(&text, seconds * us);
	*told = doc_new_string(pool, buf_str(&text));
	return true;
}
MESSAGE_TOLD(time, tell_time, INT_ZERO(1, "seconds"), INT_ZERO(2, "nanos"));

static bool tell_quantity(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	proto_tell_alone(pool, object, told, why);
	if (*told == NULL)
		*told = doc_new_string(pool, STR("0"));
	return true;
}
MESSAGE_TOLD(quantity, tell_quantity, TEXT_ZERO(1, "string"));

static bool tell_int_or_string(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	const struct doc *type, *value;
	int64_t is_string = 0;

	*why = "must be an integer (type 0) or a string (type 1)";
	if (doc_get(object, STR("type"), &type))
		doc_i64(type, &is_string);
	if (is_string < 0 || is_string > 1)
		return false;
	if (doc_get(object, is_string == 1 ? STR("strVal") : STR("intVal"), &value))
		*told = doc_copy(pool, value);
	else
		*told = is_string == 1 ? doc_new_string(pool, STR("")) : doc_new_i64(pool, 0);
	return true;
}
MESSAGE_TOLD(int_or_string, tell_int_or_string, INT_ZERO(1, "type"), INT_ZERO(2, "intVal"), TEXT_ZERO(3, "strVal"));

static MESSAGE_TOLD(fields_v1, proto_tell_alone, JSON(1, "Raw"));
MESSAGE(owner_reference,
	TEXT_ZERO(1, "kind"), TEXT_ZERO(3, "name"), TEXT_ZERO(4, "uid"), TEXT_ZERO(5, "apiVersion"),
	BOOL_ZERO(6, "controller"), BOOL_ZERO(7, "blockOwnerDeletion"));
MESSAGE(managed_fields_entry,
	TEXT(1, "manager"), TEXT(2, "operation"), TEXT(3, "apiVersion"), OBJECT(4, "time", time), TEXT(6, "fieldsType"),
	OBJECT(7, "fieldsV1", fields_v1), TEXT(8, "subresource"));
SHARED_MESSAGE(object_meta,
	TEXT(1, "name"), TEXT(2, "generateName"), TEXT(3, "namespace"), TEXT(4, "selfLink"), TEXT(5, "uid"),
	TEXT(6, "resourceVersion"), INT(7, "generation"), OBJECT(8, "creationTimestamp", time),
	OBJECT(9, "deletionTimestamp", time), INT_ZERO(10, "deletionGracePeriodSeconds"), MAP_OF_TEXTS(11, "labels"),
	MAP_OF_TEXTS(12, "annotations"), LIST(13, "ownerReferences", owner_reference), TEXTS(14, "finalizers"),
	LIST(17, "managedFields", managed_fields_entry));
SHARED_MESSAGE(local_object_reference, TEXT(1, "name"));
SHARED_MESSAGE(label_selector_requirement, TEXT_ZERO(1, "key"), TEXT_ZERO(2, "operator"), TEXTS(3, "values"));
SHARED_MESSAGE(label_selector,
	MAP_OF_TEXTS(1, "matchLabels"), LIST(2, "matchExpressions", label_selector_requirement));
SHARED_MESSAGE(typed_local_object_reference, TEXT_ZERO(1, "apiGroup"), TEXT_ZERO(2, "kind"), TEXT_ZERO(3, "name"));
SHARED_MESSAGE(typed_object_reference,
	TEXT_ZERO(1, "apiGroup"), TEXT_ZERO(2, "kind"), TEXT_ZERO(3, "name"), TEXT_ZERO(4, "namespace"));
MESSAGE(node_selector_requirement, TEXT_ZERO(1, "key"), TEXT_ZERO(2, "operator"), TEXTS(3, "values"));
SHARED_MESSAGE(node_selector_term,
	LIST(1, "matchExpressions", node_selector_requirement), LIST(2, "matchFields", node_selector_requirement));
SHARED_MESSAGE(node_selector, LIST(1, "nodeSelectorTerms", node_selector_term));
SHARED_MESSAGE(secret_reference, TEXT(1, "name"), TEXT(2, "namespace"));
SHARED_MESSAGE(object_reference,
	TEXT(1, "kind"), TEXT(2, "namespace"), TEXT(3, "name"), TEXT(4, "uid"), TEXT(5, "apiVersion"),
	TEXT(6, "resourceVersion"), TEXT(7, "fieldPath"));
SHARED_MESSAGE(field_selector_requirement, TEXT_ZERO(1, "key"), TEXT_ZERO(2, "operator"), TEXTS(3, "values"));
SHARED_MESSAGE(condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), INT(3, "observedGeneration"),
	OBJECT(4, "lastTransitionTime", time), TEXT_ZERO(5, "reason"), TEXT_ZERO(6, "message"));
