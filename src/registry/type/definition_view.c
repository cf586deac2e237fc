// SPDX-License-Identifier: Apache-2.0
// A worker's cache of definitions: the built-in ones, and a view for each tenant that it was recently asked about. A view has
// all of the tenant's CustomResourceDefinitions as texts, which are parsed when they are asked for, and the tenant's policy and
// annotations.
#include "base/base.h"

#include "base/budget.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/siphash.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/type/definition_internal.h"
#include "registry/type/internal.h"
#include "registry/type/policy.h"
#include "repr/json/doc.h"
#include "sql/definitions.h"
#include "sql/types.h"

enum {
	VIEWS_MAX = 512,
	VIEWS_MAX_BYTES = 4 << 20, // texts and trees of all views, but for the texts of the system's
	VIEW_BUCKETS = 256,
	VIEW_POOL = 4 * 1024, // what each of a view's two pools begins with: most views have one definition of some kB
};

struct definitions {
	struct definition *builtin; // the built-in definitions; NULL: not filled in yet
	struct view *newest, *oldest; // the cached views in the order of their last use
	struct view *by_tenant[VIEW_BUCKETS]; // the same ones by their tenants' names
	size_t n, bytes; // of the cached views
	struct view *retired; // stale views; pointers into them may be in use until the request ends
	uint64_t no_system; // the revision as of which there is no system tenant, and so none of its definitions; 0: not known
};

struct definitions *definitions_new(void)
{
	return calloc(1, sizeof(struct definitions));
}

// ---- the cached views: a table by names, and a list in the order of use

static struct view **bucket_of(struct definitions *definitions, struct str tenant)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0, 0 }; // names that collide make a chain longer, at most to VIEWS_MAX

	return &definitions->by_tenant[siphash(fixed, tenant) % VIEW_BUCKETS];
}

static void link_newest(struct definitions *definitions, struct view *view)
{
	view->newer = NULL;
	view->older = definitions->newest;
	*(view->older != NULL ? &view->older->newer : &definitions->oldest) = view;
	definitions->newest = view;
}

static void unlink_view(struct definitions *definitions, struct view *view)
{
	*(view->newer != NULL ? &view->newer->older : &definitions->newest) = view->older;
	*(view->older != NULL ? &view->older->newer : &definitions->oldest) = view->newer;
}

// Counts a cached view's bytes again, after its pools have grown or shrunk. The texts of the system's definitions are left out:
// the look-up of each tenant's types needs them, so they must not push out the tenants' views, nor be read again for each
// request. crd/names.c bounds them.
static void count_again(struct definitions *definitions, struct view *view)
{
	assert(definitions->bytes >= view->counted);
	definitions->bytes -= view->counted;
	view->counted = pool_held(view->trees) + (definition_is_of_system(view->tenant) ? 0 : pool_held(view->pool));
	definitions->bytes += view->counted;
}

static void put_in(struct definitions *definitions, struct view *view)
{
	struct view **bucket = bucket_of(definitions, view->tenant);

	view->next_in_bucket = *bucket;
	*bucket = view;
	link_newest(definitions, view);
	definitions->n++;
	count_again(definitions, view);
}

// Takes a view out of the cache, without freeing it.
static void take_out(struct definitions *definitions, struct view *view)
{
	struct view **at = bucket_of(definitions, view->tenant);

	assert(view->counted > 0 && definitions->n > 0 && definitions->bytes >= view->counted);
	while (*at != view)
		at = &(*at)->next_in_bucket;
	*at = view->next_in_bucket;
	unlink_view(definitions, view);
	definitions->n--;
	definitions->bytes -= view->counted;
	view->counted = 0;
}

static void free_view(struct view *view)
{
	struct pool *pool = view->pool, *trees = view->trees;

	pool_free(&trees);
	pool_free(&pool); // has the view itself
}

static void free_cached(struct definitions *definitions)
{
	while (definitions->oldest != NULL) {
		struct view *view = definitions->oldest;
		take_out(definitions, view);
		free_view(view);
	}
}

