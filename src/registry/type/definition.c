// SPDX-License-Identifier: Apache-2.0
// Which definition answers for a tenant; and what a worker holds of the tenants' definitions: of each tenant that it
// was asked about, all or nothing, with what decides between them.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/trait/catalogue.h"
#include "registry/type/definition_internal.h"
#include "registry/type/internal.h"
#include "registry/type/policy.h"
#include "repr/json/doc.h"
#include "sql/definitions.h"

enum {
	VIEWS_MAX = 256,
	VIEWS_MAX_BYTES = 4 << 20, // texts and trees of all views
};

struct definitions {
	struct definition *builtin; // as the table has them; NULL: not filled in yet
	struct view *views, *retired;
	bool grown; // the views, in this request
	uint64_t no_system; // the catalogue's revision as of which there is no system tenant yet, and so nothing of its; 0: none
};

struct definitions *definitions_new(void)
{
	return calloc(1, sizeof(struct definitions));
}

static void free_views(struct view **views)
{
	while (*views != NULL) {
		struct view *view = *views;
		struct pool *pool = view->pool, *trees = view->trees;
		*views = view->next;
		pool_free(&trees);
		pool_free(&pool);
	}
}

void definitions_free(struct definitions **definitions)
{
	if (*definitions == NULL)
		return;
	free_views(&(*definitions)->views);
	free_views(&(*definitions)->retired);
	free((*definitions)->builtin);
	free(*definitions);
	*definitions = NULL;
}

// Drops what was read of a view's texts.
static void forget_trees(struct view *view)
{
	for (size_t i = 0; i < view->n; i++) {
		view->list[i].read = view->list[i].answers = false;
		view->list[i].definition = (struct definition){ 0 };
	}
	pool_clear(view->trees);
}

// Keeps the views that were used last, as far as there is room. The first one keeps its texts if only these fit.
void definitions_end(struct registry *registry)
{
	struct definitions *definitions = registry->definitions;
	struct view **last = &definitions->views;
	size_t n = 0, bytes = 0;

	if (!definitions->grown)
		return;
	if (*last != NULL && pool_held((*last)->pool) + pool_held((*last)->trees) > VIEWS_MAX_BYTES)
		forget_trees(*last);
	for (; *last != NULL && n < VIEWS_MAX; last = &(*last)->next, n++) {
		bytes += pool_held((*last)->pool) + pool_held((*last)->trees);
		if (bytes > VIEWS_MAX_BYTES)
			break;
	}
	free_views(last);
	definitions->grown = false;
}

void definitions_begin(struct registry *registry)
{
	struct definitions *definitions = registry->definitions;

	free_views(&definitions->retired);
	if (types_forget(registry->types)) // which are what views point to
		free_views(&definitions->views);
	definitions_end(registry);
}

// ---- built-in ones

static void fill_in(struct registry *registry, const struct builtin *builtin, struct definition *definition)
{
	*definition = builtin->definition;
	definition->type = type_find(registry, str_c(builtin->group), str_c(builtin->plural),
		definition->scope == SCOPE_NAMESPACED);
	if (definition->type == NULL)
		return;
	definition->builtin = true;
	definition->kind = definition->type->kind;
	definition->singular = definition->type->singular;
	definition->owner = STR(TENANT_SYSTEM);
	if (definition->tenant_verbs == 0)
		definition->tenant_verbs = definition->verbs;
}

static struct definition *builtin_list(struct registry *registry)
{
	struct definitions *definitions = registry->definitions;

	if (definitions->builtin != NULL)
		return definitions->builtin;
	definitions->builtin = calloc(n_builtins, sizeof(*definitions->builtin));
	for (size_t i = 0; definitions->builtin != NULL && i < n_builtins; i++)
		fill_in(registry, &builtins[i], &definitions->builtin[i]);
	return definitions->builtin;
}

static const struct definition *find_builtin(struct registry *registry, struct str group, struct str plural)
{
	const struct definition *list = builtin_list(registry);

	for (size_t i = 0; list != NULL && i < n_builtins; i++) {
		if (list[i].type != NULL && str_eq(list[i].type->plural, plural) && str_eq(list[i].type->group, group))
			return &list[i];
	}
	return NULL;
}

