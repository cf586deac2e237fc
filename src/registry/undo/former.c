// SPDX-License-Identifier: Apache-2.0
// Each update keeps what it replaced. So the content after a change is what the next update replaced, or what the resource has
// now.
#include "base/base.h"

#include "registry/undo/former.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/placement/provider.h"
#include "registry/resource/internal.h"
#include "registry/tenant/tenant.h"
#include "registry/type/stored_type.h"
#include "registry/undo/internal.h"
#include "repr/json/doc.h"
#include "sql/former.h"

enum { NAMESAKES_TOLD = 8 };

struct resource former_version(const struct resource *resource, const struct former_content *content)
{
	struct resource version = *resource;

	assert(content->state == FORMER_KNOWN);
	version.locked = content->locked;
	version.meta = content->meta;
	version.body = content->body;
	version.traits = content->traits;
	version.tree = NULL;
	version.shown = version.answer = STR_NONE;
	return version;
}

static struct former_content present_content(const struct resource *resource)
{
	return (struct former_content){
		.state = FORMER_KNOWN, .locked = resource->locked, .meta = resource->meta, .body = resource->body, .traits = resource->traits,
	};
}

// Refuses a uid that resources of several types have: the caller has to say by a path which of them it means. resource: one of
// them.
static enum outcome check_namesakes(struct registry *registry, const struct former_query *query, const struct resource *resource)
{
	const struct sql_former_namesakes in = {
		.tenant_id = resource->tenant_id,
		.uid = uuid_bytes(&query->uid),
		.type_id = resource->type->id,
		.deleted = resource->live == RESOURCE_DELETED,
		.now = registry->now_us,
		.limit = NAMESAKES_TOLD,
	};
	struct buf paths = buf_new(registry->pool, 256);
	struct db_rows rows;
	enum db_result result = sql_former_namesakes_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK;
	buf_add(&paths, resource_path(registry->pool, resource->type, resource->space, resource->name));
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_former_namesakes_row *row = sql_former_namesakes_row(&rows, i);
		BUF_LIT(&paths, " or ");
		buf_add(&paths, resource_path(registry->pool, type_of_resource(registry, 0, row->type_id), row->namespace, row->name));
	}
	struct str text = buf_str(&paths);
	return registry_fail(registry, OUTCOME_BAD_PARAMETER, "several resources have that uid; name one by its path: %.*s", STR_ARG(text));
}

static enum outcome find_resource(struct registry *registry, const struct former_query *query, uint64_t tenant_id,
	struct resource *resource)
{
	const struct address *address = query->address;
	struct sql_former_resource in = { .tenant_id = tenant_id, .now = registry->now_us, .uid = uuid_bytes(&query->uid) };
	struct db_rows rows;

	if (address != NULL) {
		in.type_id = address->type->id;
		in.namespace = address->space;
		in.name = address->name;
	}
	enum db_result result = sql_former_resource_run(registry->db, registry->pool,
		address != NULL ? SQL_FORMER_WHOSE_ADDRESS : SQL_FORMER_WHOSE_UID, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "the tenant has no such resource, nor one that can be recovered");
	*resource = resource_of_columns(registry, &sql_former_resource_row(&rows, 0)->r);
	resource->tenant = query->tenant;
	return address != NULL ? OUTCOME_OK : check_namesakes(registry, query, resource);
}

// Finds the content that the resource had just before the first update of its content with an id of at least from.
static enum outcome content_before(struct registry *registry, const struct resource *resource, uint64_t from,
	struct former_content *content)
{
	const struct sql_former_next in = { .resource_id = resource->id, .from = from, .providers = provider_type(registry)->id };
	struct db_rows rows;
	enum db_result result = sql_former_next_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*content = present_content(resource);
	if (rows.n == 0)
		return OUTCOME_OK;
	const struct sql_former_next_row *row = sql_former_next_row(&rows, 0);
	*content = (struct former_content){
		.state = row->locked_is_null ? FORMER_UNKNOWN : FORMER_KNOWN,
		.locked = row->locked != 0, .meta = row->meta, .body = row->body, .traits = row->traits,
	};
	return OUTCOME_OK;
}

// Makes a change of its row. *content: that of the live resource after the change; it becomes the one before.
static struct former_change change_of_row(struct registry *registry, const struct resource *resource, const struct sql_former_page_row *row,
	struct former_content *content)
{
	static const struct former_content none = { .state = FORMER_NONE };
	struct former_change change = {
		.id = row->id, .at_us = row->at, .actor = row->actor, .verb = row->verb, .revision = row->revision, .fields = row->fields,
	};
	bool gone = str_eq(row->verb, STR("deleted")) || str_eq(row->verb, STR("purged"));

