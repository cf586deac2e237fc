// SPDX-License-Identifier: Apache-2.0
// Computes the effect of a change of sharing or policy by asking which definition serves each tenant before and after the
// change.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/crd/effect.h"
#include "registry/type/definition_internal.h"
#include "registry/type/policy.h"
#include "registry/type/type.h"
#include "sql/definitions.h"

// PAGE: tenants that one statement reads. MOST_LOOKED_AT: tenants that are compared for one answer.
enum { PAGE = 500, MOST_LOOKED_AT = 5000 };

// What applied before a change, either of one definition of the system or of one tenant (its own definition, or its policy).
struct definition_survey {
	struct str tenant; // whose space the change is made in
	// If the system's definition changes: its group and plural, and all definitions of the system as they were before.
	// group.p is NULL if the change concerns one tenant.
	struct str group, plural;
	struct view *common;
	// If the change concerns one tenant: the definitions that applied to it before, valid until the end of the request.
	const struct definition *const *list;
	size_t n;
};

// The view of the system's definitions; NULL: there is no system tenant yet.
static enum outcome see_common(struct registry *registry, struct view **common)
{
	enum outcome outcome = definitions_see(registry, STR(TENANT_SYSTEM), common);

	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

enum outcome definition_survey_begin(struct registry *registry, struct str tenant, struct str group, struct str plural,
	struct definition_survey **survey)
{
	struct definition_survey *begun = POOL_NEW(registry->pool, struct definition_survey);

	*begun = (struct definition_survey){ .tenant = tenant, .group = STR_NONE };
	*survey = begun;
	if (!str_eq_c(tenant, TENANT_SYSTEM) || plural.p == NULL)
		return definition_list(registry, tenant, &begun->list, &begun->n);
	begun->group = group;
	begun->plural = plural;
	return see_common(registry, &begun->common);
}

// ---- entries

// Does the same definition serve the tenant, whatever it contains now?
static bool is_same(const struct definition *from, const struct definition *to)
{
	if (from == NULL || to == NULL || from->builtin || to->builtin)
		return from == to;
	return uuid_eq(from->uid, to->uid);
}

// Counts the tenant's objects of the type. Objects in namespaces and objects without are of different types, even if the types
// have the same name, so both are counted.
static enum outcome count_objects(struct registry *registry, struct definition_effect *effect)
{
	const struct type *from = effect->from != NULL ? effect->from->type : effect->type;
	const struct type *to = effect->to != NULL ? effect->to->type : effect->type;
	const struct sql_definition_count_objects in = {
		.tenant = effect->tenant,
		.from_type_id = from->id,
		.to_type_id = to->id,
	};
	struct db_rows rows;
	enum db_result result = sql_definition_count_objects_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	effect->objects = sql_definition_count_objects_row(&rows, 0)->n;
	return OUTCOME_OK;
}

static enum outcome add_effect(struct registry *registry, struct definition_effects *effects, struct str tenant,
	const struct definition *from, const struct definition *to)
{
	if (is_same(from, to))
		return OUTCOME_OK;
	struct definition_effect *effect = &effects->list[effects->n++];
	*effect = (struct definition_effect){
		.tenant = tenant, .type = from != NULL ? from->type : to->type, .from = from, .to = to
	};
	return count_objects(registry, effect);
}

// ---- one tenant, all of its types

// Compares the lists of the definitions that served the tenant before and that serve it now. Both are in the order of
// definition_compare(), so they are merged.
static enum outcome compare_one(struct registry *registry, const struct definition_survey *survey,
	struct definition_effects *effects)
{
	const struct definition *const *after;
	size_t n, i = 0, j = 0;
	enum outcome outcome = definition_list(registry, survey->tenant, &after, &n);