static bool is_system(struct str tenant)
{
	return str_eq_c(tenant, TENANT_SYSTEM);
}

// ---- views

static int by_type(const void *a, const void *b)
{
	const struct type *x = ((const struct definition *)a)->type, *y = ((const struct definition *)b)->type;
	int order = str_cmp(x->group, y->group);

	return order != 0 ? order : str_cmp(x->plural, y->plural);
}

static struct db_call definitions_call(struct registry *registry, struct str tenant)
{
	const struct sql_definition_list in = { .tenant = tenant, .type_id = type_definitions(registry)->id };

	return sql_definition_list_call(registry->pool, &in);
}

// Texts alone: a tenant may have many that nobody asks for.
static void fill_view(struct view *view, const struct db_rows *rows)
{
	view->list = POOL_ARRAY(view->pool, struct stored_definition, rows->n);
	view->n = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_definition_list_row *row = sql_definition_list_row(rows, i);
		struct stored_definition *stored = &view->list[i];
		stored->name = str_dup(view->pool, row->name);
		uuid_from_bytes(row->uid, &stored->uid);
		stored->meta = str_dup(view->pool, row->meta);
		stored->body = str_dup(view->pool, row->body);
	}
}

// definitions: those of the tenant, read after row.
static struct view *make_view(struct str tenant, const struct sql_definition_tenant_row *row, const struct db_rows *definitions,
	struct pool *pool, struct pool *trees)
{
	struct view *made = POOL_NEW(pool, struct view);

	*made = (struct view){
		.pool = pool,
		.trees = trees,
		.tenant = str_dup(pool, tenant),
		.types = row->types_is_null ? 0 : row->types,
		.checked = row->revision,
		.policy = type_policy(row->type_policy),
		.metadata = str_dup(pool, row->annotations),
	};
	uuid_from_bytes(row->uid, &made->uid);
	const struct stored_place place = { .table = "tenants", .column = "metadata or object", .uid = made->uid };
	made->annotations = stored_document(pool, place, made->metadata);
	fill_view(made, definitions);
	return made;
}

static struct view **find_view(struct registry *registry, struct str tenant)
{
	struct view **at = &registry->definitions->views;

	while (*at != NULL && !str_eq((*at)->tenant, tenant))
		at = &(*at)->next;
	return at;
}

static void to_front(struct registry *registry, struct view **at)
{
	struct view *view = *at;

	*at = view->next;
	view->next = registry->definitions->views;
	registry->definitions->views = view;
}

// Others in this request may hold pointers into it.
static void retire(struct registry *registry, struct view **at)
{
	struct view *view = *at;

	*at = view->next;
	view->next = registry->definitions->retired;
	registry->definitions->retired = view;
}

static bool still_true(const struct view *view, const struct sql_definition_tenant_row *row)
{
	struct uuid uid;

	return uuid_from_bytes(row->uid, &uid) && uuid_eq(uid, view->uid) && !row->types_is_null &&
	       row->types == view->types && view->policy == type_policy(row->type_policy) &&
	       str_eq(view->metadata, row->annotations);
}

struct holding {
	struct str tenant;
	const struct sql_definition_tenant_row *row;
	const struct db_rows *definitions;
	struct pool *pool, *trees;
	struct view *view;
};

static void make_held_view(void *arg)
{
	struct holding *holding = arg;

	holding->view = make_view(holding->tenant, holding->row, holding->definitions, holding->pool, holding->trees);
}

static enum outcome hold_view(struct registry *registry, struct str tenant,
	const struct sql_definition_tenant_row *row, const struct db_rows *definitions, struct view **view)
{
	struct holding holding = { tenant, row, definitions, pool_new(), pool_new(), NULL };
	enum budget_end end = BUDGET_KEPT;

	if (holding.pool == NULL || holding.trees == NULL) {
		pool_free(&holding.pool);
		pool_free(&holding.trees);
		return OUTCOME_UNAVAILABLE;
	}
	if (budget_is_guarded())
		end = budget_guard(make_held_view, &holding);
	else
		make_held_view(&holding);
	if (end != BUDGET_KEPT) { // the pools are nobody's yet
		pool_free(&holding.pool);
		pool_free(&holding.trees);
		budget_raise(end);
	}
	*view = holding.view;
	(*view)->next = registry->definitions->views;
	registry->definitions->views = *view;
	registry->definitions->grown = true;
	return OUTCOME_OK;
}

