// SPDX-License-Identifier: Apache-2.0
// Creates, finds, changes and deletes single providers; and the first and last step of every writer of what a provider has.
#include "base/base.h"

#include "registry/placement/provider.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/placement/provider_internal.h"
#include "registry/placement/rules.h"
#include "registry/resource/internal.h"
#include "registry/resource/traits.h"
#include "registry/tags/etag.h"
#include "registry/tenant/tenant.h"
#include "registry/trait/trait.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/providers.h"

// ---- what is refused

enum outcome provider_fail_coded(struct registry *registry, enum outcome outcome, const char *code, const char *format, ...)
{
	va_list args;

	assert(!outcome_commits(outcome));
	va_start(args, format);
	*registry->problem = (struct problem){ .detail = str_vprintf(registry->pool, format, args) };
	va_end(args);
	registry_fail_member(registry, "code", str_c(code));
	return outcome;
}

static enum outcome fail_not_found(struct registry *registry, const struct uuid *uid)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No resource provider with uuid %.*s found.",
		UUID_ARG(registry->pool, *uid));
}

void provider_fail_context(struct registry *registry, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str words = str_vprintf(registry->pool, format, args);
	va_end(args);
	registry->problem->detail =
		str_printf(registry->pool, "%.*s %.*s", STR_ARG(words), STR_ARG(registry->problem->detail));
}

struct str provider_generation_given(struct pool *pool, uint64_t generation)
{
	if (generation == UINT64_MAX)
		return STR("a number that no generation has");
	return str_printf(pool, "%llu", (unsigned long long)generation);
}

// ---- finding

const struct type *provider_type(struct registry *registry)
{
	return type_with_rules(registry, &provider_rules);
}

static struct ident ident_of(struct registry *registry, const struct uuid *uid)
{
	return (struct ident){ .type = provider_type(registry), .uid = *uid };
}

void provider_read(struct pool *pool, struct provider *provider)
{
	const struct doc *body = resource_body_doc(pool, &provider->resource), *value;

	if (doc_get(body, STR("name"), &value) && doc_kind(value) == DOC_STRING)
		provider->name = doc_string(value);
	provider->has_parent = doc_get(body, STR("parent_provider_uuid"), &value) && doc_kind(value) == DOC_STRING &&
			       uuid_parse(doc_string(value), &provider->parent);
	provider->root = provider->resource.has_root ? provider->resource.root : provider->resource.uid;
}

struct provider provider_of_columns(struct registry *registry, const struct sql_resource *columns, struct str tenant,
	uint64_t generation)
{
	struct provider provider = { .resource = resource_of_columns(registry, columns), .generation = generation };

	provider.resource.tenant = tenant;
	provider_read(registry->pool, &provider);
	return provider;
}

enum outcome provider_get_with(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct db_call *call)
{
	const struct sql_provider_get in = { .uid = uuid_bytes(uid), .type_id = provider_type(registry)->id };
	struct db_call calls[2] = { sql_provider_get_call(registry->pool, &in) };

	if (call != NULL)
		calls[1] = *call;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, call != NULL ? 2 : 1);

	*provider = (struct provider){ 0 };
	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0)
		return fail_not_found(registry, uid);
	const struct sql_provider_get_row *row = sql_provider_get_row(&calls[0].rows, 0);

	*provider = provider_of_columns(registry, &row->r, row->tenant, row->provider_generation);
	registry_concerns(registry, row->tenant);
	if (call != NULL)
		*call = calls[1];
	return OUTCOME_OK;
}

enum outcome provider_get(struct registry *registry, const struct uuid *uid, struct provider *provider)
{
	return provider_get_with(registry, uid, provider, NULL);
}

static uint64_t generation_of(const struct db_rows *rows)
{
	return rows->n > 0 ? sql_provider_generation_row(rows, 0)->generation : 0;
}

static enum outcome read_generation(struct registry *registry, struct provider *provider)
{
	const struct sql_provider_generation in = { .resource_id = provider->resource.id };
	struct db_rows rows;
	enum db_result result = sql_provider_generation_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	provider->generation = generation_of(&rows);
	return OUTCOME_OK;
}

// ---- making

