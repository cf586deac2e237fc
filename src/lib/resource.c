// SPDX-License-Identifier: Apache-2.0
// Resources, tenants, bare metal and providers: an object has the document and the etag of the last answer.
#include "base/base.h"

#include "http/uri.h"
#include "lib/object.h"

#define JSON "application/json"
#define MERGE_PATCH "application/merge-patch+json"
#define JSON_PATCH "application/json-patch+json"

struct pool *call_pool(void)
{
	return pool_new_or_end();
}

struct tenure_resource *resource_at(struct tenure_client *client, struct str path, enum object_kind kind)
{
	struct tenure_resource *resource = calloc(1, sizeof(*resource));

	if (resource == NULL)
		return NULL;
	resource->client = client;
	resource->pool = pool_new();
	resource->content = pool_new();
	if (resource->pool == NULL || resource->content == NULL) {
		tenure_resource_free(&resource);
		return NULL;
	}
	resource->path = str_dup(resource->pool, path);
	resource->kind = kind;
	resource->document = STR_NONE;
	return resource;
}

struct tenure_resource *tenure_resource_new(struct tenure_client *client, const char *tenant, const char *space,
	const char *type, const char *name)
{
	struct pool *pool = pool_new();
	struct tenure_resource *resource = NULL;

	if (pool == NULL)
		return NULL;
	struct buf path = buf_new(pool, 256);
	BUF_LIT(&path, "/v2.0");
	if (client_path_add(&path, str_c(tenant)) &&
		(space == NULL || (client_path_add(&path, STR("namespaces")) && client_path_add(&path, str_c(space)))) &&
		client_path_add(&path, str_c(type)) && client_path_add(&path, str_c(name)))
		resource = resource_at(client, buf_str(&path), OBJECT_RESOURCE);
	pool_free(&pool);
	return resource;
}

struct tenure_resource *tenure_tenant_new(struct tenure_client *client, const char *id)
{
	struct pool *pool = pool_new();
	struct tenure_resource *resource = NULL;

	if (pool == NULL)
		return NULL;
	struct buf path = buf_new(pool, 256);
	BUF_LIT(&path, "/v2.0");
	if (client_path_add(&path, str_c(id)))
		resource = resource_at(client, buf_str(&path), OBJECT_TENANT);
	pool_free(&pool);
	return resource;
}

struct tenure_resource *tenure_metal_new(struct tenure_client *client, const char *kind, const char *ident)
{
	struct pool *pool = pool_new();
	struct tenure_resource *resource = NULL;

	if (pool == NULL)
		return NULL;
	struct buf path = buf_new(pool, 256);
	if (object_collection(&path, kind) && (ident == NULL || client_path_add(&path, str_c(ident))))
		resource = resource_at(client, buf_str(&path), OBJECT_METAL);
	if (resource != NULL)
		resource->unmade = ident == NULL;
	pool_free(&pool);
	return resource;
}

void tenure_resource_free(struct tenure_resource **resource)
{
	if (*resource == NULL)
		return;
	pool_free(&(*resource)->content);
	pool_free(&(*resource)->pool);
	free(*resource);
	*resource = NULL;
}

// ---- the content of an object

const char *tenure_resource_document(const struct tenure_resource *resource, size_t *length)
{
	if (length != NULL)
		*length = resource->document.n;
	return resource->document.p;
}

const char *tenure_resource_etag(const struct tenure_resource *resource)
{
	return resource->etag.n > 0 ? resource->etag.p : NULL;
}

const char *tenure_resource_path(const struct tenure_resource *resource)
{
	return resource->path.p;
}

enum tenure_status tenure_resource_set_etag(struct tenure_resource *resource, const char *etag)
{
	struct str header;

	if (etag == NULL || !client_etag_header(resource->pool, str_c(etag), &header))
		return client_fail(resource->client, TENURE_INVALID, "\"%s\" is no etag", etag != NULL ? etag : "");
	resource->etag = header;
	return TENURE_OK;
}

void resource_forget(struct tenure_resource *resource)
{
	pool_clear(resource->content);
	resource->document = STR_NONE;
	resource->etag = STR("");
	resource->partial = false;
}

static void hold(struct tenure_resource *resource, struct str document, struct str etag)
{
	resource_forget(resource);
	resource->document = str_dup(resource->content, document);
	if (!client_etag_header(resource->content, etag, &resource->etag))
		resource->etag = STR("");
}

void resource_hold(struct tenure_resource *resource, const struct doc *document)
{
	struct pool *pool = call_pool();
	const struct doc *inner = document, *etag = NULL;

	struct buf text = buf_new(pool, 0);
	doc_write_json(document, &text);
	if (resource->kind == OBJECT_METAL || resource->kind == OBJECT_PROVIDER ||
		doc_get(document, resource->kind == OBJECT_TENANT ? STR("tenant") : STR("metadata"), &inner))
		doc_get(inner, STR("etag"), &etag);
	hold(resource, buf_str(&text), doc_string(etag));
	pool_free(&pool);
}

// ---- calls

