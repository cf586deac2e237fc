// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/log/changed_fields.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/stored.h"
#include "repr/json/doc.h"

void changed_fields_add(struct changed_fields *fields, struct str pointer)
{
	assert(fields->n <= FIELDS_MAX);
	for (size_t i = 0; i < fields->n; i++) {
		if (str_eq(fields->at[i], pointer))
			return;
	}
	if (fields->n == FIELDS_MAX)
		fields->full = true;
	else
		fields->at[fields->n++] = pointer;
}

bool changed_fields_add_stored(struct changed_fields *fields, struct str json)
{
	const struct stored_place place = { .table = "changes", .column = "fields" };
	const struct doc *list = stored_document(fields->pool, place, json);

	for (size_t i = 0; i < doc_length(list); i++)
		changed_fields_add(fields, doc_string(doc_at(list, i)));
	return doc_kind(list) == DOC_ARRAY;
}

void changed_fields_finish(struct changed_fields *fields)
{
	if (!fields->full)
		return;
	fields->n = 0;
	fields->full = false;
	changed_fields_add(fields, STR(""));
}

// ---- comparing

// Adds the pointer to a member of parent, or parent's own if that would be too long.
static void add_below(struct changed_fields *fields, struct str parent, struct str name)
{
	struct buf pointer = buf_new(fields->pool, parent.n + name.n + 8);

	buf_add(&pointer, parent);
	pointer_add_token(&pointer, name);
	changed_fields_add(fields, pointer.n <= FIELD_MAX_BYTES ? buf_str(&pointer) : parent);
}

static void compare(struct changed_fields *fields, const struct doc *a, const struct doc *b, struct str parent, unsigned levels);

// Adds what differs in the member called name of the object at parent, which was a and is b. They are not equal. levels: as for
// compare().
static void compare_member(struct changed_fields *fields, struct str parent, struct str name, const struct doc *a,
	const struct doc *b, unsigned levels)
{
	if (levels == 1 || doc_kind(a) != DOC_OBJECT || doc_kind(b) != DOC_OBJECT) {
		add_below(fields, parent, name);
		return;
	}
	struct buf pointer = buf_new(fields->pool, parent.n + name.n + 8);
	buf_add(&pointer, parent);
	pointer_add_token(&pointer, name);
	if (pointer.n > FIELD_MAX_BYTES)
		changed_fields_add(fields, parent);
	else
		compare(fields, a, b, buf_str(&pointer), levels - 1);
}

// Adds the members of a that are not the same in b. Returns how many of them b has.
static size_t compare_members(struct changed_fields *fields, const struct doc *a, const struct doc *b, struct str parent,
	unsigned levels)
{
	const struct doc *other;
	struct doc_iter beside = doc_iter(b);
	size_t common = 0;

	for (struct doc_iter it = doc_iter(a); doc_next(&it);) {
		bool there = doc_get_beside(&beside, b, it.name, &other);
		common += there ? 1 : 0;
		if (!there)
			add_below(fields, parent, it.name);
		else if (!doc_equal(it.value, other))
			compare_member(fields, parent, it.name, it.value, other, levels);
	}
	return common;
}

// Adds the members of b that a does not have. common: how many both have.
static void add_new_members(struct changed_fields *fields, const struct doc *a, const struct doc *b, size_t common, struct str parent)
{
	const struct doc *other;
	struct doc_iter beside = doc_iter(a);

	for (struct doc_iter it = doc_iter(b); common < doc_length(b) && doc_next(&it);) {
		if (!doc_get_beside(&beside, a, it.name, &other))
			add_below(fields, parent, it.name);
	}
}

// Adds what differs between the objects a and b. levels: how many levels of members, this one included, get pointers of their
// own.
static void compare(struct changed_fields *fields, const struct doc *a, const struct doc *b, struct str parent, unsigned levels)
{
	add_new_members(fields, a, b, compare_members(fields, a, b, parent, levels), parent);
}

static struct str json_of(struct changed_fields *fields)
{
	struct buf out = buf_new(fields->pool, 128);