	uuid_from_bytes(row->request_id, &change.request_id);
	change.after = gone ? none : *content;
	if (str_eq(row->verb, STR("updated")) && undo_beside_of(registry, resource->type->id, row->fields) == BESIDE_NONE)
		*content = (struct former_content){
			.state = row->locked_is_null ? FORMER_UNKNOWN : FORMER_KNOWN,
			.locked = row->locked != 0, .meta = row->meta, .body = row->body, .traits = row->traits,
		};
	change.before = str_eq(row->verb, STR("created")) || str_eq(row->verb, STR("recovered")) ? none : *content;
	return change;
}

// ---- what providers have in other tables

// What a provider had, by the newer changes that were looked at: what the oldest of them replaced.
struct beside_seen {
	bool looked;
	const struct doc *content; // NULL: not known
};

// What the provider has had since the change before id `from`: what the next change replaced, or what is there now.
static enum outcome beside_after(struct registry *registry, const struct resource *resource, enum beside beside, struct str fields, uint64_t from,
	const struct doc **content)
{
	const struct sql_former_next_beside in = { .resource_id = resource->id, .from = from, .fields = fields };
	const struct stored_place place = { .table = "inventories", .column = "resource_id", .id = resource->id };
	struct db_rows rows;
	struct str text;
	enum db_result result = sql_former_next_beside_run(registry->db, registry->pool, &in, &rows);

	*content = NULL;
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		const struct sql_former_next_beside_row *row = sql_former_next_beside_row(&rows, 0);
		*content = row->locked_is_null ? NULL : undo_beside_replaced(registry, beside, row->id, row->body);
		return OUTCOME_OK;
	}
	if (resource->live == RESOURCE_DELETED)
		return OUTCOME_OK;
	enum outcome outcome = undo_beside_present(registry, beside, &resource->uid, &text);
	if (outcome == OUTCOME_OK)
		*content = stored_document(registry->pool, place, text);
	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

// Sets the members of the change that are about that. Only operators may read them in the API of placement, so no one else gets
// them here.
static enum outcome set_beside(struct registry *registry, const struct resource *resource, const struct sql_former_page_row *row,
	struct beside_seen seen[BESIDE_ALLOCATIONS], struct former_change *change)
{
	enum beside beside = undo_beside_of(registry, resource->type->id, row->fields);
	enum outcome outcome = OUTCOME_OK;

	if (!registry->privileged || (beside != BESIDE_INVENTORIES && beside != BESIDE_AGGREGATES))
		return OUTCOME_OK;
	change->beside = undo_beside_name(beside);
	if (!seen[beside].looked)
		outcome = beside_after(registry, resource, beside, row->fields, row->id + 1, &seen[beside].content);
	change->beside_after = seen[beside].content;
	change->beside_before = row->locked_is_null ? NULL : undo_beside_replaced(registry, beside, row->id, row->body);
	seen[beside] = (struct beside_seen){ .looked = true, .content = change->beside_before };
	return outcome;
}

enum outcome former_history(struct registry *registry, const struct former_query *query, struct resource *resource,
	struct former_change **list, size_t *n, bool *more)
{
	struct tenant tenant;
	struct former_content content;
	struct beside_seen seen[BESIDE_ALLOCATIONS];
	struct db_rows rows;

	assert(query->limit > 0);
	enum outcome outcome = tenant_get(registry, query->tenant, &tenant);
	if (outcome == OUTCOME_OK)
		outcome = find_resource(registry, query, tenant.id, resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_former_page in = {
		.resource_id = resource->id, .tenant_id = tenant.id, .below = query->below, .limit = query->limit + 1,
	};
	enum db_result result = sql_former_page_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > query->limit;
	*n = *more ? (size_t)query->limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct former_change, *n);
	// Is the content after row i unknown from the rows above it? So it is for the first row, and below a row "moved": until
	// then another tenant had the resource, and its updates are not among the rows.
	bool gap = true;
	for (size_t i = 0; outcome == OUTCOME_OK && i < *n; i++) {
		const struct sql_former_page_row *row = sql_former_page_row(&rows, i);
		if (gap) {
			outcome = content_before(registry, resource, row->id + 1, &content);
			memset(seen, 0, sizeof(seen));
		}
		if (outcome != OUTCOME_OK)
			break;
		(*list)[i] = change_of_row(registry, resource, row, &content);
		outcome = set_beside(registry, resource, row, seen, &(*list)[i]);
		gap = str_eq(row->verb, STR("moved"));
	}
	return outcome;
}
