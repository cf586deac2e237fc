// SPDX-License-Identifier: Apache-2.0
// Three-way merge of documents, member by member.
#include "base/base.h"

#include "cli/change/merge.h"
#include "lib/client.h"

struct value {
	const struct doc *doc;
	bool there;
};

struct merger {
	struct pool *pool;
	struct merge *merge;
	size_t room;
};

static bool same(struct value a, struct value b)
{
	return a.there == b.there && (!a.there || doc_equal(a.doc, b.doc));
}

static struct value member(struct value object, struct str name)
{
	struct value value = { NULL, false };

	value.there = object.there && doc_get(object.doc, name, &value.doc);
	return value;
}

static void note(struct merger *merger, struct difference difference)
{
	struct merge *merge = merger->merge;

	if (merge->n == merger->room) {
		merger->room = merger->room > 0 ? merger->room * 2 : 16;
		struct difference *list = POOL_ARRAY(merger->pool, struct difference, merger->room);
		if (merge->n > 0)
			memcpy(list, merge->list, merge->n * sizeof(*list));
		merge->list = list;
	}
	merge->list[merge->n++] = difference;
	merge->clash = merge->clash || difference.clash;
}

static struct value merge_values(struct merger *merger, struct str path, struct value base, struct value yours,
	struct value theirs);

static bool is_object(struct value value)
{
	return value.there && doc_kind(value.doc) == DOC_OBJECT;
}

static void merge_member(struct merger *merger, struct doc *result, struct str path, struct str name, struct value base,
	struct value yours, struct value theirs)
{
	struct str inner = path.n == 0 ? name : str_printf(merger->pool, "%.*s.%.*s", STR_ARG(path), STR_ARG(name));
	struct value value = merge_values(merger, inner, member(base, name), member(yours, name), member(theirs, name));

	if (value.there)
		doc_set(result, name, doc_copy(merger->pool, value.doc));
}

// Members of theirs come first, in their order, then those that only yours has. Members that only base had are reported, too.
static struct value merge_objects(struct merger *merger, struct str path, struct value base, struct value yours,
	struct value theirs)
{
	struct doc *result = doc_new_object(merger->pool);

	for (struct doc_iter it = doc_iter(theirs.doc); doc_next(&it);)
		merge_member(merger, result, path, it.name, base, yours, theirs);
	for (struct doc_iter it = doc_iter(yours.doc); doc_next(&it);) {
		if (!member(theirs, it.name).there)
			merge_member(merger, result, path, it.name, base, yours, theirs);
	}
	for (struct doc_iter it = doc_iter(base.there ? base.doc : NULL); base.there && doc_next(&it);) {
		if (!member(theirs, it.name).there && !member(yours, it.name).there)
			merge_member(merger, result, path, it.name, base, yours, theirs);
	}
	return (struct value){ result, true };
}

static struct value merge_values(struct merger *merger, struct str path, struct value base, struct value yours,
	struct value theirs)
{
	// If both sides made an object where base had none, their members are compared, too.
	if (is_object(yours) && is_object(theirs) && (is_object(base) || !base.there))
		return merge_objects(merger, path, base, yours, theirs);
	bool mine = !same(base, yours), other = !same(base, theirs);
	if (!mine && !other)
		return theirs;
	struct difference difference = { path, base.doc, yours.doc, theirs.doc, base.there, yours.there, theirs.there,
		mine && other && !same(yours, theirs) };
	note(merger, difference);
	return mine ? yours : theirs;
}

void merge_documents(struct pool *pool, const struct doc *base, const struct doc *yours, const struct doc *theirs,
	struct merge *merge)
{
	struct merger merger = { .pool = pool, .merge = merge };

	*merge = (struct merge){ 0 };
	struct value result = merge_values(&merger, STR(""), (struct value){ base, true }, (struct value){ yours, true },
		(struct value){ theirs, true });
	merge->result = doc_copy(pool, result.doc);
}

// ---- members of the client and of the service

// The address, and what the service ignores in a PUT: the list of src/registry/resource/meta.c. console/resource.js has the same.
static const char *const resource_owned[] = { "name", "namespace", "tenant", "uid", "resourceVersion", "etag",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "purgeTimestamp", "selfLink", "traits", "generation",
	"managedFields", "hashKey", NULL };
static const char *const tenant_owned[] = { "id", "state", "resources", "created_at", "updated_at", "purge_at", "etag",
	NULL };

static const char *const webhook_settable[] = { "url", "description", "paused", "verbs", "types", "actors", NULL };
static const char *const tier_settable[] = { "max_resources", "description", NULL };

static struct doc *without(struct pool *pool, const struct doc *object, const char *const *names)
{
	struct doc *copy = doc_copy(pool, object);

	for (; *names != NULL; names++)
		doc_remove(copy, str_c(*names));
	return copy;
}

// If document lacks the member, takes other's, because a PUT without it would keep that.
static void keep_member(struct pool *pool, struct doc *document, const struct doc *other, struct str name)
{
	const struct doc *value;

	if (!doc_get(document, name, &value) && doc_get(other, name, &value))
		doc_set(document, name, doc_copy(pool, value));
}

static struct doc *tenant_own(struct pool *pool, const struct doc *document, const struct doc *other)
{
	const struct doc *tenant = NULL, *kept = NULL;
	struct doc *result = doc_new_object(pool);

	doc_get(document, STR("tenant"), &tenant);
	doc_get(other, STR("tenant"), &kept);
	struct doc *own = doc_kind(tenant) == DOC_OBJECT ? without(pool, tenant, tenant_owned) : doc_new_object(pool);
	keep_member(pool, own, kept, STR("tier"));
	keep_member(pool, own, kept, STR("metadata"));
	keep_member(pool, own, kept, STR("etag_required"));
	doc_set(result, STR("tenant"), own);
	return result;
}

static struct doc *only(struct pool *pool, const struct doc *document, const char *const *names)
{
	struct doc *own = doc_new_object(pool);

	for (; *names != NULL; names++)
		keep_member(pool, own, document, str_c(*names));
	return own;
}

struct doc *cli_document_own(struct pool *pool, const struct doc *document, const struct doc *other, enum target_kind kind)
{
	const struct doc *metadata = NULL;

	if (kind == TARGET_TENANT)
		return tenant_own(pool, document, other);
	if (kind == TARGET_METAL)
		return client_metal_own(pool, document);
	if (kind == TARGET_PROVIDER)
		return provider_own(pool, document);
	if (kind == TARGET_WEBHOOK)
		return only(pool, document, webhook_settable);
	if (kind == TARGET_TIER)
		return only(pool, document, tier_settable);
	struct doc *own = doc_copy(pool, document);
	keep_member(pool, own, other, STR("metadata"));
	if (doc_get(own, STR("metadata"), &metadata) && doc_kind(metadata) == DOC_OBJECT)
		doc_set(own, STR("metadata"), without(pool, metadata, resource_owned));
	return own;
}
