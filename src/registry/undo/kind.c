// SPDX-License-Identifier: Apache-2.0
// What a request did, told by its rows of the change log.
#include "base/base.h"

#include "registry/undo/internal.h"

#include "registry/baremetal/rules.h"
#include "registry/type/internal.h"

static enum kind kind_of_verb(struct str verb)
{
	static const char *const verbs[KIND__N] = { "updated", "created", "deleted", "recovered", "moved", "purged" };

	for (enum kind kind = 0; kind < KIND__N; kind++)
		if (str_eq_c(verb, verbs[kind]))
			return kind;
	return KIND_SEVERAL;
}

bool undo_asks_deletion(const struct sql_undo_rows_row *row)
{
	return str_eq(row->fields, STR("[\"/metadata/deletionTimestamp\"]"));
}

bool undo_is_of_deletion(const struct undo *undo, const struct sql_undo_rows_row *row)
{
	if (!str_eq(row->verb, STR("updated")) || row->resource_id_is_null)
		return false;
	if (undo_asks_deletion(row))
		return true;
	for (size_t i = 0; i < undo->rows.n; i++)
		if (undo_row(undo, i)->resource_id == row->resource_id && undo_asks_deletion(undo_row(undo, i)))
			return true;
	return false;
}

static bool has_verb(const struct undo *undo, const char *verb)
{
	for (size_t i = 0; i < undo->rows.n; i++)
		if (str_eq_c(undo_row(undo, i)->verb, verb))
			return true;
	return false;
}

// Did the request make, or delete, an allocation of bare metal?
static bool has_allocated(const struct undo *undo, enum kind kind)
{
	const uint64_t allocations = type_with_rules(undo->registry, &allocation_rules)->id;

	for (size_t i = 0; i < undo->rows.n; i++)
		if (kind_of_verb(undo_row(undo, i)->verb) == kind && !undo_row(undo, i)->type_id_is_null &&
			undo_row(undo, i)->type_id == allocations)
			return true;
	return false;
}

bool undo_goes_along(const struct undo *undo, enum kind kind, const struct sql_undo_rows_row *row)
{
	if ((kind != KIND_CREATED && kind != KIND_DELETED) || !str_eq(row->verb, STR("updated")) || row->type_id_is_null)
		return false;
	return (row->type_id == type_with_rules(undo->registry, &node_rules)->id ||
		       row->type_id == type_with_rules(undo->registry, &allocation_rules)->id) &&
	       has_allocated(undo, kind);
}

// Finds out what the request did. A tenant is created together with its namespace "default". A large namespace is marked before
// it is deleted in the background. An allocation of bare metal takes a node when it is made, and frees it when it is deleted.
enum kind undo_kind(struct undo *undo)
{
	bool deletes = has_verb(undo, "deleted");
	enum kind kind = deletes ? KIND_DELETED :
			 has_verb(undo, "created") ? KIND_CREATED :
						     kind_of_verb(undo_row(undo, 0)->verb);
	size_t n_tenants = 0;

	for (size_t i = 0; i < undo->rows.n && kind != KIND_SEVERAL; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		if (kind_of_verb(row->verb) != kind && !(deletes && undo_is_of_deletion(undo, row)) && !undo_goes_along(undo, kind, row))
			kind = KIND_SEVERAL;
	}
	for (size_t i = 0; i < undo->rows.n; i++) {
		n_tenants += undo_row(undo, i)->resource_id_is_null ? 1 : 0;
	}
	undo->plan->of_tenant = n_tenants > 0;
	if (undo_is_move(undo))
		return KIND_MOVED;
	if (n_tenants > 0 && undo->rows.n != (kind == KIND_CREATED ? 2 : 1))
		return KIND_SEVERAL;
	return kind;
}

bool undo_concerns(const struct undo *undo, bool *several)
{
	bool found = false;

	*several = false;
	for (size_t i = 0; i < undo->rows.n; i++) {
		const struct sql_undo_rows_row *row = undo_row(undo, i);
		bool is_own = row->tenant_id == undo->tenant.id;

		found = found || is_own || (!row->from_tenant_id_is_null && row->from_tenant_id == undo->tenant.id);
		*several = *several || !is_own;
	}
	if (undo->rows.n == 0) // the log was purged, and the record of the move was not
		return false;
	return found || (undo->merging.found && (undo->merging.source_id == undo->tenant.id || undo->merging.dest_id == undo->tenant.id));
}