// The tenant is not there.
static enum outcome note_absent(struct registry *registry, struct str tenant, struct view **at, uint64_t revision)
{
	if (*at != NULL)
		retire(registry, at);
	if (is_system(tenant) && !coherence_is_raised(registry, COHERENCE_TYPES)) {
		coherence_note(registry, COHERENCE_TYPES, revision);
		registry->definitions->no_system = revision;
	}
	return OUTCOME_NOT_FOUND;
}

// Asks the database whether what is held is still true, or for what there is. What is not held comes in one round trip,
// the revision first: definitions that are newer than it are asked for again, older ones it could not tell.
static enum outcome refresh_view(struct registry *registry, struct str tenant, const struct type *like, struct view **at,
	struct view **view)
{
	const struct sql_definition_tenant in = { .tenant = tenant };
	struct db_call calls[3] = {
		sql_definition_tenant_call(registry->pool, &in),
		definitions_call(registry, tenant),
	};
	bool held = *at != NULL, once = coherence_is_raised(registry, COHERENCE_TYPES);
	size_t n = held && !once ? 1 : 2;

	if (n == 2 && like != NULL)
		calls[n++] = types_call(registry, like);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0)
		return OUTCOME_INTERNAL; // the row of the revision belongs to the schema
	if (n == COUNT_OF(calls))
		types_found(registry, &calls[2].rows);
	const struct sql_definition_tenant_row *row = sql_definition_tenant_row(&calls[0].rows, 0);
	if (row->id_is_null)
		return note_absent(registry, tenant, at, row->revision);
	// What the running transaction made may be rolled back: it is read for once.
	if (once) {
		*view = make_view(tenant, row, &calls[1].rows, registry->pool, registry->pool);
		return OUTCOME_OK;
	}
	coherence_note(registry, COHERENCE_TYPES, row->revision);
	if (held && still_true(*at, row)) {
		(*at)->checked = row->revision;
		*view = *at;
		to_front(registry, at);
		return OUTCOME_OK;
	}
	if (held) {
		retire(registry, at);
		result = db_run_batch(registry->db, registry->pool, &calls[1], 1);
	}
	return result == DB_OK ? hold_view(registry, tenant, row, &calls[1].rows, view) : registry_db_failed(result);
}

// like: the type that is about to be looked for, so that it comes along; NULL: none.
static enum outcome see(struct registry *registry, struct str tenant, const struct type *like, struct view **view)
{
	struct view **at = find_view(registry, tenant);
	enum outcome outcome = coherence_ask(registry);

	*view = NULL;
	if (outcome != OUTCOME_OK)
		return outcome;
	uint64_t newest = coherence_newest(registry, COHERENCE_TYPES);
	if (*at == NULL || newest == 0 || (*at)->checked != newest || coherence_is_raised(registry, COHERENCE_TYPES))
		return refresh_view(registry, tenant, like, at, view);
	*view = *at;
	to_front(registry, at);
	return OUTCOME_OK;
}

enum outcome definitions_see(struct registry *registry, struct str tenant, struct view **view)
{
	return see(registry, tenant, NULL, view);
}

void definitions_doubt(struct registry *registry)
{
	for (struct view *view = registry->definitions->views; view != NULL; view = view->next)
		view->checked = 0;
	registry->definitions->no_system = 0;
}

// Whoever defines a type there makes that tenant, too, and raises the revision.
static bool system_is_absent(struct registry *registry)
{
	uint64_t newest = coherence_newest(registry, COHERENCE_TYPES);

	return newest != 0 && registry->definitions->no_system == newest && !coherence_is_raised(registry, COHERENCE_TYPES);
}

// The tenant's, and the system's; that one may not be there yet.
static enum outcome see_both(struct registry *registry, struct str tenant, const struct type *like, struct view **own,
	struct view **common)
{
	enum outcome outcome = see(registry, tenant, like, own);

	*common = NULL;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (is_system(tenant)) {
		*common = *own;
		return OUTCOME_OK;
	}
	if (system_is_absent(registry))
		return OUTCOME_OK;
	outcome = definitions_see(registry, STR(TENANT_SYSTEM), common);
	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_OK : outcome;
}