	buf_addc(&out, '[');
	for (size_t i = 0; i < fields->n; i++) {
		if (i > 0)
			buf_addc(&out, ',');
		json_add_string(&out, fields->at[i]);
	}
	buf_addc(&out, ']');
	return buf_str(&out);
}

// A document as clients see it, so that the pointers mean what clients expect.
struct seen {
	const struct doc *body;
	struct doc *metadata; // NULL: it stands in the body, if it has any, or is the same in both documents
};

static void compare_documents(struct changed_fields *fields, const struct seen *a, const struct seen *b, unsigned levels)
{
	size_t common = compare_members(fields, a->body, b->body, STR(""), levels);
	if (a->metadata != NULL && !doc_equal(a->metadata, b->metadata))
		compare_member(fields, STR(""), STR("metadata"), a->metadata, b->metadata, levels);
	add_new_members(fields, a->body, b->body, common, STR(""));
}

static void find_differing(struct changed_fields *fields, const struct seen *a, const struct seen *b)
{
	compare_documents(fields, a, b, 2);
	// Too many fields: name the members of the first level only.
	if (fields->full) {
		fields->n = 0;
		fields->full = false;
		compare_documents(fields, a, b, 1);
	}
	changed_fields_finish(fields);
}

// Equal texts need not be parsed to be compared.
static bool same_metadata(const struct resource *a, const struct resource *b)
{
	return str_eq(a->meta, b->meta) && str_eq(a->tenant, b->tenant) && str_eq(a->traits, b->traits);
}

static struct doc *metadata_of(struct pool *pool, const struct resource *resource)
{
	struct doc *metadata = resource_meta_doc(pool, resource);

	doc_set_str(pool, metadata, "tenant", resource->tenant);
	if (resource->traits.n > 0)
		doc_set(metadata, STR("traits"), resource_traits_doc(pool, resource));
	return metadata;
}

static bool is_below(struct str pointer, struct str top)
{
	return str_starts(pointer, top) && (pointer.n == top.n || pointer.p[top.n] == '/');
}

static bool is_in_spec(const struct changed_fields *fields, bool has_status)
{
	for (size_t i = 0; i < fields->n; i++) {
		if (!is_below(fields->at[i], STR("/metadata")) && !(has_status && is_below(fields->at[i], STR("/status"))))
			return true;
	}
	return false;
}

struct str changed_fields_of_resource(struct pool *pool, const struct resource *before, const struct resource *after, bool has_status,
	bool *in_spec)
{
	struct pool *trees = pool_scratch(pool, before->body.n + after->body.n);
	struct seen was = { .body = resource_body_tree(trees, before) }, is = { .body = resource_body_tree(trees, after) };
	struct changed_fields fields = { .pool = trees };

	if (!same_metadata(before, after)) {
		was.metadata = metadata_of(trees, before);
		is.metadata = metadata_of(trees, after);
	}
	find_differing(&fields, &was, &is);
	*in_spec = is_in_spec(&fields, has_status);
	struct str json = json_of(&fields);
	if (trees != pool)
		json = str_dup(pool, json);
	pool_scratch_end(pool, trees);
	return json;
}

// The tenant's own settings and the members of its Tenant object as one document.
static struct doc *object_of(struct pool *pool, const struct tenant *tenant)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "tier", tenant->tier);
	doc_set(doc, STR("etag_required"), doc_new_bool(pool, tenant->etag_required));
	doc_set(doc, STR("metadata"), tenant_metadata_doc(pool, tenant));
	for (struct doc_iter it = doc_iter(tenant_object_doc(pool, tenant)); doc_next(&it);)
		doc_set(doc, it.name, doc_copy(pool, it.value));
	return doc;
}

struct str changed_fields_of_tenant(struct pool *pool, const struct tenant *before, const struct tenant *after)
{
	const struct seen was = { .body = object_of(pool, before) }, is = { .body = object_of(pool, after) };
	struct changed_fields fields = { .pool = pool };

	find_differing(&fields, &was, &is);
	return json_of(&fields);
}
