// SPDX-License-Identifier: Apache-2.0
// Resources and tenants: an object holds the document and the etag of the last answer that told them.
#include "base/base.h"

#include "http/uri.h"
#include "lib/object.h"

#define JSON "application/json"
#define MERGE_PATCH "application/merge-patch+json"

struct tenure_resource *resource_at(struct tenure_client *client, struct str path, bool is_tenant)
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
	resource->is_tenant = is_tenant;
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
	if (path_add(&path, tenant) && (space == NULL || (path_add(&path, "namespaces") && path_add(&path, space))) &&
		path_add(&path, type) && path_add(&path, name))
		resource = resource_at(client, buf_str(&path), false);
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
	if (path_add(&path, id))
		resource = resource_at(client, buf_str(&path), true);
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

// ---- what it holds

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

	if (etag == NULL || !etag_header(resource->pool, str_c(etag), &header))
		return client_fail(resource->client, TENURE_INVALID, "\"%s\" is no etag", etag != NULL ? etag : "");
	resource->etag = header;
	return TENURE_OK;
}

static void forget(struct tenure_resource *resource)
{
	pool_clear(resource->content);
	resource->document = STR_NONE;
	resource->etag = STR("");
}

static void hold(struct tenure_resource *resource, struct str document, struct str etag)
{
	forget(resource);
	resource->document = str_dup(resource->content, document);
	if (!etag_header(resource->content, etag, &resource->etag))
		resource->etag = STR("");
}

void resource_hold(struct tenure_resource *resource, const struct doc *document)
{
	struct pool *pool = pool_new();
	const struct doc *inner = document, *etag = NULL;

	if (pool == NULL)
		abort();
	struct buf text = buf_new(pool, 0);
	doc_write_json(document, &text);
	if (doc_get(document, resource->is_tenant ? STR("tenant") : STR("metadata"), &inner))
		doc_get(inner, STR("etag"), &etag);
	hold(resource, buf_str(&text), doc_string(etag));
	pool_free(&pool);
}

// ---- calls

// Sends the wish and holds what it answers.
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

static enum tenure_status change(struct tenure_resource *resource, struct pool *pool, struct wish *wish,
	struct tenure_etag etag)
{
	enum tenure_status status = wish_etag(resource->client, pool, wish, etag, resource->etag);

	return status == TENURE_OK ? call_and_hold(resource, pool, wish) : status;
}

enum tenure_status tenure_resource_get(struct tenure_resource *resource)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		abort();
	struct wish wish = { .method = "GET", .path = resource->path };
	enum tenure_status status = call_and_hold(resource, pool, &wish);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_put(struct tenure_resource *resource, const char *document, size_t length,
	struct tenure_etag etag)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		abort();
	struct wish wish = { .method = "PUT", .path = resource->path, .body = str_n(document, length), .type = JSON };
	enum tenure_status status = change(resource, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

// The document held, with the patch applied, as the body of a PUT.
static enum tenure_status patched(struct tenure_resource *resource, struct pool *pool, struct str patch,
	struct str *body)
{
	struct doc *old, *changes;
	struct str error;

	if (resource->document.p == NULL)
		return client_fail(resource->client, TENURE_INVALID, "a tenant is read before it is changed in part");
	enum tenure_status status = client_parse(resource->client, pool, resource->document, &old);
	if (status != TENURE_OK)
		return status;
	if (!doc_parse_json(pool, patch, (struct doc_limits){ 1000, 0 }, &changes, &error))
		return client_fail(resource->client, TENURE_INVALID, "the patch is not JSON: %.*s", STR_ARG(error));
	struct buf text = buf_new(pool, 0);
	doc_write_json(doc_merge_patch(pool, old, changes), &text);
	*body = buf_str(&text);
	return TENURE_OK;
}

enum tenure_status tenure_resource_update(struct tenure_resource *resource, const char *patch, size_t length,
	struct tenure_etag etag)
{
	struct pool *pool = pool_new();
	enum tenure_status status = TENURE_OK;

	if (pool == NULL)
		abort();
	struct wish wish = { .method = "PATCH", .path = resource->path, .body = str_n(patch, length), .type = MERGE_PATCH };
	if (resource->is_tenant) {
		wish.method = "PUT";
		wish.type = JSON;
		status = patched(resource, pool, str_n(patch, length), &wish.body);
	}
	if (status == TENURE_OK)
		status = change(resource, pool, &wish, etag);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_delete(struct tenure_resource *resource, struct tenure_etag etag)
{
	struct pool *pool = pool_new();
	struct answer answer;

	if (pool == NULL)
		abort();
	struct wish wish = { .method = "DELETE", .path = resource->path };
	enum tenure_status status = wish_etag(resource->client, pool, &wish, etag, resource->etag);
	if (status == TENURE_OK)
		status = client_call(resource->client, pool, &wish, &answer);
	if (status == TENURE_OK && !resource->client->nothing_sent)
		forget(resource);
	pool_free(&pool);
	return status;
}

enum tenure_status tenure_resource_recover(struct tenure_resource *resource, const char *uid)
{
	struct pool *pool = pool_new();
	struct answer answer;

	if (pool == NULL)
		abort();
	struct buf path = buf_new(pool, 256);
	buf_add(&path, resource->path);
	BUF_LIT(&path, "/action/recover");
	if (uid != NULL) {
		BUF_LIT(&path, "?uid=");
		uri_add_value(&path, str_c(uid));
	}
	struct wish wish = { .method = "POST", .path = buf_str(&path) };
	enum tenure_status status = client_call(resource->client, pool, &wish, &answer);
	pool_free(&pool);
	return status;
}