static int by_name(const void *name, const void *stored)
{
	return str_cmp(*(const struct str *)name, ((const struct stored_definition *)stored)->name);
}

struct reading {
	struct registry *registry;
	struct view *view;
	struct stored_definition *stored;
	const struct resource *resource;
};

static void read_definition(void *arg)
{
	const struct reading *reading = arg;
	struct stored_definition *stored = reading->stored;

	stored->answers = definition_read(reading->registry, reading->view->trees, reading->resource, &stored->definition);
	stored->read = stored->definition.type != NULL; // else the database may have gone away
}

// NULL: it answers for nobody.
static const struct definition *read_stored(struct registry *registry, struct view *view, struct stored_definition *stored)
{
	const struct resource resource = {
		.tenant = view->tenant, .uid = stored->uid, .meta = stored->meta, .body = stored->body
	};

	if (!stored->read) {
		struct reading reading = { registry, view, stored, &resource };
		struct pool_mark mark = pool_mark(view->trees);
		registry->definitions->grown = true;
		enum budget_end end = BUDGET_KEPT;
		if (budget_is_guarded())
			end = budget_guard(read_definition, &reading);
		else
			read_definition(&reading);
		if (end != BUDGET_KEPT) { // the view outlives the request that is left
			pool_rewind(view->trees, mark);
			stored->definition = (struct definition){ 0 };
			budget_raise(end);
		}
	}
	return stored->answers ? &stored->definition : NULL;
}

static const struct definition *in_view(struct registry *registry, struct view *view, struct str name)
{
	struct stored_definition *stored = NULL;

	if (view != NULL && view->n > 0)
		stored = bsearch(&name, view->list, view->n, sizeof(*view->list), by_name);
	return stored != NULL ? read_stored(registry, view, stored) : NULL;
}

// ---- the decision

static const struct definition *decide(struct definition_reason *reason, const struct definition *definition,
	const char *rule, struct str detail)
{
	reason->rule = rule;
	reason->detail = detail;
	return definition;
}

// GetMatchingCRD: own and system are the matching ones there are, in_range and policy the tenant's.
static const struct definition *match(struct definition_reason *reason)
{
	const struct definition *own = reason->own, *shared = reason->in_range ? reason->shared : NULL;

	if (reason->shared != NULL && reason->shared->forced)
		return decide(reason, reason->shared, "forced", STR("the system's definition is forced on every tenant"));
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
	if (reason->shared != NULL)
		return decide(reason, NULL, "none", STR("the tenant has none of its own, and is not in the range of the system's"));
	return decide(reason, NULL, "none", STR("nobody that the tenant could have it from defines it"));
}

const struct definition *definitions_resolve(struct registry *registry, struct view *own, struct view *common,
	struct str group, struct str plural, struct definition_reason *reason)
{
	struct str name = str_printf(registry->pool, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group));

	*reason = (struct definition_reason){
		.policy = own->policy, .own = in_view(registry, own, name), .shared = in_view(registry, common, name)
	};
	if (own == common)
		reason->shared = NULL; // what it has is its own
	reason->in_range = reason->shared != NULL && definition_in_range(reason->shared->range, own->annotations);
	return match(reason);
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
	*reason = (struct definition_reason){ .rule = "built-in", .detail = STR("it comes with the service") };
	*definition = find_builtin(registry, group, plural);
	if (*definition != NULL && (!(*definition)->system_only || is_system(tenant)))
		return OUTCOME_OK;
	if (*definition != NULL) {
		*definition = decide(reason, NULL, "system-only", STR("it is for the system's own space"));
		return fail_no_type(registry, group, plural);
	}
	const struct type like = { .group = group, .plural = plural };
	enum outcome outcome = see_both(registry, tenant, &like, &own, &common);
	if (outcome == OUTCOME_NOT_FOUND)
		return fail_no_type(registry, group, plural);
	if (outcome != OUTCOME_OK)
		return outcome;
	*definition = definitions_resolve(registry, own, common, group, plural, reason);
	return *definition != NULL ? OUTCOME_OK : fail_no_type(registry, group, plural);
}

// ---- moves

