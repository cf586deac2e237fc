// SPDX-License-Identifier: Apache-2.0
// Events. None are stored: clients list them together with the objects that events describe, and get empty lists.
#include "base/base.h"

#include "base/ascii.h"
#include "types/common/checks.h"
#include "types/common/parts.h"

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
	.columns = of_events,
	.selectable = selectable,
};
