// SPDX-License-Identifier: Apache-2.0
// The types that a tenant may use: which definition applies to each, and by which rule.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/discovery/discovery.h"
#include "base/pool.h"
#include "registry/tenant/tenant.h"

static struct doc *versions_doc(struct pool *pool, const struct definition *definition)
{
	struct doc *list = doc_new_array(pool);

	for (size_t i = 0; i < definition->n_versions; i++)
		if (definition->versions[i].served)
			doc_push(list, doc_new_string(pool, definition->versions[i].name));
	return list;
}

struct doc *definition_doc(struct pool *pool, const struct definition *definition)
{
	if (definition == NULL)
		return NULL;
	struct doc *doc = doc_new_object(pool);
	doc_set_str(pool, doc, "kind", definition->kind);
	doc_set(doc, STR("versions"), versions_doc(pool, definition));
	doc_set(doc, STR("builtIn"), doc_new_bool(pool, definition->builtin));
	if (definition->builtin)
		return doc;
	doc_set_str(pool, doc, "tenant", definition->owner);
	doc_set_str(pool, doc, "uid", uuid_str(pool, definition->uid));
	doc_set(doc, STR("forced"), doc_new_bool(pool, definition->forced));
	return doc;
}

// The tenant that the address names, which must exist: built-in types answer for every name, so nothing else would notice.
static enum outcome read_tenant(struct call *call, struct str *name)
{
	struct tenant tenant;
	enum outcome outcome = target_read_one_tenant(call, name);

	// The system space has its tenant once something is in it.
	if (outcome != OUTCOME_OK || call->realm.kind == REALM_SYSTEM)
		return outcome;
	return tenant_get(call->registry, *name, &tenant);
}

enum outcome explain_type(struct call *call)
{
	struct pool *pool = call->pool;
	struct str tenant, name = call_param(call, "type");
	size_t dot = str_find(name, '.', 0);
	struct str plural = str_part(name, 0, dot), group = str_part(name, dot + 1, name.n);
	const struct definition *definition = NULL;
	struct definition_reason reason = { 0 };
	struct doc *doc = doc_new_object(pool);
	enum outcome outcome = read_tenant(call, &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = definition_find(call->registry, tenant, group, plural, &definition, &reason);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	doc_set_str(pool, doc, "type", name);
	doc_set_str(pool, doc, "tenant", tenant);
	doc_set(doc, STR("answers"), definition_doc(pool, outcome == OUTCOME_OK ? definition : NULL));
	doc_set_str(pool, doc, "rule", str_c(reason.rule));
	if (reason.policy != NULL)
		doc_set_str(pool, doc, "policy", str_c(reason.policy));
	// A definition of the system that is not shared with this tenant must not become known to it.
	bool is_operator = spaces_may_as_operator(call, VERB_GET);
	bool tells = is_operator || reason.shared == NULL || reason.in_range || reason.shared->forced;
	doc_set_str(pool, doc, "detail", is_operator ? reason.detail : reason.detail_for_tenant);
	doc_set(doc, STR("own"), definition_doc(pool, reason.own));
	doc_set(doc, STR("shared"), definition_doc(pool, tells ? reason.shared : NULL));
	doc_set(doc, STR("inRange"), doc_new_bool(pool, reason.in_range));
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}

static struct doc *type_doc(struct call *call, const struct definition *definition)
{
	struct doc *doc = definition_doc(call->pool, definition), *names = doc_new_array(call->pool);

	for (size_t i = 0; i < definition->n_short_names; i++)
		doc_push(names, doc_new_string(call->pool, definition->short_names[i]));
	doc_set_str(call->pool, doc, "type", type_qualified_name(call->pool, definition));
	doc_set(doc, STR("namespaced"), doc_new_bool(call->pool, definition_is_namespaced(definition)));
	doc_set(doc, STR("shortNames"), names);
	return doc;
}

enum outcome list_types(struct call *call)
{
	const struct definition *const *list;
	struct doc *doc = doc_new_object(call->pool), *types = doc_new_array(call->pool);
	struct str tenant;
	size_t n;
	enum outcome outcome = read_tenant(call, &tenant);

	if (outcome == OUTCOME_OK)
		outcome = definition_list(call->registry, tenant, &list, &n);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++)
		doc_push(types, type_doc(call, list[i]));
	doc_set(doc, STR("types"), types);
	spaces_write_json_doc(call, doc);
	return OUTCOME_OK;
}
