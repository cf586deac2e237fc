// SPDX-License-Identifier: Apache-2.0
// /resource_providers and /resource_providers/{uuid}
#include "base/base.h"

#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "api/placement/provider/provider.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/log/stale.h"
#include "registry/tags/etag.h"

// ---- schemas

static const struct json_schema name_string = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 200 };
static const struct json_schema null_only = { .types = SCHEMA_NULL };
static const struct json_schema *const parent_choices[] = { &uuid_string, &null_only, NULL };
static const struct json_schema parent_or_null = { .any_of = parent_choices };
static const char *const provider_required[] = { "name", NULL };

#define NAME { "name", &name_string }
#define UUID { "uuid", &uuid_string }
#define PARENT { "parent_provider_uuid", &parent_or_null }
#define END { NULL, NULL }
#define PROVIDER_SCHEMA(members) \
	{ .types = SCHEMA_OBJECT, .properties = (members), .required = provider_required, .closed = true }

static const struct json_property post_members[] = { NAME, UUID, END };
static const struct json_property put_members[] = { NAME, END };
static const struct json_property nested_post_members[] = { NAME, UUID, PARENT, END };
static const struct json_property nested_put_members[] = { NAME, PARENT, END };
static const struct json_schema post_schema = PROVIDER_SCHEMA(post_members);
static const struct json_schema put_schema = PROVIDER_SCHEMA(put_members);
static const struct json_schema nested_post_schema = PROVIDER_SCHEMA(nested_post_members);
static const struct json_schema nested_put_schema = PROVIDER_SCHEMA(nested_put_members);

// ---- a provider as JSON

// The links of a provider, and the version from which on each exists.
static const struct {
	const char *rel;
	const char *path;
	unsigned since;
} links[] = {
	{ "self", "", 0 }, { "inventories", "/inventories", 0 }, { "usages", "/usages", 0 },
	{ "aggregates", "/aggregates", 1 }, { "traits", "/traits", 6 }, { "allocations", "/allocations", 11 },
};

static void add_links(struct call *call, struct buf *json, struct uuid uid)
{
	struct buf path = buf_new(call->scratch, 96);

	placement_add_path(&path, call, "/resource_providers/");
	uuid_add(&path, uid);
	placement_add_name(json, "links");
	buf_addc(json, '[');
	for (size_t i = 0; i < COUNT_OF(links); i++) {
		if (links[i].since <= call->version)
			buf_addf(json, "%s{\"rel\":\"%s\",\"href\":\"%.*s%s\"}", i > 0 ? "," : "", links[i].rel,
				STR_ARG(path), links[i].path);
	}
	buf_addc(json, ']');
}

static void add_provider(struct call *call, struct buf *json, const struct provider *provider)
{
	buf_addc(json, '{');
	placement_add_uuid(json, "uuid", provider->resource.uid);
	placement_add_string(json, "name", provider->name);
	placement_add_number(json, "generation", provider->generation);
	if (call->version >= VERSION_NESTED) {
		placement_add_uuid(json, "root_provider_uuid", provider->root);
		if (provider->has_parent)
			placement_add_uuid(json, "parent_provider_uuid", provider->parent);
		else
			BUF_LIT(json, ",\"parent_provider_uuid\":null");
	}
	add_links(call, json, provider->resource.uid);
	buf_addc(json, '}');
}

static void write_provider(struct call *call, const struct provider *provider)
{
	struct buf json = buf_new(call->pool, 1024);

	add_provider(call, &json, provider);
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, provider->resource.updated_us);
	conditions_set_etag(call, etag_shown(call->registry, &provider->resource));
}

// ---- reading

