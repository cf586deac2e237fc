// SPDX-License-Identifier: Apache-2.0
// The records of a dump: their members, and whether the resource of a record could be stored here.
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "manage/dump/record.h"
#include "registry/core/model.h"
#include "registry/resource/verify.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"

struct str record_text(const struct doc *record, const char *name)
{
	const struct doc *value;

	return doc_get(record, str_c(name), &value) && doc_kind(value) == DOC_STRING ? doc_string(value) : STR_NONE;
}

uint64_t record_number(const struct doc *record, const char *name)
{
	const struct doc *value;
	uint64_t number = 0;

	return doc_get(record, str_c(name), &value) && doc_u64(value, &number) ? number : 0;
}

bool record_uid(const struct doc *record, struct uuid *uid)
{
	return digest_from_hex(record_text(record, "uid"), uid->b, sizeof(uid->b));
}

static bool is_json(struct pool *pool, struct str text, enum doc_kind kind)
{
	struct doc *doc;
	struct str error;

	return text.p != NULL && doc_parse_json(pool, text, (struct doc_limits){ .depth = 1000 }, &doc, &error) && doc_kind(doc) == kind;
}

bool record_is_object(struct pool *pool, struct str text)
{
	return is_json(pool, text, DOC_OBJECT);
}

bool record_is_list(struct pool *pool, struct str text)
{
	return is_json(pool, text, DOC_ARRAY);
}

bool record_resource(struct registry *registry, const struct doc *record, struct resource *resource)
{
	*resource = (struct resource){
		.type = type_find(registry, record_text(record, "group"), record_text(record, "plural"), record_number(record, "namespaced") != 0),
		.space = record_text(record, "namespace"),
		.name = record_text(record, "name"),
		.live = record_number(record, "live") == RESOURCE_PINNED ? RESOURCE_PINNED : RESOURCE_COUNTED,
		.locked = record_number(record, "locked") != 0,
		.revision = record_number(record, "revision"),
		.edits = record_number(record, "edits"),
		.generation = record_number(record, "generation"),
		.moves = record_number(record, "moves"),
		.meta = record_text(record, "meta"),
		.body = record_text(record, "body"),
		.traits = record_text(record, "traits"),
	};
	(void)record_uid(record, &resource->uid);
	resource->has_root = digest_from_hex(record_text(record, "root"), resource->root.b, sizeof(resource->root.b));
	return resource->type != NULL;
}

static bool has_key(const struct doc *keys, const struct lookup_key *key)
{
	for (size_t i = 0; i < doc_elements(keys); i++) {
		const struct doc *one = doc_at(keys, i);
		if (str_eq_c(record_text(one, "kind"), key->kind) && str_eq(record_text(one, "value"), key->value))
			return true;
	}
	return false;
}

// The record's keys and root are those that the body gives. A body whose root stands elsewhere can't tell which one it is.
static struct str compare_relations(struct registry *registry, const struct doc *record, const struct resource *resource,
	const struct relations *relations)
{
	const struct doc *keys = NULL;

	(void)doc_get(record, STR("keys"), &keys);
	for (size_t i = 0; i < relations->n_keys; i++) {
		if (!has_key(keys, &relations->keys[i]))
			return str_printf(registry->pool, "its body has the %s \"%.*s\", and its keys do not", relations->keys[i].kind,
				STR_ARG(relations->keys[i].value));
	}
	if (doc_elements(keys) != relations->n_keys)
		return str_printf(registry->pool, "has %zu keys, and its body gives %zu", doc_elements(keys), relations->n_keys);
	if (resource->has_root != relations->has_root ||
		(relations->has_root && !relations->root_elsewhere && !uuid_eq(resource->root, relations->root)))
		return STR("belongs to another root than its body says");
	return STR_NONE;
}

bool record_fits(struct registry *registry, const struct doc *record, const struct resource *resource, bool schema, struct str *reason,
	enum outcome *failed)
{
	struct relations relations;

	assert(resource->type != NULL);
	*reason = STR_NONE;
	*failed = resource_verify(registry, resource, schema, &relations);
	if (*failed == OUTCOME_BAD_DOCUMENT)
		*reason = registry->problem->detail;
	else if (*failed == OUTCOME_OK)
		*reason = compare_relations(registry, record, resource, &relations);
	return *failed == OUTCOME_OK && reason->p == NULL;
}