bool definition_varies(const struct type *type)
{
	if (!type->builtin)
		return true;
	for (size_t i = 0; i < n_builtins; i++) {
		if (str_eq_c(type->plural, builtins[i].plural) && str_eq_c(type->group, builtins[i].group))
			return builtins[i].definition.system_only;
	}
	return false;
}

// What answers in dest when that definition of the source's own has come along.
static const struct definition *with_own(struct registry *registry, struct view *own, struct view *common,
	const struct definition *coming, const struct type *type)
{
	struct definition_reason reason;

	(void)definitions_resolve(registry, own, common, type->group, type->plural, &reason);
	if (reason.own == NULL)
		reason.own = coming;
	return match(&reason);
}

enum outcome definition_after_move(struct registry *registry, struct str source, struct str dest, bool with_definitions,
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
	if (outcome == OUTCOME_OK && with_definitions && reason.own != NULL) {
		outcome = see_both(registry, dest, NULL, &own, &common);
		if (outcome == OUTCOME_OK)
			there = with_own(registry, own, is_system(source) ? NULL : common, reason.own, type);
	}
	*registry->problem = (struct problem){ .n_members = 0 };
	*fate = DEFINITION_SAME;
	if (there == NULL)
		*fate = DEFINITION_NONE;
	else if (there->type->id != type->id ||
		 (here != NULL && here->type->id == type->id && !uuid_eq(here->uid, there->uid)))
		*fate = DEFINITION_OTHER;
	return outcome;
}

// ---- lists

static void add_builtins(struct registry *registry, struct str tenant, const struct definition **list, size_t *n)
{
	const struct definition *all = builtin_list(registry);

	for (size_t i = 0; all != NULL && i < n_builtins; i++) {
		if (all[i].type != NULL && (!all[i].system_only || is_system(tenant)))
			list[(*n)++] = &all[i];
	}
}

static void add_view(struct registry *registry, struct view *own, struct view *common, struct view *from,
	const struct definition **list, size_t *n)
{
	struct definition_reason reason;

	for (size_t i = 0; from != NULL && i < from->n; i++) {
		const struct definition *definition = read_stored(registry, from, &from->list[i]);
		if (definition == NULL)
			continue;
		const struct type *type = definition->type;
		if (definitions_resolve(registry, own, common, type->group, type->plural, &reason) == definition)
			list[(*n)++] = definition;
	}
}

static int by_pointed_type(const void *a, const void *b)
{
	return by_type(*(const struct definition *const *)a, *(const struct definition *const *)b);
}

enum outcome definition_list(struct registry *registry, struct str tenant, const struct definition *const **list, size_t *n)
{
	struct view *own = NULL, *common = NULL;
	enum outcome outcome = see_both(registry, tenant, NULL, &own, &common);

	*n = 0;
	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	size_t most = n_builtins + (own != NULL ? own->n : 0) + (common != NULL ? common->n : 0);
	const struct definition **all = POOL_ARRAY(registry->pool, const struct definition *, most);
	add_builtins(registry, tenant, all, n);
	if (own != NULL) {
		add_view(registry, own, common, own, all, n);
		add_view(registry, own, common, common != own ? common : NULL, all, n);
	}
	qsort(all, *n, sizeof(*all), by_pointed_type); // there are always some
	*list = all;
	return OUTCOME_OK;
}

// ---- by one name

// A built-in one of that plural; of several the one that is not system_only, the core group's before others.
static const struct definition *builtin_named(struct registry *registry, struct str tenant, struct str plural)
{
	const struct definition *all = builtin_list(registry), *best = NULL;

	for (size_t i = 0; all != NULL && i < n_builtins; i++) {
		if (all[i].type == NULL || !all[i].stored || !str_eq(all[i].type->plural, plural) ||
			(all[i].system_only && !is_system(tenant)))
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

// ---- changes

enum outcome definitions_changed(struct registry *registry, uint64_t tenant_id)
{
	const struct sql_definition_raise_types in = { .tenant_id = tenant_id };
	struct db_call calls[] = {
		sql_definition_raise_types_call(registry->pool, &in),
		coherence_raise_call(COHERENCE_TYPES),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	coherence_raised(registry, COHERENCE_TYPES, &calls[1]);
	return OUTCOME_OK;
}