const struct version_field *object_version(enum object_kind kind)
{
	return kind == OBJECT_METAL ? &baremetal_version : kind == OBJECT_PROVIDER ? &placement_version : NULL;
}

struct wish resource_wish(const struct tenure_resource *resource, const char *method, struct str path)
{
	return (struct wish){ .method = method, .path = path, .version = object_version(resource->kind) };
}

// Sends the call and stores its answer in the object.
static enum tenure_status call_and_hold(struct tenure_resource *resource, struct pool *pool, const struct wish *wish)
{
	struct answer answer;
	struct doc *doc;
	enum tenure_status status = client_call(resource->client, pool, wish, &answer);

	if (status != TENURE_OK || resource->client->nothing_sent)
		return status;
	status = client_parse(resource->client, pool, answer.body, &doc);
	if (status == TENURE_OK && doc_kind(doc) != DOC_OBJECT)
		status = client_fail(resource->client, TENURE_PROTOCOL, "the answer is no document");
	if (status == TENURE_OK)
		hold(resource, answer.body, answer.etag);
	return status;
}

// Begins a call for the object's path. TENURE_INVALID: the object has no path yet.
static enum tenure_status begin(struct tenure_resource *resource, const char *method, struct wish *wish)
{
	*wish = resource_wish(resource, method, resource->path);
	return !resource->unmade ? TENURE_OK
		: client_fail(resource->client, TENURE_INVALID, "it is not made yet: tenure_resource_create() does that");
}

static enum tenure_status change(struct tenure_resource *resource, struct pool *pool, struct wish *wish,
	struct tenure_etag etag)
{
	enum tenure_status status = client_wish_etag(resource->client, pool, wish, etag, resource->etag);

	return status == TENURE_OK ? call_and_hold(resource, pool, wish) : status;
}

enum tenure_status tenure_resource_get(struct tenure_resource *resource)
{
	struct pool *pool = call_pool();
	struct wish wish;
	enum tenure_status status = begin(resource, "GET", &wish);

	if (status == TENURE_OK)
		status = call_and_hold(resource, pool, &wish);
	pool_free(&pool);
	return status;
}

static enum tenure_status read_given(struct tenure_resource *resource, struct pool *pool, struct str text,
	struct doc **given)
{
	struct str error;

	if (doc_parse_json(pool, text, (struct doc_limits){ 1000, 0 }, given, &error))
		return TENURE_OK;
	return client_fail(resource->client, TENURE_INVALID, "what is to be sent is not JSON: %.*s", STR_ARG(error));
}

// Parses the object's document and the text of the change.
static enum tenure_status read_both(struct tenure_resource *resource, struct pool *pool, struct str text,
	struct doc **held, struct doc **given)
{
	if (resource->document.p == NULL || resource->partial)
		return client_fail(resource->client, TENURE_INVALID, "%s is read before it is changed in part",
			resource->kind == OBJECT_TENANT ? "a tenant" : resource->kind == OBJECT_METAL ? "a thing of bare metal"
			: "a provider");
	enum tenure_status status = client_parse(resource->client, pool, resource->document, held);
	return status == TENURE_OK ? read_given(resource, pool, text, given) : status;
}

static struct str text_of(struct pool *pool, const struct doc *document)
{
	struct buf text = buf_new(pool, 0);

	doc_write_json(document, &text);
	return buf_str(&text);
}

