// SPDX-License-Identifier: Apache-2.0
// Chooses the definition that serves a tenant: built in, the tenant's own, or one that the system shares with it.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/type/definition_internal.h"
#include "registry/type/internal.h"
#include "registry/type/policy.h"
#include "registry/type/rules.h"
#include "registry/type/type.h"
#include "sql/definitions.h"

// ---- the decision

// Notes the rule, and returns the definition.
static const struct definition *decide(struct definition_reason *reason, const struct definition *definition,
	const char *rule, struct str detail)
{
	reason->rule = rule;
	reason->detail = reason->detail_for_tenant = detail;
	return definition;
}

// Is it the name of a definition of that group: "widgets.example.com"?
static bool is_of_group(struct str name, struct str group)
{
	size_t dot = str_find(name, '.', 0);

	return dot < name.n && str_eq(str_part(name, dot + 1, name.n), group);
}

// The forced one of the system's definitions with that group and kind, whatever its plural name; NULL: there is none. There is
// one at most, because kinds are unique in a tenant and group (crd/names.c). common: the system's view; NULL: there is no system
// tenant yet.
static const struct definition *find_forced(struct registry *registry, struct view *common, struct str group, struct str kind)
{
	for (size_t i = 0; common != NULL && i < common->n; i++) {
		if (!is_of_group(common->list[i].name, group))
			continue;
		const struct definition *definition = definition_of_stored(registry, &common->list[i]);
		if (definition != NULL && definition->forced && str_eq(definition->kind, kind))
			return definition;
	}
	return NULL;
}

enum outcome definition_find_forced(struct registry *registry, struct str group, struct str kind, const struct definition **definition)
{
	struct view *common;
	enum outcome outcome = definitions_see(registry, STR(TENANT_SYSTEM), &common);

	*definition = outcome == OUTCOME_OK ? find_forced(registry, common, group, kind) : NULL;
	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

// A tenant's own definition as it serves the tenant beside a forced one of its group and kind: without the versions that the
// forced one has. NULL: no served version is left.
static const struct definition *beside_forced(struct registry *registry, const struct definition *own,
	const struct definition *forced)
{
	struct definition_version *versions = POOL_ARRAY(registry->pool, struct definition_version, own->n_versions);
	bool same = true, serves = false;

	for (size_t i = 0; i < own->n_versions; i++) {
		bool taken = own->versions[i].served && definition_version(forced, own->versions[i].name) != NULL;
		versions[i] = own->versions[i];
		versions[i].served = own->versions[i].served && !taken;
		serves = serves || versions[i].served;
		same = same && !taken;
	}
	if (same)
		return own;
	if (!serves)
		return NULL;
	struct definition *left = POOL_NEW(registry->pool, struct definition);
	*left = *own;
	left->versions = versions;
	return left;
}

// The decision of Arktos' GetMatchingCRD(). reason has the candidates (own, shared), in_range and the tenant's policy. common:
// the system's definitions, of which a forced one wins by group, version and kind, also if the tenant's own has another plural
// name.
static const struct definition *match(struct registry *registry, struct view *common, struct definition_reason *reason)
{
	const struct definition *own = reason->own, *shared = reason->in_range ? reason->shared : NULL, *forced = NULL;

	if (reason->shared != NULL && reason->shared->forced)
		return decide(reason, reason->shared, "forced", STR("the system's definition is forced on every tenant"));
	if (own != NULL && !definition_is_of_system(own->owner))
		forced = find_forced(registry, common, own->type->group, own->kind);
	if (forced != NULL)
		own = beside_forced(registry, own, forced);
	if (forced != NULL && own == NULL && shared == NULL)
		return decide(reason, NULL, "forced", str_printf(registry->pool,
			"the system's %.*s, which has its kind, is forced on every tenant", STR_ARG(forced->type->plural)));
	if (strcmp(reason->policy, TYPE_POLICY_NEVER) == 0) {
		if (own != NULL)
			return decide(reason, own, "own", STR("the tenant's own; its policy lets none of the system's in"));
		return decide(reason, NULL, "none", STR("the tenant has none of its own, and its policy lets none of the system's in"));
	}
	if (shared != NULL && strcmp(reason->policy, TYPE_POLICY_SYSTEM) == 0)
		return decide(reason, shared, "shared",
			STR("the system's, whose range the tenant is in: its policy has that come first"));
	if (own != NULL)
		return decide(reason, own, "own", STR("the tenant's own"));
	if (shared != NULL)
		return decide(reason, shared, "shared", STR("the system's, whose range the tenant is in; it has none of its own"));
	(void)decide(reason, NULL, "none", STR("nobody that the tenant could have it from defines it"));
	if (reason->shared != NULL)
		reason->detail = STR("the tenant has none of its own, and is not in the range of the system's");
	return NULL;
}

const struct definition *definitions_resolve(struct registry *registry, struct view *own, struct view *common,
	struct str group, struct str plural, struct definition_reason *reason)
{
	struct str name = definition_stored_name(registry->pool, group, plural);

