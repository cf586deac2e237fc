// SPDX-License-Identifier: Apache-2.0
// Events. None are stored: clients list them together with the objects that events describe, and get empty lists.
#include "base/base.h"

#include "base/ascii.h"
#include "types/common/checks.h"
#include "types/common/parts.h"

static const struct type_field series_fields[] = {
	MEMBER_INTEGER("count", "How often it happened."), MEMBER_TIME("lastObservedTime", "When it was seen last."), MEMBER_END
};
static const struct type_field source_fields[] = { MEMBER_TEXT("component", ""), MEMBER_TEXT("host", ""), MEMBER_END };
static const struct type_field event_fields[] = {
	MEMBER_TEXT("action", "What was done."), MEMBER_INTEGER("count", "How often it happened."),
	MEMBER_TIME("eventTime", "When it was seen first."), MEMBER_TIME("firstTimestamp", "When it was told first."),
	MEMBER_MUST("involvedObject", OF_OBJECT, object_reference_fields, "What it is about."),
	MEMBER_TIME("lastTimestamp", "When it was told last."), MEMBER_TEXT("message", "What happened."),
	MEMBER_TEXT("reason", "Why it was told, in one word."),
	MEMBER_OBJECT("related", object_reference_fields, "Another object that it is about."),
	MEMBER_TEXT("reportingComponent", "The controller that told it."), MEMBER_TEXT("reportingInstance", ""),
	MEMBER_OBJECT("series", series_fields, "Where it is one of several."),
	MEMBER_OBJECT("source", source_fields, "Who told it."), MEMBER_TEXT("type", "Normal or Warning."), MEMBER_END
};

static void cell_of_last_seen(struct type_row *row, const struct type_column *column)
{
	const struct doc *last = check_object_member(row->object, "lastTimestamp");

	column_add_text(row, column_age_since(row, doc_kind(last) == DOC_STRING ? last : column_value(row, column)));
}

static void cell_of_event_object(struct type_row *row, const struct type_column *column)
{
	const struct doc *object = column_value(row, column);
	struct str kind = check_object_text(object, "kind");
	struct str lowered = ascii_lowered(row->pool, kind);
	struct str name = check_object_text(object, "name");

	column_add_text(row, str_printf(row->pool, "%.*s/%.*s", STR_ARG(lowered), STR_ARG(name)));
}

static const struct type_column of_events[] = {
	COLUMN("Last Seen", "string", 0, cell_of_last_seen, ".metadata.creationTimestamp", "When it happened last."),
	COLUMN_TEXT("Type", ".type", "Normal or Warning."), COLUMN_TEXT("Reason", ".reason", "Why it was told."),
	COLUMN("Object", "string", 0, cell_of_event_object, ".involvedObject", "What it is about."),
	COLUMN_TEXT("Message", ".message", "What happened."), COLUMN_END
};

static const char *const selectable[] = {
	"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
	"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent",
	"source", "type", NULL
};

const struct type_parts events_parts = {
	.description = "An event tells what happened to an object. None are stored.",
	.fields = event_fields,
	.columns = of_events,
	.selectable = selectable,
};
