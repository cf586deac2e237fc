// SPDX-License-Identifier: Apache-2.0
// A node's history: its changes in the change log, as events without conductors and drivers. OpenStack's service records the
// errors of a node here.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/log/changed_fields.h"
#include "registry/log/history.h"

enum { SECONDS = 19 /* of "2026-11-21T05:24:00" */, FIELDS_TOLD = 16 };

// ---- one event

// Appends the changed members of the node as patches name them: " /extra/slot, /name". stored: the change log's list of fields; p
// NULL: not recorded.
static void add_fields(struct call *call, struct str stored, struct buf *text)
{
	const struct str traits = STR("/metadata/traits"), metadata = STR("/metadata");
	struct changed_fields *fields = POOL_NEW(call->pool, struct changed_fields);

	fields->pool = call->pool;
	if (stored.p == NULL || !changed_fields_add_stored(fields, stored))
		return;
	for (size_t i = 0; i < fields->n && i < FIELDS_TOLD; i++) {
		struct str field = fields->at[i];
		buf_addf(text, "%s", i == 0 ? " " : ", ");
		buf_add(text, str_eq(field, traits) ? str_part(field, metadata.n, field.n) : field);
	}
	if (fields->n > FIELDS_TOLD)
		BUF_LIT(text, ", …");
}

static struct str event_text(struct call *call, const struct history_entry *entry)
{
	struct buf text = buf_new(call->pool, 64);

	if (str_eq(entry->verb, STR("updated"))) {
		BUF_LIT(&text, "changed");
		add_fields(call, entry->fields, &text);
	} else if (str_eq(entry->verb, STR("moved"))) {
		BUF_LIT(&text, "got another owner");
	} else {
		buf_add(&text, entry->verb);
	}
	return buf_str(&text);
}

static struct doc *entry_doc(struct call *call, const struct resource *node, const struct history_entry *entry, bool detail)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct str uuid = uuid_str(pool, entry->uuid);
	struct buf time = buf_new(pool, 32);

	clock_add_rfc3339(&time, entry->at_us);
	doc_set_str(pool, doc, "uuid", uuid);
	doc_set_str(pool, doc, "created_at", str_printf(pool, "%.*s+00:00", SECONDS, time.p));
	doc_set_str(pool, doc, "severity", STR("INFO"));
	doc_set_str(pool, doc, "event", event_text(call, entry));
	if (detail) {
		doc_set_str(pool, doc, "event_type", entry->verb);
		doc_set_str(pool, doc, "user", entry->actor);
		doc_set_str(pool, doc, "conductor", baremetal_host(call));
	}
	doc_set(doc, STR("links"), baremetal_links(call, str_printf(pool, "nodes/%.*s/history/%.*s", UUID_ARG(pool, node->uid),
		STR_ARG(uuid))));
	return doc;
}

// Does the caller see the whole history? A tenant sees only what happened while the node was its own.
static bool sees_all(const struct call *call)
{
	return baremetal_visible_tenant(call).p == NULL;
}

static enum outcome fail_unknown(struct call *call, struct str text)
{
	return call_fail(call, OUTCOME_NOT_FOUND, "Node history record %.*s could not be found.",
		STR_HEAD_ARG(text, BAREMETAL_SHOWN));
}

enum outcome get_history(struct call *call)
{
	struct str text = call_param(call, "item");
	struct history_entry entry;
	struct resource node;
	struct uuid uuid;
	enum outcome outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);

	if (outcome == OUTCOME_OK && !uuid_parse(text, &uuid))
		outcome = call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID for event: %.*s",
			STR_HEAD_ARG(text, BAREMETAL_SHOWN));
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = history_find(call->registry, &node, sees_all(call), &uuid, &entry);
	if (outcome == OUTCOME_OK)
		baremetal_write_json(call, entry_doc(call, &node, &entry, true));
	return outcome == OUTCOME_NOT_FOUND ? fail_unknown(call, text) : outcome;
}

// ---- lists

enum outcome list_history(struct call *call)
{
	struct str marker = call_param(call, "marker");
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);
	struct history_query query = { .all = sees_all(call), .limit = baremetal_page_limit(call) };
	struct history_entry *entries;
	struct resource node;
	struct uuid uuid;
	bool detail = false, more;
	size_t n;
	enum outcome outcome = baremetal_read_detail(call, &detail);

	if (outcome == OUTCOME_OK)
		outcome = kind_find(call, &node_kind, call_param(call, "node"), &node);
	if (outcome == OUTCOME_OK && marker.p != NULL && !uuid_parse(marker, &uuid))
		outcome = call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID for marker: %.*s",
			STR_HEAD_ARG(marker, BAREMETAL_SHOWN));
	if (outcome != OUTCOME_OK)
		return outcome;
	query.resource = &node;
	query.marker = marker.p != NULL ? &uuid : NULL;
	outcome = history_read(call->registry, &query, &entries, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? fail_unknown(call, marker) : outcome;
	for (size_t i = 0; i < n; i++)
		doc_push(list, entry_doc(call, &node, &entries[i], detail));
	doc_set(doc, STR("history"), list);
	if (more)
		doc_set_str(call->pool, doc, "next", baremetal_next_url(call, query.limit, uuid_str(call->pool, entries[n - 1].uuid)));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}
