// SPDX-License-Identifier: Apache-2.0
// Bare metal: nodes, ports and so on are changed by JSON Patches only, and nodes have calls of their own.
#include "base/base.h"

#include "http/uri.h"
#include "lib/object.h"

static const char *const kinds[] = { "nodes", "ports", "portgroups", "chassis", "drivers" };

// Members that only the service sets, and links to subresources.
static const char *const served[] = { "uuid", "etag", "created_at", "updated_at", "links", "nodes", "ports",
	"portgroups", "states", "volume" };

const struct version_field baremetal_version = { "X-OpenStack-Ironic-API-Version", "1.82" };

// The tenant of a node without owner.
#define TENANT_OF_UNOWNED "system"

bool object_collection(struct buf *path, const char *kind)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (kind != NULL && strcmp(kinds[i], kind) == 0) {
			BUF_LIT(path, BAREMETAL_ROOT);
			return client_path_add(path, str_c(kind));
		}
	}
	return false;
}

bool object_home(const struct tenure_resource *resource, struct pool *pool, struct str *path)
{
	const struct doc *uuid = NULL, *owner = NULL;
	struct doc *document;
	struct str unused;
	struct buf home = buf_new(pool, 256);

	if (resource->document.p == NULL || !str_starts(resource->path, STR(BAREMETAL_ROOT "/nodes/")) ||
		!doc_parse_json(pool, resource->document, (struct doc_limits){ 1000, 0 }, &document, &unused) ||
		!doc_get(document, STR("uuid"), &uuid) || !doc_get(document, STR("owner"), &owner))
		return false;
	struct str tenant = doc_kind(owner) == DOC_STRING ? doc_string(owner) : STR(TENANT_OF_UNOWNED);
	BUF_LIT(&home, "/v2.0");
	bool ok = client_path_add(&home, tenant) && client_path_add(&home, STR("nodes")) &&
		client_path_add(&home, doc_string(uuid));
	*path = buf_str(&home);
	return ok;
}

// ---- JSON Patches

struct doc *client_metal_own(struct pool *pool, const struct doc *document)
{
	struct doc *own = doc_copy(pool, document);

	for (size_t i = 0; i < COUNT_OF(served); i++)
		doc_remove(own, str_c(served[i]));
	return own;
}

static bool is_object(const struct doc *value)
{
	return doc_kind(value) == DOC_OBJECT;
}

static struct str below(struct pool *pool, struct str path, struct str name)
{
	struct buf inner = buf_new(pool, path.n + name.n + 8);

	buf_add(&inner, path);
	pointer_add_token(&inner, name);
	return buf_str(&inner);
}

static struct doc *add_operation(struct pool *pool, struct doc *patch, const char *op, struct str path)
{
	struct doc *operation = doc_new_object(pool);

	doc_set_str(pool, operation, "op", str_c(op));
	doc_set_str(pool, operation, "path", path);
	doc_push(patch, operation);
	return operation;
}

// "add" also replaces an existing value. A member at the top cannot be set to null: removing it gives it its default.
static void add_value(struct pool *pool, struct doc *patch, struct str path, const struct doc *value, bool is_field)
{
	if (is_field && doc_kind(value) == DOC_NULL) {
		add_operation(pool, patch, "remove", path);
		return;
	}
	struct doc *operation = add_operation(pool, patch, "add", path);
	doc_set(operation, STR("value"), doc_kind(value) != DOC_NULL ? doc_copy(pool, value) : NULL);
}

static void diff_objects(struct pool *pool, struct doc *patch, struct str path, const struct doc *base,
	const struct doc *wanted)
{
	const struct doc *old;

	for (struct doc_iter it = doc_iter(base); doc_next(&it);) {
		if (!doc_get(wanted, it.name, &old))
			add_operation(pool, patch, "remove", below(pool, path, it.name));
	}
	for (struct doc_iter it = doc_iter(wanted); doc_next(&it);) {
		struct str inner = below(pool, path, it.name);
		bool there = doc_get(base, it.name, &old);
		if (there && doc_equal(old, it.value))
			continue;
		if (there && is_object(old) && is_object(it.value))
			diff_objects(pool, patch, inner, old, it.value);
		else if (there || path.n > 0 || doc_kind(it.value) != DOC_NULL)
			add_value(pool, patch, inner, it.value, path.n == 0);
	}
}

struct doc *client_diff(struct pool *pool, const struct doc *base, const struct doc *wanted)
{
	struct doc *patch = doc_new_array(pool);