static void free_retired(struct definitions *definitions)
{
	while (definitions->retired != NULL) {
		struct view *view = definitions->retired;
		definitions->retired = view->older;
		free_view(view);
	}
}

// Takes a stale view out of the cache. It is freed after the request, since pointers into it may be in use.
static void retire(struct registry *registry, struct view *view)
{
	struct definitions *definitions = registry->store->definitions;

	take_out(definitions, view);
	view->older = definitions->retired;
	definitions->retired = view;
}

static struct view *find_view(struct registry *registry, struct str tenant)
{
	struct view *view = *bucket_of(registry->store->definitions, tenant);

	while (view != NULL && !str_eq(view->tenant, tenant))
		view = view->next_in_bucket;
	return view;
}

static void to_front(struct registry *registry, struct view *view)
{
	struct definitions *definitions = registry->store->definitions;

	if (definitions->newest == view)
		return;
	unlink_view(definitions, view);
	link_newest(definitions, view);
}

void definitions_free(struct definitions **definitions)
{
	if (*definitions == NULL)
		return;
	free_cached(*definitions);
	free_retired(*definitions);
	free((*definitions)->builtin);
	free(*definitions);
	*definitions = NULL;
}

// Drops the parsed definitions of a view, and keeps their texts.
static void forget_trees(struct view *view)
{
	for (size_t i = 0; i < view->n; i++) {
		view->list[i].read = view->list[i].answers = false;
		view->list[i].definition = (struct definition){ 0 };
		view->list[i].details = NULL;
	}
	pool_clear(view->trees);
}

// Keeps the views that were used most recently, as far as they fit. The newest one may lose its parsed definitions, so that its
// texts fit.
void definitions_end(struct registry_store *store)
{
	struct definitions *definitions = store->definitions;

	if (definitions->newest != NULL && definitions->newest->counted > VIEWS_MAX_BYTES) {
		forget_trees(definitions->newest);
		count_again(definitions, definitions->newest);
	}
	while (definitions->n > VIEWS_MAX || definitions->bytes > VIEWS_MAX_BYTES) {
		struct view *view = definitions->oldest;
		assert(view != NULL);
		take_out(definitions, view);
		free_view(view);
	}
}

void definitions_begin(struct registry *registry)
{
	struct definitions *definitions = registry->store->definitions;

	free_retired(definitions);
	if (types_forget(registry->store->types)) // views point to types
		free_cached(definitions);
	definitions_end(registry->store);
}

// ---- built-in ones

// Completes a definition of the table by its row of table `types`.
static void fill_in(struct registry *registry, const struct builtin *builtin, struct definition *definition)
{
	*definition = builtin->definition;
	definition->type = type_find(registry, str_c(builtin->group), str_c(builtin->plural),
		definition->scope == SCOPE_NAMESPACED);
	if (definition->type == NULL) {
		log_warning("the database has no built-in type %s.%s, so it is not served: `tenure-manage db upgrade` adds it, and "
			"workers serve it once they are started again", builtin->plural, builtin->group);
		return;
	}
	definition->builtin = true;
	definition->kind = definition->type->kind;
	definition->short_names = builtin->short_names;
	definition->n_short_names = builtin->n_short_names;
	definition->singular = definition->type->singular;
	definition->owner = STR(TENANT_SYSTEM);
	if (definition->tenant_verbs == 0 && !definition->system_only)
		definition->tenant_verbs = definition->verbs;
}

const struct definition *definition_list_builtin(struct registry *registry)
{
	struct definitions *definitions = registry->store->definitions;

	if (definitions->builtin != NULL)
		return definitions->builtin;
	definitions->builtin = calloc(n_builtins, sizeof(*definitions->builtin));
	for (size_t i = 0; definitions->builtin != NULL && i < n_builtins; i++)
		fill_in(registry, &builtins[i], &definitions->builtin[i]);
	return definitions->builtin;
}