struct making {
	struct registry *registry;
	const struct uuid *uid;
	const struct provider_content *content;
	bool reparents;
	bool lacks_parent; // the parent that a change asks for is not there
};

static enum outcome only_new(void *arg, const uint8_t *etag)
{
	const struct making *making = arg;

	return etag == NULL ? OUTCOME_OK : provider_rules.taken(making->registry, making->uid, NULL);
}

static void set_content(struct registry *registry, const struct provider_content *content, struct doc *body)
{
	struct pool *pool = registry->pool;

	doc_set_str(pool, body, "name", content->name);
	if (content->sets_parent)
		doc_set(body, STR("parent_provider_uuid"),
			content->has_parent ? doc_new_string(pool, uuid_str(pool, content->parent)) : NULL);
}

static enum outcome apply_new(void *arg, const struct resource *current, struct content *content)
{
	const struct making *making = arg;

	UNUSED(current);
	*content = (struct content){ .meta = STR("{}"), .document = doc_new_object(making->registry->pool) };
	set_content(making->registry, making->content, content->document);
	return OUTCOME_OK;
}

static enum outcome find_parent(struct registry *registry, const struct provider_content *content, struct resource *parent)
{
	const struct ident ident = ident_of(registry, &content->parent);
	enum outcome outcome = resource_find(registry, &ident, parent);

	return outcome == OUTCOME_NOT_FOUND
		? registry_fail(registry, OUTCOME_BAD_DOCUMENT, "parent provider UUID does not exist.") : outcome;
}

// A provider belongs to its parent's tenant, else to the system's.
static enum outcome choose_tenant(struct registry *registry, const struct provider_content *content, struct str *tenant)
{
	struct resource parent;

	*tenant = STR(TENANT_SYSTEM);
	if (!content->sets_parent || !content->has_parent)
		return tenant_ensure(registry, *tenant);
	enum outcome outcome = find_parent(registry, content, &parent);
	if (outcome == OUTCOME_OK)
		*tenant = parent.tenant;
	return outcome;
}

static enum outcome check_new(struct registry *registry, const struct uuid *uid, const struct provider_content *content)
{
	if (!content->sets_parent || !content->has_parent || !uuid_eq(content->parent, *uid))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "parent provider UUID cannot be same as UUID. Please set parent "
							     "provider UUID to None if there is no parent.");
}

// The parent was found before any lock was taken. Has it been moved to another tenant meanwhile?
static bool parent_has_moved(struct registry *registry, const struct provider_content *content, struct str tenant)
{
	const struct problem problem = *registry->problem;
	struct str now;

	bool moved = choose_tenant(registry, content, &now) == OUTCOME_OK && !str_eq(now, tenant);
	*registry->problem = problem;
	return moved;
}

enum outcome provider_create(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	struct provider *provider)
{
	struct making making = { .registry = registry, .uid = uid, .content = content };
	const struct edit edit = { .apply = apply_new, .arg = &making, .creates = true };
	const struct guard guard = { .check = only_new, .arg = &making, .prevents_lost_update = true };
	struct str text = uuid_str(registry->pool, *uid);
	struct address address = { .type = provider_type(registry), .name = text };

	assert(db_txn_writes(registry->db));
	*provider = (struct provider){ 0 };
	enum outcome outcome = check_new(registry, uid, content);
	if (outcome == OUTCOME_OK)
		outcome = choose_tenant(registry, content, &address.tenant);
	if (outcome == OUTCOME_OK)
		outcome = resource_write(registry, &address, &edit, guard, &provider->resource);
	bool refused = outcome != OUTCOME_CREATED && outcome != OUTCOME_UNAVAILABLE && outcome != OUTCOME_INTERNAL;
	if (refused && content->has_parent && parent_has_moved(registry, content, address.tenant)) {
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (outcome == OUTCOME_BAD_DOCUMENT)
		provider_fail_context(registry,
			"Unable to create resource provider \"%.*s\", %.*s: Object action create failed because:",
			STR_ARG(content->name), STR_ARG(text));
	if (outcome == OUTCOME_CREATED)
		provider_read(registry->pool, provider);
	return outcome;
}

// ---- changing

// May it get the parent that is asked for? That this one is not there is told before all else, as in OpenStack's service.
static enum outcome check_reparenting(struct making *making, const struct resource *current)
{
	const struct provider_content *content = making->content;
	struct provider now = { .resource = *current };
	struct resource parent;

