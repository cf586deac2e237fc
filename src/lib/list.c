// SPDX-License-Identifier: Apache-2.0
// Reads lists page by page.
#include "base/base.h"

#include "base/memory.h"
#include "http/uri.h"
#include "lib/object.h"

enum { PAGE = 100, PAGE_MAX = 1000 };

struct tenure_list {
	struct tenure_client *client;
	struct pool *pool;
	struct pool *page_pool;
	struct str path;   // without query
	enum object_kind kind;
	struct str tenant; // "/v2.0/acme" of resources
	struct str member; // the member of a page that has the items
	struct str key;    // bare metal and providers: the member of an item that its address ends with
	struct buf filter; // "&deleted=true"
	bool paged;        // the service returns it in pages and takes a limit
	bool partial;      // items lack members, since only some were asked for
	unsigned page_size;
	struct str query;  // of the next page; p NULL: the next page is the first one; n 0: there is none
	bool broken;       // the last page told that there are more, but not where
	const struct doc *items;
	size_t at;
};

static struct tenure_list *list_new(struct tenure_client *client, enum object_kind kind, struct str member)
{
	struct tenure_list *list = calloc(1, sizeof(*list));

	if (list == NULL)
		return NULL;
	list->client = client;
	list->pool = pool_new();
	list->page_pool = pool_new();
	if (list->pool == NULL || list->page_pool == NULL) {
		tenure_list_free(&list);
		return NULL;
	}
	list->kind = kind;
	list->member = member;
	list->filter = buf_new(list->pool, 0);
	list->paged = true;
	list->page_size = PAGE;
	list->query = STR_NONE;
	return list;
}

struct tenure_list *tenure_list_tenants(struct tenure_client *client, enum tenure_list_what what)
{
	struct tenure_list *list = list_new(client, OBJECT_TENANT, STR("tenants"));

	if (list == NULL)
		return NULL;
	list->path = STR("/v2.0");
	if (what == TENURE_LIST_DELETED)
		tenure_list_filter(list, "state", "deleted");
	return list;
}

struct tenure_list *tenure_list_resources(struct tenure_client *client, const char *tenant, const char *space,
	const char *type, enum tenure_list_what what)
{
	struct tenure_list *list = list_new(client, OBJECT_RESOURCE, STR("resources"));

	if (list == NULL)
		return NULL;
	if (what == TENURE_LIST_DELETED)
		tenure_list_filter(list, "deleted", "true");
	struct buf path = buf_new(list->pool, 256);
	BUF_LIT(&path, "/v2.0");
	bool ok = client_path_add(&path, str_c(tenant));
	list->tenant = str_dup(list->pool, buf_str(&path));
	ok = ok && (space == NULL || (client_path_add(&path, STR("namespaces")) && client_path_add(&path, str_c(space)))) &&
		client_path_add(&path, str_c(type));
	list->path = buf_str(&path);
	if (!ok)
		tenure_list_free(&list);
	return list;
}

struct tenure_list *tenure_list_metal(struct tenure_client *client, const char *kind)
{
	struct tenure_list *list = list_new(client, OBJECT_METAL, STR_NONE);

	if (list == NULL)
		return NULL;
	struct buf path = buf_new(list->pool, 64);
	if (object_collection(&path, kind)) {
		list->path = buf_str(&path);
		list->member = str_part(list->path, sizeof(BAREMETAL_ROOT), list->path.n);
		// There are few drivers, and no pages of them.
		list->paged = !str_eq(list->member, STR("drivers"));
		list->key = list->paged ? STR("uuid") : STR("name");
	} else {
		tenure_list_free(&list);
	}
	return list;
}

struct tenure_list *tenure_list_providers(struct tenure_client *client)
{
	struct tenure_list *list = list_new(client, OBJECT_PROVIDER, STR("resource_providers"));

	if (list == NULL)
		return NULL;
	list->path = STR(PLACEMENT_ROOT "/resource_providers");
	list->key = STR("uuid");
	list->paged = false; // the API has no pages
	return list;
}

static bool is_named(struct str names, struct str wanted)
{
	struct str name;

	while (str_split(&names, ',', &name)) {
		if (str_eq(name, wanted))
			return true;
	}
	return false;
}

bool tenure_list_filter(struct tenure_list *list, const char *name, const char *value)
{
	if (name == NULL || *name == '\0' || value == NULL || !str_utf8_ok(str_c(value), NULL) || list->query.p != NULL)
		return false;
	buf_addc(&list->filter, '&');
	uri_add_value(&list->filter, str_c(name));
	buf_addc(&list->filter, '=');
	uri_add_value(&list->filter, str_c(value));
	if (list->kind != OBJECT_METAL || strcmp(name, "fields") != 0)
		return true;
	// The address of an item needs its UUID.
	if (list->paged && !is_named(str_c(value), STR("uuid")))
		BUF_LIT(&list->filter, ",uuid");
	list->partial = true;
	return true;
}

void tenure_list_free(struct tenure_list **list)
{
	if (*list == NULL)
		return;
	pool_free(&(*list)->page_pool);
	pool_free(&(*list)->pool);
	free(*list);
	*list = NULL;
}