const struct definition *definition_find_builtin(struct registry *registry, struct str group, struct str plural)
{
	const struct definition *list = definition_list_builtin(registry);

	for (size_t i = 0; list != NULL && i < n_builtins; i++) {
		if (list[i].type != NULL && str_eq(list[i].type->plural, plural) && str_eq(list[i].type->group, group))
			return &list[i];
	}
	return NULL;
}

// ---- views

// only: the name of one definition; p NULL: all.
static struct db_call definitions_call(struct registry *registry, struct str tenant, struct str only)
{
	const struct sql_definition_list in = { .tenant = tenant, .type_id = type_definitions(registry)->id, .name = only };

	return sql_definition_list_call(registry->pool, only.p != NULL ? SQL_DEFINITION_WHICH_ONE : SQL_DEFINITION_WHICH_ALL, &in);
}

// The definitions of a tenant as the database has them.
struct texts {
	const struct sql_definition_list_row *rows;
	size_t n;
};

static struct texts texts_of(const struct db_rows *rows)
{
	return (struct texts){ rows->n > 0 ? sql_definition_list_row(rows, 0) : NULL, rows->n };
}

// Copies texts only: a tenant may have many definitions that nobody asks for.
static void fill_view(struct view *view, const struct texts *texts)
{
	view->list = POOL_ARRAY(view->pool, struct stored_definition, texts->n);
	view->n = texts->n;
	for (size_t i = 0; i < texts->n; i++) {
		const struct sql_definition_list_row *row = &texts->rows[i];
		struct stored_definition *stored = &view->list[i];
		*stored = (struct stored_definition){ .view = view };
		stored->name = str_dup(view->pool, row->name);
		uuid_from_bytes(row->uid, &stored->uid);
		stored->meta = str_dup(view->pool, row->meta);
		stored->body = str_dup(view->pool, row->body);
	}
}

// definitions: the tenant's definitions, read with row or after it; only: those of that name.
static struct view *make_view(struct str tenant, const struct sql_definition_owner *row, const struct texts *definitions,
	struct str only, struct pool *pool, struct pool *trees)
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
		.only = only.p != NULL ? str_dup(pool, only) : STR_NONE,
	};
	uuid_from_bytes(row->uid, &made->uid);
	const struct stored_place place = { .table = "tenants", .column = "metadata or object", .uid = made->uid };
	made->annotations = stored_document(pool, place, made->metadata);
	fill_view(made, definitions);
	return made;
}

// Do the tenant's count of changes, its policy and its annotations show that the view is still right?
static bool still_true(const struct view *view, const struct sql_definition_owner *row)
{
	struct uuid uid;

	return uuid_from_bytes(row->uid, &uid) && uuid_eq(uid, view->uid) && !row->types_is_null &&
	       row->types == view->types && view->policy == type_policy(row->type_policy) &&
	       str_eq(view->metadata, row->annotations);
}

// The arguments of make_cached_view(), which runs inside a budget guard.
struct new_view {
	struct str tenant;
	const struct sql_definition_owner *row;
	const struct texts *definitions;
	struct str only;
	struct pool *pool, *trees;
	struct view *view;
};

static void make_cached_view(void *arg)
{
	struct new_view *new = arg;

	new->view = make_view(new->tenant, new->row, new->definitions, new->only, new->pool, new->trees);
}

// Makes a view that outlives the request. If the request's budget ends meanwhile, the view's pools are freed first, because no
// pool cleanup would do it.
static enum outcome cache_view(struct registry *registry, struct str tenant,
	const struct sql_definition_owner *row, const struct texts *definitions, struct str only, struct view **view)
{
	struct new_view new = { tenant, row, definitions, only, pool_new_sized(VIEW_POOL), pool_new_sized(VIEW_POOL), NULL };
	enum budget_end end = BUDGET_KEPT;

	if (new.pool == NULL || new.trees == NULL) {
		pool_free(&new.pool);
		pool_free(&new.trees);
		return OUTCOME_UNAVAILABLE;
	}
	if (budget_is_guarded())
		end = budget_guard(make_cached_view, &new);
	else
		make_cached_view(&new);
	if (end != BUDGET_KEPT) { // no list has the pools yet
		pool_free(&new.pool);
		pool_free(&new.trees);
		budget_leave(end);
	}
	*view = new.view;
	put_in(registry->store->definitions, new.view);
	return OUTCOME_OK;
}