	provider_read(making->registry->pool, &now);
	if (!content->sets_parent || (content->has_parent && now.has_parent && uuid_eq(content->parent, now.parent)))
		return OUTCOME_OK;
	enum outcome outcome = content->has_parent ? find_parent(making->registry, content, &parent) : OUTCOME_OK;
	making->lacks_parent = outcome == OUTCOME_BAD_DOCUMENT;
	if (outcome != OUTCOME_OK || making->reparents || !now.has_parent)
		return outcome;
	return registry_fail(making->registry, OUTCOME_BAD_DOCUMENT, "%s a provider is not currently allowed.",
		content->has_parent ? "re-parenting" : "un-parenting");
}

static enum outcome apply_change(void *arg, const struct resource *current, struct content *content)
{
	struct making *making = arg;
	enum outcome outcome = check_reparenting(making, current);

	*content = (struct content){
		.meta = current->meta,
		.locked = current->locked,
		.document = resource_body_doc(making->registry->pool, current),
	};
	set_content(making->registry, making->content, content->document);
	return outcome;
}

enum outcome provider_change(struct registry *registry, const struct uuid *uid, const struct provider_content *content,
	bool reparents, struct guard guard, struct provider *provider)
{
	struct making making = { .registry = registry, .uid = uid, .content = content, .reparents = reparents };
	const struct edit edit = { .apply = apply_change, .arg = &making };
	const struct ident ident = ident_of(registry, uid);

	assert(db_txn_writes(registry->db));
	*provider = (struct provider){ 0 };
	enum outcome outcome = resource_change(registry, &ident, &edit, guard, &provider->resource);
	if (outcome == OUTCOME_NOT_FOUND)
		return fail_not_found(registry, uid);
	if (outcome == OUTCOME_NAME_TAKEN)
		return provider_fail_coded(registry, outcome, "duplicate_name", "Conflicting resource provider %.*s already exists.",
			STR_ARG(content->name));
	if (outcome == OUTCOME_BAD_DOCUMENT) // OpenStack's service names the action "create" here, too, if there is no such parent
		provider_fail_context(registry, "Unable to save resource provider %.*s: Object action %s failed because:",
			UUID_ARG(registry->pool, *uid), making.lacks_parent ? "create" : "update");
	if (outcome != OUTCOME_OK)
		return outcome;
	provider_read(registry->pool, provider);
	return read_generation(registry, provider);
}

enum outcome provider_delete(struct registry *registry, const struct uuid *uid, struct guard guard)
{
	const struct ident ident = ident_of(registry, uid);
	struct resource resource;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = resource_remove(registry, &ident, guard, &resource);
	if (outcome != OUTCOME_NOT_FOUND)
		return outcome;
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No resource provider with uuid %.*s found for delete.",
		UUID_ARG(registry->pool, *uid));
}

// ---- writing what it has

static enum outcome check_guard(struct registry *registry, const struct provider_guard *guard,
	const struct locked_tenant *owner, const char *words, const struct provider *provider)
{
	struct guard stronger = guard->guard;

	if (guard->has_generation && guard->generation != provider->generation)
		return provider_fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update", "%s", words);
	stronger.prevents_lost_update = stronger.prevents_lost_update || guard->has_generation;
	enum outcome outcome = guard_check_required(registry, stronger, owner->etag_required);
	return outcome == OUTCOME_OK ? resource_check(registry, &provider->resource, stronger) : outcome;
}

enum outcome provider_lock(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	const char *words, struct provider *provider, struct db_call (*read)(struct pool *pool, uint64_t resource_id),
	struct db_rows *rows)
{
	const struct ident ident = ident_of(registry, uid);
	struct locked_tenant owner;