enum tenure_status tenure_resource_put(struct tenure_resource *resource, const char *document, size_t length,
	struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct doc *held, *wanted;
	struct wish wish;
	enum tenure_status status = begin(resource, "PUT", &wish);

	wish.type = JSON;
	wish.body = str_n(document, length);
	if (status == TENURE_OK && resource->kind == OBJECT_METAL) {
		status = read_both(resource, pool, wish.body, &held, &wanted);
		wish.method = "PATCH";
		wish.type = JSON_PATCH;
		wish.body = status == TENURE_OK ? text_of(pool, client_diff(pool, held, wanted)) : STR_NONE;
	} else if (status == TENURE_OK && resource->kind == OBJECT_PROVIDER) {
		status = read_given(resource, pool, wish.body, &wanted);
		wish.body = status == TENURE_OK ? text_of(pool, provider_own(pool, wanted)) : STR_NONE;
	}
	if (status == TENURE_OK)
		status = change(resource, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

// What the patch removes of a tenant is sent as what it is without it: a PUT that leaves a member out keeps it. The service
// refuses null, so it refuses to remove a tier, which no tenant is without.
static struct doc *tenant_merge(struct pool *pool, const struct doc *held, const struct doc *patch)
{
	struct doc *merged = doc_merge_patch(pool, held, patch), *tenant = doc_own_member(merged, STR("tenant"));
	const struct doc *changes, *value;

	if (!doc_get(patch, STR("tenant"), &changes) || doc_kind(tenant) != DOC_OBJECT)
		return merged;
	if (doc_get(changes, STR("metadata"), &value) && value == NULL)
		doc_set(tenant, STR("metadata"), doc_new_object(pool));
	if (doc_get(changes, STR("etag_required"), &value) && value == NULL)
		doc_set(tenant, STR("etag_required"), doc_new_bool(pool, false));
	if (doc_get(changes, STR("tier"), &value) && value == NULL)
		doc_set(tenant, STR("tier"), NULL);
	return merged;
}

// A merge patch in the form that the object's dialect takes.
static enum tenure_status translate(struct tenure_resource *resource, struct pool *pool, struct wish *wish)
{
	struct doc *held, *patch;

	if (resource->kind == OBJECT_RESOURCE)
		return TENURE_OK;
	enum tenure_status status = read_both(resource, pool, wish->body, &held, &patch);
	if (status != TENURE_OK)
		return status;
	if (resource->kind == OBJECT_TENANT || resource->kind == OBJECT_PROVIDER) {
		wish->method = "PUT";
		wish->type = JSON;
		wish->body = text_of(pool, resource->kind == OBJECT_PROVIDER ? provider_merge(pool, held, patch)
			: tenant_merge(pool, held, patch));
	} else {
		wish->type = JSON_PATCH;
		wish->body = text_of(pool, object_merge(pool, held, patch));
	}
	return TENURE_OK;
}

// A merge patch goes in the form that the object's dialect takes, a JSON Patch as it is.
enum patch_kind { KIND_MERGE_PATCH, KIND_JSON_PATCH };

static enum tenure_status patch_with(struct tenure_resource *resource, enum patch_kind kind, struct str patch,
	struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct wish wish;
	enum tenure_status status = begin(resource, "PATCH", &wish);

	wish.type = kind == KIND_MERGE_PATCH ? MERGE_PATCH : JSON_PATCH;
	wish.body = patch;
	if (status == TENURE_OK && kind == KIND_MERGE_PATCH)
		status = translate(resource, pool, &wish);
	if (status == TENURE_OK)
		status = change(resource, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_update(struct tenure_resource *resource, const char *patch, size_t length,
	struct tenure_etag etag)
{
	return patch_with(resource, KIND_MERGE_PATCH, str_n(patch, length), etag);
}

enum tenure_status tenure_resource_patch(struct tenure_resource *resource, const char *patch, size_t length,
	struct tenure_etag etag)
{
	return patch_with(resource, KIND_JSON_PATCH, str_n(patch, length), etag);
}

// Its address from now on, by the document that made it.
static enum tenure_status settle(struct tenure_resource *resource, struct pool *pool)
{
	const struct doc *uuid = NULL;
	struct doc *document;
	struct buf path = buf_new(pool, 256);
	enum tenure_status status = client_parse(resource->client, pool, resource->document, &document);

	buf_add(&path, resource->path);
	if (status == TENURE_OK && (!doc_get(document, STR("uuid"), &uuid) || doc_kind(uuid) != DOC_STRING ||
		!client_path_add(&path, doc_string(uuid))))
		return client_fail(resource->client, TENURE_PROTOCOL, "it was made, but the answer has no UUID");
	resource->path = str_dup(resource->pool, buf_str(&path));
	resource->unmade = false;
	return status;
}

enum tenure_status tenure_resource_create(struct tenure_resource *resource, const char *document, size_t length)
{
	if (!resource->unmade)
		return client_fail(resource->client, TENURE_INVALID, "it has an address already: put it there");
	struct pool *pool = call_pool();
	struct wish wish = resource_wish(resource, "POST", resource->path);
	wish.type = JSON;
	wish.body = str_n(document, length);
	enum tenure_status status = call_and_hold(resource, pool, &wish);
	if (status == TENURE_OK && !resource->client->nothing_sent)
		status = settle(resource, pool);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_delete(struct tenure_resource *resource, struct tenure_etag etag)
{
	struct pool *pool = call_pool();
	struct answer answer;
	struct wish wish;
	enum tenure_status status = begin(resource, "DELETE", &wish);

	if (status == TENURE_OK)
		status = client_wish_etag(resource->client, pool, &wish, etag, resource->etag);
	if (status == TENURE_OK)
		status = client_call(resource->client, pool, &wish, &answer);
	if (status == TENURE_OK && !resource->client->nothing_sent)
		resource_forget(resource);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_recover(struct tenure_resource *resource, const char *uid, struct tenure_etag etag)
{
	if (resource->kind == OBJECT_METAL || resource->kind == OBJECT_PROVIDER)
		return client_fail(resource->client, TENURE_INVALID, "%s comes back as a resource of its tenant",
			resource->kind == OBJECT_METAL ? "bare metal" : "a provider");
	struct pool *pool = call_pool();
	struct answer answer;
	struct buf path = buf_new(pool, 256);
	buf_add(&path, resource->path);
	BUF_LIT(&path, "/action/recover");
	if (uid != NULL) {
		BUF_LIT(&path, "?uid=");
		uri_add_value(&path, str_c(uid));
	}
	struct wish wish = resource_wish(resource, "POST", buf_str(&path));
	enum tenure_status status = client_wish_etag(resource->client, pool, &wish, etag, resource->etag);
	if (status == TENURE_OK)
		status = client_call(resource->client, pool, &wish, &answer);
	pool_free(&pool);
	return status;
}