// Never 304: allocations raise the generation, and a change of an ancestor sets another root, without a new etag.
enum outcome get_provider(struct call *call)
{
	struct uuid uid;
	struct provider provider;
	struct conditions conditions;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = conditions_read_match(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = provider_get(call->registry, &uid, &provider);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = resource_check(call->registry, &provider.resource, conditions_guard(&conditions));
	if (outcome == OUTCOME_OK)
		write_provider(call, &provider);
	return outcome;
}

// A list of providers that is being written.
struct listing {
	struct placement_long answer;
	int64_t newest;
	bool full; // the answer is too long: no more is written
};

static void list_one(void *arg, const struct provider *provider, struct pool *pool)
{
	struct listing *listing = arg;
	struct call *call = listing->answer.call;
	struct buf *json = &listing->answer.json;

	if (listing->full)
		return;
	call->scratch = pool;
	if (listing->answer.n > 0)
		buf_addc(json, ',');
	add_provider(call, json, provider);
	call->scratch = call->pool;
	if (provider->resource.updated_us > listing->newest)
		listing->newest = provider->resource.updated_us;
	listing->full = !placement_long_next(&listing->answer);
}

// Answers with the list of the providers that pass the query. OUTCOME_OK, or the error to answer with.
static enum outcome write_list(struct call *call, const struct provider_query *query)
{
	struct listing listing = { .answer = placement_long_begin(call) };
	const struct provider_taker taker = { list_one, &listing };

	BUF_LIT(&listing.answer.json, "{\"resource_providers\":[");
	enum outcome outcome = provider_list(call->registry, query, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&listing.answer.json, "]}");
	placement_answer_cache_headers(call, listing.answer.n > 0 ? listing.newest : clock_now_us());
	return placement_long_end(&listing.answer);
}

enum outcome list_providers(struct call *call)
{
	struct provider_query query;
	enum outcome outcome = provider_query_read(call, &query);

	return outcome == OUTCOME_OK ? write_list(call, &query) : outcome;
}

enum outcome list_trait_providers(struct call *call)
{
	struct trait trait;
	enum outcome outcome = placement_find_trait(call, &trait);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct str name = str_dup(call->pool, trait.name);
	const struct provider_requirement requirement = { .traits = &name, .n = 1 };
	return write_list(call, &(struct provider_query){ .requirements = &requirement, .n_requirements = 1 });
}

// ---- writing

static void take_content(const struct doc *body, struct provider_content *content)
{
	const struct doc *parent;

	*content = (struct provider_content){ .name = placement_member_str(body, "name") };
	if (!doc_get(body, STR("parent_provider_uuid"), &parent))
		return;
	content->sets_parent = true;
	content->has_parent = parent != NULL && placement_uuid_parse(doc_string(parent), &content->parent);
}

enum outcome create_provider(struct call *call)
{
	struct uuid uid;
	struct provider_content content;
	struct provider provider;
	const struct doc *body;
	enum outcome outcome = placement_read_body(call, call->version >= VERSION_NESTED ? &nested_post_schema : &post_schema,
		&body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!placement_uuid_parse(placement_member_str(body, "uuid"), &uid))
		uid = uuid_new();
	take_content(body, &content);
	outcome = provider_create(call->registry, &uid, &content, &provider);
	if (outcome != OUTCOME_CREATED)
		return outcome;
	placement_set_location(call, "/resource_providers/%.*s", UUID_ARG(call->pool, uid));
	if (call->version >= VERSION_PROVIDER_ANSWERED)
		write_provider(call, &provider);
	return call->version >= VERSION_PROVIDER_ANSWERED ? OUTCOME_OK : OUTCOME_CREATED;
}

enum outcome put_provider(struct call *call)
{
	const struct json_schema *schema = call->version >= VERSION_NESTED ? &nested_put_schema : &put_schema;
	struct uuid uid;
	struct provider_content content;
	struct provider provider;
	struct conditions conditions;
	const struct doc *body;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = provider_read_body(call, &uid, schema, &body);
	if (outcome != OUTCOME_OK)
		return outcome;
	take_content(body, &content);
	outcome = provider_change(call->registry, &uid, &content, call->version >= VERSION_REPARENT,
		conditions_guard(&conditions), &provider);
	if (outcome == OUTCOME_OK)
		write_provider(call, &provider);
	return outcome;
}

enum outcome delete_provider(struct call *call)
{
	struct uuid uid;
	struct conditions conditions;
	enum outcome outcome = provider_uid(call, &uid);

	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = provider_delete(call->registry, &uid, conditions_guard(&conditions));
	return outcome;
}