	assert(db_txn_writes(registry->db));
	*provider = (struct provider){ 0 };
	enum outcome outcome = resource_lock_ident(registry, &ident, &owner, &provider->resource);
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? fail_not_found(registry, uid) : outcome;
	const struct sql_provider_generation in = { .resource_id = provider->resource.id };
	struct db_call calls[] = { sql_provider_generation_call(registry->pool, &in), read(registry->pool, in.resource_id) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	provider->generation = generation_of(&calls[0].rows);
	provider_read(registry->pool, provider);
	*rows = calls[1].rows;
	return check_guard(registry, guard, &owner, words, provider);
}

struct db_call provider_raise_call(struct pool *pool, uint64_t resource_id)
{
	return sql_provider_raise_call(pool, &(struct sql_provider_raise){ .resource_id = resource_id });
}

size_t provider_touch(struct registry *registry, struct provider *provider, const char *field, struct str former, bool raises,
	struct db_call calls[PROVIDER_TOUCHES])
{
	struct pool *pool = registry->pool;
	struct resource *resource = &provider->resource;
	const struct resource before = *resource;

	assert(db_txn_writes(registry->db) && field[0] == '/');
	resource->revision++;
	resource->edits++;
	resource->updated_us = registry->stamp_us;
	etag_of_resource(registry, resource);
	struct str etag = str_dup(pool, str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag)));
	calls[0] = change_in_field(registry, &before, resource, field);
	const struct sql_provider_touch touch = {
		.id = resource->id,
		.revision = resource->revision,
		.edits = resource->edits,
		.etag = etag,
		.updated_at = resource->updated_us,
	};
	size_t n = change_keep_beside(registry, resource->id, former, calls, 1);

	calls[n++] = sql_provider_touch_call(pool, &touch);
	if (!raises)
		return n;
	provider->generation++;
	calls[n++] = provider_raise_call(pool, resource->id);
	return n;
}

enum outcome provider_run(struct registry *registry, struct db_call *calls, size_t n)
{
	assert(db_txn_writes(registry->db) && n > 0);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		if (calls[i].result == DB_DUPLICATE) {
			db_txn_again(registry->db);
			return OUTCOME_UNAVAILABLE;
		}
	}
	return OUTCOME_OK;
}

// ---- its traits

struct trait_guard {
	struct registry *registry;
	const struct provider_guard *guard;
	const struct provider *provider;
};

// Runs while the provider's row is locked, so the generation cannot change afterwards.
static enum outcome check_generation(void *arg, const uint8_t *etag)
{
	const struct trait_guard *asked = arg;
	const struct provider_guard *guard = asked->guard;

	if (guard->has_generation && guard->generation != asked->provider->generation)
		return provider_fail_coded(asked->registry, OUTCOME_CONFLICT, "concurrent_update", PROVIDER_CHANGED);
	return guard_check(guard->guard, etag);
}

enum outcome provider_change_traits(struct registry *registry, const struct uuid *uid,
	const struct provider_guard *guard, const struct trait_edit *edit, struct provider *provider)
{
	struct trait_guard asked = { registry, guard, provider };
	struct guard under_lock = guard->guard;
	struct trait_edit edit_here = *edit;
	const struct ident ident = ident_of(registry, uid);
	const struct sql_provider_generation_by_uid in = { .uid = uuid_bytes(uid), .type_id = ident.type->id };
	struct db_call generation = sql_provider_generation_by_uid_call(registry->pool, &in);
	struct locked_tenant owner;

	assert(db_txn_writes(registry->db));
	*provider = (struct provider){ 0 };
	edit_here.no_such = "No such trait";
	under_lock.check = check_generation;
	under_lock.arg = &asked;
	under_lock.prevents_lost_update = guard->guard.prevents_lost_update || guard->has_generation;
	enum outcome outcome = resource_lock_ident_with(registry, &ident, &owner, &provider->resource, &generation);
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_NOT_FOUND ? fail_not_found(registry, uid) : outcome;
	if (generation.rows.n > 0)
		provider->generation = sql_provider_generation_by_uid_row(&generation.rows, 0)->generation;
	uint64_t revision = provider->resource.revision;
	outcome = resource_change_traits_locked(registry, &edit_here, under_lock, &owner, &provider->resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (provider->resource.revision != revision) // a change raises the generation, too: provider_rules.traits_changed
		provider->generation++;
	provider_read(registry->pool, provider);
	return OUTCOME_OK;
}