void tenure_list_set_page(struct tenure_list *list, unsigned items)
{
	list->page_size = items < 1 ? 1 : items > PAGE_MAX ? PAGE_MAX : items;
}

static struct str first_query(struct tenure_list *list)
{
	struct buf query = buf_new(list->pool, 64);

	// Whole items, unless only some members are asked for.
	if (list->kind == OBJECT_METAL && !list->partial)
		BUF_LIT(&query, "&detail=true");
	if (list->paged)
		buf_addf(&query, "&limit=%u", list->page_size);
	buf_add(&query, buf_str(&list->filter));
	if (query.n > 0)
		query.p[0] = '?';
	return buf_str(&query);
}

bool client_next_query(struct pool *pool, const struct doc *page, struct str present, struct str *query)
{
	const struct doc *next;

	*query = STR_NONE;
	if (!doc_get(page, STR("next"), &next) || doc_kind(next) == DOC_NULL)
		return true;
	struct str url = doc_string(next), found = str_part(url, str_find(url, '?', 0), url.n);
	for (size_t i = 0; i < found.n; i++) {
		if (found.p[i] <= ' ' || found.p[i] > '~' || found.p[i] == '#')
			return false;
	}
	if (found.n == 0 || str_eq(found, present))
		return false;
	*query = str_dup(pool, found);
	return true;
}

static enum tenure_status fetch(struct tenure_list *list)
{
	struct answer answer;
	struct doc *page;

	list->items = NULL;
	list->at = 0;
	pool_clear(list->page_pool);
	struct str query = list->query.p == NULL ? first_query(list) : list->query;
	struct wish wish = { .method = "GET", .path = str_printf(list->page_pool, "%.*s%.*s", STR_ARG(list->path),
		STR_ARG(query)), .version = object_version(list->kind) };
	enum tenure_status status = client_call(list->client, list->page_pool, &wish, &answer);
	if (status == TENURE_OK)
		status = client_parse(list->client, list->page_pool, answer.body, &page);
	if (status != TENURE_OK)
		return status;
	if (!doc_get(page, list->member, &list->items) || doc_kind(list->items) != DOC_ARRAY) {
		list->items = NULL;
		return client_fail(list->client, TENURE_PROTOCOL, "the answer is no list");
	}
	struct str next;
	list->broken = !client_next_query(list->pool, page, query, &next);
	list->query = next.p != NULL ? next : STR("");
	return TENURE_OK;
}

// The address of an item. It has the item's own namespace, since the list may be of all namespaces.
static bool item_path(const struct tenure_list *list, struct buf *path, const struct doc *item)
{
	const struct doc *meta = NULL, *name = NULL, *space = NULL;

	if (list->kind == OBJECT_TENANT) {
		BUF_LIT(path, "/v2.0");
		return doc_get(item, STR("id"), &name) && client_path_add(path, doc_string(name));
	}
	if (list->key.n > 0) {
		buf_add(path, list->path);
		return doc_get(item, list->key, &name) && client_path_add(path, doc_string(name));
	}
	if (!doc_get(item, STR("metadata"), &meta) || !doc_get(meta, STR("name"), &name))
		return false;
	buf_add(path, list->tenant);
	if (doc_get(meta, STR("namespace"), &space) && space != NULL &&
		(!client_path_add(path, STR("namespaces")) || !client_path_add(path, doc_string(space))))
		return false;
	size_t type = list->path.n;
	while (list->path.p[type - 1] != '/')
		type--;
	buf_addc(path, '/');
	buf_add(path, str_part(list->path, type, list->path.n));
	return client_path_add(path, doc_string(name));
}

static enum tenure_status make_item(struct tenure_list *list, const struct doc *item, struct tenure_resource **made)
{
	struct buf path = buf_new(list->page_pool, 256);

	if (!item_path(list, &path, item))
		return client_fail(list->client, TENURE_PROTOCOL, "an item of the list has no name");
	*made = resource_at(list->client, buf_str(&path), list->kind);
	if (*made == NULL)
		memory_end(0);
	if (list->kind != OBJECT_TENANT) {
		resource_hold(*made, item);
		(*made)->partial = list->partial;
		return TENURE_OK;
	}
	struct doc *whole = doc_new_object(list->page_pool);
	doc_set(whole, STR("tenant"), doc_copy(list->page_pool, item));
	resource_hold(*made, whole);
	return TENURE_OK;
}

enum tenure_status tenure_list_next(struct tenure_list *list, struct tenure_resource **item)
{
	*item = NULL;
	while (list->items == NULL || list->at == doc_length(list->items)) {
		if (list->broken)
			return client_fail(list->client, TENURE_PROTOCOL, "the list goes on, but its answer leads to no further page: does a proxy change answers?");
		if (list->query.p != NULL && list->query.n == 0)
			return TENURE_END;
		enum tenure_status status = fetch(list);
		if (status != TENURE_OK)
			return status;
	}
	return make_item(list, doc_at(list->items, list->at++), item);
}