// Drops the view of a tenant that does not exist; cached may be NULL. That there is no system tenant is remembered, since
// otherwise each look-up for another tenant would ask again.
static enum outcome note_absent(struct registry *registry, struct str tenant, struct view *cached, uint64_t revision)
{
	if (cached != NULL)
		retire(registry, cached);
	if (definition_is_of_system(tenant) && !coherence_is_raised(registry, COHERENCE_TYPES)) {
		coherence_note(registry, COHERENCE_TYPES, revision);
		registry->store->definitions->no_system = revision;
	}
	return OUTCOME_NOT_FOUND;
}

// Caches the type that the statement definition_first has found.
static void note_identity(struct registry *registry, const struct type *like, bool namespaced,
	const struct sql_definition_identity *found)
{
	const struct sql_type type = { .id = found->id, .group_name = like->group, .version = found->version, .kind = found->kind,
		.plural = like->plural, .singular = found->singular, .namespaced = namespaced, .builtin = found->builtin };

	if (!found->id_is_null)
		types_found(registry, &type);
}

// What the request is about to read, if that is an object of this type and tenant, and was not read before; else NULL.
static struct resource_expected *expected_of(struct registry *registry, struct str tenant, const struct type *like)
{
	struct resource_expected *expected = registry->expected;

	if (expected == NULL || expected->found != NULL || !str_eq(expected->tenant, tenant) || !str_eq(expected->group, like->group) ||
		!str_eq(expected->plural, like->plural))
		return NULL;
	return expected;
}

// Reads a view with one definition, whose type is `like`, of a tenant that is not cached; and in the same statement the object
// that the request is about to read, if it has told of one. Otherwise it is not known whether the type is in namespaces: the
// other identity is asked for in the same round trip, unless the worker knows one of them.
static enum outcome read_first(struct registry *registry, struct str tenant, const struct type *like, struct str only,
	struct view **view)
{
	static const struct resource_expected none = { .space = STR_INIT(""), .name = STR_INIT("") };
	struct resource_expected *expected = expected_of(registry, tenant, like);
	const struct resource_expected *object = expected != NULL ? expected : &none;
	bool namespaced = expected == NULL || expected->space.n > 0;
	const struct sql_definition_first in = { .tenant = tenant, .type_id = type_definitions(registry)->id, .name = only,
		.group_name = like->group, .plural = like->plural, .namespaced = namespaced, .namespace = object->space, .object = object->name };
	const struct sql_type_by_name whole = { .group_name = like->group, .plural = like->plural, .namespaced = false };
	struct db_call calls[2] = { sql_definition_first_call(registry->pool, &in) };
	const struct db_rows *rows = &calls[0].rows;
	size_t n = 1;

	if (expected == NULL && !types_know(registry->store->types, like->group, like->plural))
		calls[n++] = sql_type_by_name_call(registry->pool, &whole);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows->n == 0)
		return OUTCOME_INTERNAL; // the schema inserts the row with the revision
	const struct sql_definition_first_row *row = sql_definition_first_row(rows, 0);
	note_identity(registry, like, namespaced, &row->identity);
	if (n > 1 && calls[1].rows.n > 0)
		types_found(registry, &sql_type_by_name_row(&calls[1].rows, 0)->t);
	if (row->owner.id_is_null)
		return note_absent(registry, tenant, NULL, row->owner.revision);
	if (expected != NULL) {
		expected->found = &row->r;
		expected->tenant_id = row->owner.id;
		expected->type_id = row->identity.id_is_null ? 0 : row->identity.id;
	}
	const struct sql_definition_list_row text = { .name = row->name, .uid = row->definition_uid, .meta = row->definition_meta,
		.body = row->definition_body };
	const struct texts texts = { &text, row->name.p != NULL ? 1 : 0 };

	coherence_note(registry, COHERENCE_TYPES, row->owner.revision);
	return cache_view(registry, tenant, &row->owner, &texts, only, view);
}