	*reason = (struct definition_reason){
		.policy = own->policy, .own = definition_in_view(registry, own, name), .shared = definition_in_view(registry, common, name)
	};
	if (own == common)
		reason->shared = NULL; // the system's definitions are its own, not shared with it
	reason->in_range = reason->shared != NULL && definition_in_range(reason->shared->range, own->annotations);
	return match(registry, common, reason);
}

static enum outcome fail_no_type(struct registry *registry, struct str group, struct str plural)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no type of resource called \"%.*s%s%.*s\"", STR_ARG(plural),
		group.n > 0 ? "." : "", STR_ARG(group));
}

enum outcome definition_find(struct registry *registry, struct str tenant, struct str group, struct str plural,
	const struct definition **definition, struct definition_reason *reason)
{
	struct definition_reason unasked;
	struct view *own, *common;

	if (reason == NULL)
		reason = &unasked;
	*reason = (struct definition_reason){ .rule = NULL };
	*definition = decide(reason, definition_find_builtin(registry, group, plural), "built-in", STR("it comes with the service"));
	if (*definition != NULL && (!(*definition)->system_only || definition_is_of_system(tenant)))
		return OUTCOME_OK;
	if (*definition != NULL) {
		*definition = decide(reason, NULL, "system-only", STR("it is for the system's own space"));
		return fail_no_type(registry, group, plural);
	}
	const struct type like = { .group = group, .plural = plural };
	enum outcome outcome = definitions_see_both(registry, tenant, &like, &own, &common);
	if (outcome == OUTCOME_NOT_FOUND)
		return fail_no_type(registry, group, plural);
	if (outcome != OUTCOME_OK)
		return outcome;
	*definition = definitions_resolve(registry, own, common, group, plural, reason);
	return *definition != NULL ? OUTCOME_OK : fail_no_type(registry, group, plural);
}

// Finds the tenant with the oldest definition of the type. OUTCOME_OK; _NOT_FOUND: no tenant has one; or that of a failed
// statement.
static enum outcome find_oldest(struct registry *registry, struct str group, struct str plural, struct str *tenant)
{
	const struct sql_definition_oldest in = {
		.type_id = type_definitions(registry)->id, .name = definition_stored_name(registry->pool, group, plural)
	};
	struct db_rows rows;
	enum db_result result = sql_definition_oldest_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_NOT_FOUND;
	*tenant = sql_definition_oldest_row(&rows, 0)->tenant;
	return OUTCOME_OK;
}

