// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "registry/core/stored.h"
#include "registry/resource/meta.h"

// ---- members that the server sets

static const struct str owned[] = {
	STR_INIT("uid"), STR_INIT("resourceVersion"), STR_INIT("etag"), STR_INIT("creationTimestamp"), STR_INIT("deletionTimestamp"),
	STR_INIT("deletionGracePeriodSeconds"), STR_INIT("purgeTimestamp"), STR_INIT("selfLink"), STR_INIT("traits"), STR_INIT("generation"),
	STR_INIT("managedFields"), STR_INIT("hashKey"),
};

bool resource_meta_is_owned(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(owned); i++)
		if (str_eq(name, owned[i]))
			return true;
	return false;
}

struct str resource_client_meta(struct pool *pool, const struct resource *resource, unsigned sets)
{
	static const struct str names[] = { STR_INIT("\"generation\""), STR_INIT("\"deletionGracePeriodSeconds\""), STR_INIT("\"traits\"") };
	const struct str text = resource->meta;
	bool twice = false;

	if (sets == 0)
		return text;
	// To look for a word is much cheaper than to parse each row of a list, and nearly no row has one.
	for (size_t i = 0; i < COUNT_OF(names) && !twice; i++)
		twice = (sets & 1U << i) != 0 && memmem(text.p, text.n, names[i].p, names[i].n) != NULL;
	if (!twice)
		return text;
	struct doc *meta = resource_meta_doc(pool, resource);
	struct buf shown = buf_new(pool, text.n);

	for (size_t i = 0; i < COUNT_OF(owned); i++)
		doc_remove(meta, owned[i]);
	doc_write_json(meta, &shown);
	return buf_str(&shown);
}

// ---- members that are the client's

static bool is_text(const struct doc *value)
{
	return doc_kind(value) == DOC_STRING;
}

static bool is_text_map(const struct doc *value)
{
	if (doc_kind(value) != DOC_OBJECT)
		return false;
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		if (!is_text(it.value))
			return false;
	}
	return true;
}

static bool is_text_list(const struct doc *value)
{
	if (doc_kind(value) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(value); i++) {
		if (!is_text(doc_at(value, i)))
			return false;
	}
	return true;
}

static bool is_flag(const struct doc *value)
{
	return doc_kind(value) == DOC_BOOL;
}

static bool is_owner_list(const struct doc *value)
{
	static const char *const texts[] = { "apiVersion", "kind", "name", "uid" }, *const flags[] = { "blockOwnerDeletion", "controller" };
	const struct doc *member;

	if (doc_kind(value) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(value); i++) {
		const struct doc *owner = doc_at(value, i);
		if (doc_kind(owner) != DOC_OBJECT)
			return false;
		for (size_t k = 0; k < COUNT_OF(texts); k++)
			if (doc_get(owner, str_c(texts[k]), &member) && member != NULL && !is_text(member))
				return false;
		for (size_t k = 0; k < COUNT_OF(flags); k++)
			if (doc_get(owner, str_c(flags[k]), &member) && member != NULL && !is_flag(member))
				return false;
	}
	return true;
}

static const struct {
	const char *name;
	bool (*fits)(const struct doc *value);
	const char *form;
} members[] = {
	{ "labels", is_text_map, "an object of strings" },
	{ "annotations", is_text_map, "an object of strings" },
	{ "finalizers", is_text_list, "an array of strings" },
	{ "ownerReferences", is_owner_list,
		"an array of objects: apiVersion, kind, name and uid are strings, controller and blockOwnerDeletion true or false" },
	{ "generateName", is_text, "a string" },
	{ "clusterName", is_text, "a string" },
	{ "locked", is_flag, "true or false" },
};

const char *resource_meta_fault(struct str name, const struct doc *value)
{
	for (size_t i = 0; i < COUNT_OF(members); i++)
		if (str_eq_c(name, members[i].name))
			return members[i].fits(value) ? NULL : members[i].form;
	return NULL;
}