// refresh_view(). pool: for the rows.
static enum outcome refresh_by_rows(struct registry *registry, struct pool *pool, struct str tenant, struct str only,
	struct view *cached, struct view **view)
{
	const struct sql_definition_tenant in = { .tenant = tenant };
	// once: the running transaction changed definitions and may be rolled back, so the view is for the request only, not
	// cached.
	bool once = coherence_is_raised(registry, COHERENCE_TYPES);

	if (cached != NULL || once)
		only = once ? STR_NONE : cached->only;
	struct db_call calls[2] = {
		sql_definition_tenant_call(registry->pool, &in),
		definitions_call(registry, tenant, only),
	};
	size_t n = cached != NULL && !once ? 1 : 2;
	enum db_result result = db_run_batch(registry->db, pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0)
		return OUTCOME_INTERNAL; // the schema inserts the row with the revision
	const struct sql_definition_owner *row = &sql_definition_tenant_row(&calls[0].rows, 0)->owner;
	if (row->id_is_null)
		return note_absent(registry, tenant, cached, row->revision);
	struct texts texts = texts_of(&calls[1].rows);
	if (once) {
		*view = make_view(tenant, row, &texts, only, registry->pool, registry->pool);
		return OUTCOME_OK;
	}
	coherence_note(registry, COHERENCE_TYPES, row->revision);
	if (cached != NULL && still_true(cached, row)) {
		cached->checked = row->revision;
		to_front(registry, cached);
		*view = cached;
		return OUTCOME_OK;
	}
	if (cached != NULL) {
		retire(registry, cached);
		result = db_run_batch(registry->db, pool, &calls[1], 1);
		texts = texts_of(&calls[1].rows);
	}
	return result == DB_OK ? cache_view(registry, tenant, row, &texts, only, view) : registry_db_failed(result);
}

// Asks the database whether the cached view is still right, or reads a view that is not cached in one round trip. The revision is
// read first: if a definition is newer than the revision, the next look-up reads it again; the other order could miss one for
// good. cached: the view; NULL: it is not cached. only: the name of the definition that a view which is not cached needs; p NULL:
// all. The rows, which the view has copies of, are freed at once: the definitions of a tenant may be megabytes, and those of the
// system come next.
static enum outcome refresh_view(struct registry *registry, struct str tenant, struct str only, struct view *cached,
	struct view **view)
{
	struct pool *rows = pool_scratch(registry->pool, SIZE_MAX);
	enum outcome outcome = refresh_by_rows(registry, rows, tenant, only, cached, view);

	pool_scratch_end(registry->pool, rows);
	return outcome;
}

// definitions_see_both() for one tenant. Of a tenant that is not cached, only the definition of the type `like` is read, since
// most tenants are asked about one type only. As soon as a second one is asked for, all are read.
static enum outcome see(struct registry *registry, struct str tenant, const struct type *like, struct view **view)
{
	struct view *cached = find_view(registry, tenant);
	struct str only = STR_NONE;
	enum outcome outcome = coherence_ask(registry);

	*view = NULL;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (like != NULL && !definition_is_of_system(tenant))
		only = definition_stored_name(registry->pool, like->group, like->plural);
	if (cached != NULL && cached->only.p != NULL && !(only.p != NULL && str_eq(cached->only, only))) {
		retire(registry, cached);
		cached = NULL;
		only = STR_NONE;
	}
	uint64_t newest = coherence_newest(registry, COHERENCE_TYPES);
	if (cached == NULL && only.p != NULL && !coherence_is_raised(registry, COHERENCE_TYPES))
		return read_first(registry, tenant, like, only, view);
	if (cached == NULL || newest == 0 || cached->checked != newest || coherence_is_raised(registry, COHERENCE_TYPES))
		return refresh_view(registry, tenant, only, cached, view);
	to_front(registry, cached);
	*view = cached;
	return OUTCOME_OK;
}

enum outcome definitions_see(struct registry *registry, struct str tenant, struct view **view)
{
	return see(registry, tenant, NULL, view);
}