enum outcome definition_find_for_all(struct registry *registry, struct str group, struct str plural,
	const struct definition **definition)
{
	struct str tenant;
	enum outcome outcome = definition_find(registry, STR(TENANT_SYSTEM), group, plural, definition, NULL);

	if (outcome != OUTCOME_NOT_FOUND || group.n == 0)
		return outcome;
	outcome = find_oldest(registry, group, plural, &tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	*registry->problem = (struct problem){ .n_members = 0 };
	return definition_find(registry, tenant, group, plural, definition, NULL);
}

// ---- moves

static bool type_is_of_system(const struct type *type)
{
	return type->rules != NULL && type->rules->of_system;
}

bool definition_varies(const struct type *type)
{
	if (!type->builtin || type_is_of_system(type))
		return true;
	for (size_t i = 0; i < n_builtins; i++) {
		if (str_eq_c(type->plural, builtins[i].plural) && str_eq_c(type->group, builtins[i].group))
			return builtins[i].definition.system_only;
	}
	return false;
}

// The definition that will serve the type in the destination after the source's own definition has moved there.
static const struct definition *with_own(struct registry *registry, struct view *own, struct view *common,
	const struct definition *coming, const struct type *type)
{
	struct definition_reason reason;

	(void)definitions_resolve(registry, own, common, type->group, type->plural, &reason);
	if (reason.own == NULL)
		reason.own = coming;
	return match(registry, common, &reason);
}

enum outcome definition_after_move(struct registry *registry, struct str source, struct str dest, bool with_definition,
	const struct type *type, enum definition_fate *fate)
{
	const struct definition *here = NULL, *there = NULL;
	struct definition_reason reason = { .own = NULL };
	struct view *own, *common;
	enum outcome outcome = definition_find(registry, source, type->group, type->plural, &here, &reason);

	if (outcome == OUTCOME_OK || outcome == OUTCOME_NOT_FOUND)
		outcome = definition_find(registry, dest, type->group, type->plural, &there, NULL);
	if (outcome == OUTCOME_NOT_FOUND)
		outcome = OUTCOME_OK;
	if (outcome == OUTCOME_OK && with_definition && reason.own != NULL) {
		outcome = definitions_see_both(registry, dest, NULL, &own, &common);
		if (outcome == OUTCOME_OK)
			there = with_own(registry, own, definition_is_of_system(source) ? NULL : common, reason.own, type);
	}
	*registry->problem = (struct problem){ .n_members = 0 };
	*fate = DEFINITION_SAME;
	if (there == NULL || (type_is_of_system(type) && !definition_is_of_system(dest)))
		*fate = DEFINITION_NONE;
	else if (there->type->id != type->id ||
		 (here != NULL && here->type->id == type->id && !uuid_eq(here->uid, there->uid)))
		*fate = DEFINITION_OTHER;
	return outcome;
}

// ---- lists

// Which definitions a list has.
enum listed { LISTED_SERVING, LISTED_SERVING_AND_ANNOUNCED };

static void add_builtins(struct registry *registry, struct str tenant, enum listed listed, const struct definition **list,
	size_t *n)
{
	const struct definition *all = definition_list_builtin(registry);

	for (size_t i = 0; all != NULL && i < n_builtins; i++) {
		bool serves = !all[i].system_only || definition_is_of_system(tenant);
		if (all[i].type != NULL && (serves || (listed == LISTED_SERVING_AND_ANNOUNCED && all[i].announced)))
			list[(*n)++] = &all[i];
	}
}

// Adds the definitions of one of the two views, `from`, that serve the tenant.
static void add_view(struct registry *registry, struct view *own, struct view *common, struct view *from,
	const struct definition **list, size_t *n)
{
	struct definition_reason reason;

	for (size_t i = 0; from != NULL && i < from->n; i++) {
		const struct definition *definition = definition_of_stored(registry, &from->list[i]);
		if (definition == NULL)
			continue;
		const struct type *type = definition->type;
		const struct definition *serves = definitions_resolve(registry, own, common, type->group, type->plural, &reason);
		if (serves != NULL && serves->source == definition->source)
			list[(*n)++] = serves;
	}
}

int definition_compare(const struct definition *a, const struct definition *b)
{
	int order = str_cmp(a->type->group, b->type->group);

	return order != 0 ? order : str_cmp(a->type->plural, b->type->plural);
}

static int by_type(const void *a, const void *b)
{
	return definition_compare(*(const struct definition *const *)a, *(const struct definition *const *)b);
}

static enum outcome list_definitions(struct registry *registry, struct str tenant, enum listed listed,
	const struct definition *const **list, size_t *n)
{
	struct view *own = NULL, *common = NULL;
	enum outcome outcome = definitions_see_both(registry, tenant, NULL, &own, &common);

	*n = 0;
	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	size_t most = n_builtins + (own != NULL ? own->n : 0) + (common != NULL ? common->n : 0);
	const struct definition **all = POOL_ARRAY(registry->pool, const struct definition *, most);
	add_builtins(registry, tenant, listed, all, n);
	if (own != NULL) {
		add_view(registry, own, common, own, all, n);
		add_view(registry, own, common, common != own ? common : NULL, all, n);
	}
	qsort(all, *n, sizeof(*all), by_type); // never empty, since there are built-in types
	*list = all;
	return OUTCOME_OK;
}

enum outcome definition_list(struct registry *registry, struct str tenant, const struct definition *const **list, size_t *n)
{
	return list_definitions(registry, tenant, LISTED_SERVING, list, n);
}

enum outcome definition_announced(struct registry *registry, struct str tenant, const struct definition *const **list,
	size_t *n)
{
	return list_definitions(registry, tenant, LISTED_SERVING_AND_ANNOUNCED, list, n);
}

// ---- by one name

// The built-in definition with that plural. If there are several, one that is not system_only wins, and then the core group's.
static const struct definition *builtin_named(struct registry *registry, struct str tenant, struct str plural)
{
	const struct definition *all = definition_list_builtin(registry), *best = NULL;

	for (size_t i = 0; all != NULL && i < n_builtins; i++) {
		if (all[i].type == NULL || !all[i].stored || !str_eq(all[i].type->plural, plural) ||
			(all[i].system_only && !definition_is_of_system(tenant)))
			continue;
		if (best == NULL || (best->system_only && !all[i].system_only))
			best = &all[i];
	}
	return best;
}

static enum outcome custom_named(struct registry *registry, struct str tenant, struct str plural,
	const struct definition **definition)
{
	const struct definition *const *list;
	size_t n, found = 0;
	enum outcome outcome = definition_list(registry, tenant, &list, &n);

	*definition = NULL;
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++) {
		if (list[i]->builtin || !str_eq(list[i]->type->plural, plural))
			continue;
		*definition = list[i];
		found++;
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	if (found > 1)
		return registry_fail(registry, OUTCOME_NOT_FOUND,
			"several groups have a type called \"%.*s\": put a dot and the group behind it", STR_ARG(plural));
	return found == 1 ? OUTCOME_OK : fail_no_type(registry, STR(""), plural);
}

enum outcome definition_named(struct registry *registry, struct str tenant, struct str name,
	const struct definition **definition)
{
	size_t dot = str_find(name, '.', 0);

	if (dot < name.n) {
		struct str group = str_part(name, dot + 1, name.n);
		enum outcome outcome = definition_find(registry, tenant, str_eq(group, STR("core")) ? STR("") : group,
			str_part(name, 0, dot), definition, NULL);
		if (outcome == OUTCOME_OK && !(*definition)->stored)
			return fail_no_type(registry, group, str_part(name, 0, dot));
		return outcome;
	}
	*definition = builtin_named(registry, tenant, name);
	return *definition != NULL ? OUTCOME_OK : custom_named(registry, tenant, name, definition);
}

const struct definition_version *definition_version(const struct definition *definition, struct str name)
{
	for (size_t i = 0; i < definition->n_versions; i++) {
		if (definition->versions[i].served && str_eq(definition->versions[i].name, name))
			return &definition->versions[i];
	}
	return NULL;
}

const struct definition_version *definition_storage(const struct definition *definition)
{
	for (size_t i = 0; i < definition->n_versions; i++) {
		if (definition->versions[i].storage)
			return &definition->versions[i];
	}
	return &definition->versions[0];
}