	diff_objects(pool, patch, STR(""), client_metal_own(pool, base), client_metal_own(pool, wanted));
	return patch;
}

// Adds operations for all that the merge patch says, even if held has it already: the service's document may have changed since.
// A removal is left out if held lacks the member: to remove what is not there is an error of JSON Patch.
static void merge_objects(struct pool *pool, struct doc *patch, struct str path, const struct doc *held,
	const struct doc *given)
{
	const struct doc *old;

	for (struct doc_iter it = doc_iter(given); doc_next(&it);) {
		struct str inner = below(pool, path, it.name);
		bool there = doc_get(held, it.name, &old);
		if (doc_kind(it.value) == DOC_NULL) {
			if (there)
				add_operation(pool, patch, "remove", inner);
		} else if (there && is_object(old) && is_object(it.value)) {
			merge_objects(pool, patch, inner, old, it.value);
		} else {
			add_value(pool, patch, inner, doc_merge_patch(pool, NULL, it.value), path.n == 0);
		}
	}
}

struct doc *object_merge(struct pool *pool, const struct doc *held, const struct doc *given)
{
	struct doc *patch = doc_new_array(pool);

	merge_objects(pool, patch, STR(""), held, given);
	return patch;
}

// ---- calls of nodes: their answers are no documents

static enum tenure_status node_call(struct tenure_resource *node, struct pool *pool, struct wish *wish,
	struct tenure_etag etag)
{
	struct answer answer;

	if (node->unmade || !str_starts(node->path, STR(BAREMETAL_ROOT "/nodes/")))
		return client_fail(node->client, TENURE_INVALID, "this is for nodes alone");
	enum tenure_status status = client_wish_etag(node->client, pool, wish, etag, node->etag);
	if (status == TENURE_OK)
		status = client_call(node->client, pool, wish, &answer);
	if (status != TENURE_OK || node->client->nothing_sent)
		return status;
	resource_forget(node);
	if (answer.etag.p == NULL || !client_etag_header(node->content, answer.etag, &node->etag))
		node->etag = STR("");
	return TENURE_OK;
}

static struct wish node_wish(const struct tenure_resource *node, struct pool *pool, const char *method,
	const char *suffix)
{
	return resource_wish(node, method, str_printf(pool, "%.*s/%s", STR_ARG(node->path), suffix));
}

static void set_body(struct pool *pool, struct wish *wish, const struct doc *document)
{
	struct buf text = buf_new(pool, 0);

	doc_write_json(document, &text);
	wish->body = buf_str(&text);
	wish->type = "application/json";
}

enum tenure_status tenure_node_set_maintenance(struct tenure_resource *node, bool maintenance, const char *reason,
	struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct wish wish = node_wish(node, pool, maintenance ? "PUT" : "DELETE", "maintenance");

	if (maintenance) {
		struct doc *document = doc_new_object(pool);
		if (reason != NULL)
			doc_set_str(pool, document, "reason", str_c(reason));
		set_body(pool, &wish, document);
	}
	enum tenure_status status = node_call(node, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_node_set_traits(struct tenure_resource *node, const char *const *traits, size_t n,
	struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct wish wish = node_wish(node, pool, "PUT", "traits");
	struct doc *document = doc_new_object(pool), *list = doc_new_array(pool);

	for (size_t i = 0; i < n; i++)
		doc_push(list, doc_new_string(pool, str_c(traits[i])));
	doc_set(document, STR("traits"), list);
	set_body(pool, &wish, document);
	enum tenure_status status = node_call(node, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

static enum tenure_status one_trait(struct tenure_resource *node, const char *method, const char *trait,
	struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct buf path = buf_new(pool, 256);
	enum tenure_status status = TENURE_OK;

	buf_add(&path, node->path);
	BUF_LIT(&path, "/traits");
	if (trait == NULL || !client_path_add(&path, str_c(trait)))
		status = client_fail(node->client, TENURE_INVALID, "\"%s\" can't be a trait's name: " CLIENT_SEGMENT_RULE,
			trait != NULL ? trait : "");
	struct wish wish = resource_wish(node, method, buf_str(&path));
	if (status == TENURE_OK)
		status = node_call(node, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_node_add_trait(struct tenure_resource *node, const char *trait, struct tenure_etag etag)
{
	return one_trait(node, "PUT", trait, etag);
}

enum tenure_status tenure_node_remove_trait(struct tenure_resource *node, const char *trait, struct tenure_etag etag)
{
	return one_trait(node, "DELETE", trait, etag);
}