void definitions_invalidate(struct registry *registry)
{
	for (struct view *view = registry->store->definitions->newest; view != NULL; view = view->older)
		view->checked = 0;
	registry->store->definitions->no_system = 0;
}

void definitions_forget(struct registry *registry)
{
	while (registry->store->definitions->newest != NULL)
		retire(registry, registry->store->definitions->newest);
	registry->store->definitions->no_system = 0;
}

// Is it known that there is no system tenant? Whoever defines a type in the system's space creates that tenant, and raises the
// revision.
static bool system_is_absent(struct registry *registry)
{
	uint64_t newest = coherence_newest(registry, COHERENCE_TYPES);

	return newest != 0 && registry->store->definitions->no_system == newest && !coherence_is_raised(registry,
		COHERENCE_TYPES);
}

// The system's view stays NULL if there is no system tenant.
enum outcome definitions_see_both(struct registry *registry, struct str tenant, const struct type *like, struct view **own,
	struct view **common)
{
	enum outcome outcome = see(registry, tenant, like, own);

	*common = NULL;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (definition_is_of_system(tenant)) {
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

// The arguments of read_definition() and read_details(), which run inside a budget guard.
struct reading {
	struct registry *registry;
	struct stored_definition *stored;
	struct resource resource;
};

static void read_definition(void *arg)
{
	const struct reading *reading = arg;
	struct stored_definition *stored = reading->stored;
	struct definition definition;

	bool answers = definition_read(reading->registry, stored->view->trees, &reading->resource, &definition);
	definition.source = stored;
	stored->definition = definition;
	stored->answers = answers;
	stored->read = definition.type != NULL; // else the type could not be read, and the next call tries again
}

static void read_details(void *arg)
{
	const struct reading *reading = arg;
	struct stored_definition *stored = reading->stored;

	stored->details = definition_read_details(stored->view->trees, &reading->resource, &stored->definition);
}

// Runs read(), which parses something of the definition's text into the view's trees. They outlive the request, so if the
// request's budget ends meanwhile, what read() has allocated is freed.
static void read_text(struct registry *registry, struct stored_definition *stored, void (*read)(void *arg))
{
	struct pool *trees = stored->view->trees;
	struct reading reading = { registry, stored, {
		.tenant = stored->view->tenant, .uid = stored->uid, .meta = stored->meta, .body = stored->body
	} };
	struct pool_mark mark = pool_mark(trees);
	enum budget_end end = BUDGET_KEPT;

	if (budget_is_guarded())
		end = budget_guard(read, &reading);
	else
		read(&reading);
	if (end != BUDGET_KEPT) {
		pool_rewind(trees, mark);
		budget_leave(end);
	}
	if (stored->view->counted > 0) // else the view lives for this request alone
		count_again(registry->store->definitions, stored->view);
}

const struct definition *definition_of_stored(struct registry *registry, struct stored_definition *stored)
{
	if (!stored->read)
		read_text(registry, stored, read_definition);
	return stored->answers ? &stored->definition : NULL;
}

const struct definition_details *definition_details(struct registry *registry, const struct definition *definition,
	const struct definition_version *version)
{
	static const struct definition_details none = { .schema = NULL };
	struct stored_definition *stored = definition->source;

	if (stored == NULL)
		return &none;
	if (stored->details == NULL)
		read_text(registry, stored, read_details);
	return &stored->details[version - definition->versions];
}

const struct definition *definition_in_view(struct registry *registry, struct view *view, struct str name)
{
	struct stored_definition *stored = NULL;

	assert(view == NULL || view->only.p == NULL || str_eq(view->only, name));
	if (view != NULL && view->n > 0)
		stored = bsearch(&name, view->list, view->n, sizeof(*view->list), by_name);
	return stored != NULL ? definition_of_stored(registry, stored) : NULL;
}

// ---- changes

enum outcome definitions_changed(struct registry *registry, uint64_t tenant_id)
{
	assert(db_txn_writes(registry->db) && tenant_id != 0);
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