	effects->list = POOL_ARRAY(registry->pool, struct definition_effect, survey->n + n + 1);
	while (outcome == OUTCOME_OK && (i < survey->n || j < n)) {
		int order = i == survey->n ? 1 : j == n ? -1 : definition_compare(survey->list[i], after[j]);
		outcome = add_effect(registry, effects, survey->tenant, order <= 0 ? survey->list[i] : NULL,
			order >= 0 ? after[j] : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	return outcome;
}

// ---- one of the system's types, all tenants

// A view with only as much of the tenant as the look-up of this one type needs.
static struct view *view_of(struct registry *registry, const struct sql_definition_tenants_row *row)
{
	struct view *view = POOL_NEW(registry->pool, struct view);
	const struct stored_place place = { "tenants", "metadata or object", row->tenant_id, { { 0 } } };

	*view = (struct view){
		.tenant = row->tenant,
		.policy = type_policy(row->type_policy),
		.annotations = stored_document(registry->pool, place, row->annotations),
		.pool = registry->pool,
		.trees = registry->pool,
	};
	if (row->name.p == NULL)
		return view;
	view->list = POOL_NEW(registry->pool, struct stored_definition);
	*view->list = (struct stored_definition){ .view = view, .name = row->name, .meta = row->meta, .body = row->body };
	uuid_from_bytes(row->uid, &view->list->uid);
	view->n = 1;
	return view;
}

// Compares which definition of the survey's type serves the tenant before and after the change. now: the system's definitions
// after it.
static enum outcome compare_tenant(struct registry *registry, const struct definition_survey *survey,
	struct view *now, struct view *tenant, struct definition_effects *effects)
{
	bool is_system = str_eq_c(tenant->tenant, TENANT_SYSTEM);
	struct view *before = is_system && survey->common != NULL ? survey->common : tenant, *after = tenant;
	struct definition_reason reason;

	if (is_system && now != NULL)
		after = now;
	const struct definition *from = is_system && survey->common == NULL ? NULL :
		definitions_resolve(registry, before, survey->common, survey->group, survey->plural, &reason);
	const struct definition *to = definitions_resolve(registry, after, now, survey->group, survey->plural, &reason);
	return add_effect(registry, effects, tenant->tenant, from, to);
}

// Reads the next tenants after marker, each with its own definition of the survey's type.
static enum outcome read_page(struct registry *registry, const struct definition_survey *survey, struct str marker,
	struct db_rows *rows)
{
	const struct sql_definition_tenants in = {
		.after = marker,
		.limit = PAGE,
		.type_id = type_definitions(registry)->id,
		.name = str_printf(registry->pool, "%.*s.%.*s", STR_ARG(survey->plural), STR_ARG(survey->group)),
	};
	enum db_result result = sql_definition_tenants_run(registry->db, registry->pool, &in, rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome compare_all(struct registry *registry, const struct definition_survey *survey, struct str marker,
	size_t limit, struct definition_effects *effects)
{
	struct view *now;
	struct db_rows rows = { .n = PAGE };
	size_t looked_at = 0;
	enum outcome outcome = see_common(registry, &now);

	effects->list = POOL_ARRAY(registry->pool, struct definition_effect, limit);
	while (outcome == OUTCOME_OK && rows.n == PAGE) {
		outcome = read_page(registry, survey, marker, &rows);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n; i++) {
			if (effects->n == limit || looked_at == MOST_LOOKED_AT) {
				effects->next = marker;
				return OUTCOME_OK;
			}
			struct view *tenant = view_of(registry, sql_definition_tenants_row(&rows, i));
			outcome = compare_tenant(registry, survey, now, tenant, effects);
			marker = tenant->tenant;
			looked_at++;
		}
	}
	return outcome;
}

enum outcome definition_survey_end(struct registry *registry, const struct definition_survey *survey,
	struct str marker, size_t limit, struct definition_effects *effects)
{
	assert(survey->group.p == NULL || limit > 0);
	*effects = (struct definition_effects){ .next = STR_NONE };
	if (survey->group.p == NULL)
		return compare_one(registry, survey, effects);
	return compare_all(registry, survey, marker, limit, effects);
}
