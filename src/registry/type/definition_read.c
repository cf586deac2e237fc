// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions as they are stored, read into definitions.
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"
#include "registry/core/stored.h"
#include "registry/type/definition_internal.h"
#include "registry/type/type.h"
#include "repr/json/member.h"
#include "repr/json/part.h"
#include "repr/schema/structural.h"

// The member's text, which is part of the tree; "" if there is none.
static struct str text_member(const struct doc *object, const char *name)
{
	return doc_string(doc_member(object, name));
}

static const struct str *text_list(struct pool *pool, const struct doc *list, size_t *n)
{
	struct str *texts = POOL_ARRAY(pool, struct str, doc_elements(list));

	*n = 0;
	for (size_t i = 0; i < doc_elements(list); i++) {
		if (doc_kind(doc_at(list, i)) == DOC_STRING)
			texts[(*n)++] = doc_string(doc_at(list, i));
	}
	return texts;
}

// ---- versions

static void read_columns(struct pool *pool, const struct doc *list, struct definition_details *details)
{
	struct definition_column *columns = POOL_ARRAY(pool, struct definition_column, doc_elements(list));

	for (size_t i = 0; i < doc_elements(list); i++) {
		const struct doc *column = doc_at(list, i), *priority = doc_member(column, "priority");
		columns[i] = (struct definition_column){
			.name = text_member(column, "name"),
			.type = text_member(column, "type"),
			.format = text_member(column, "format"),
			.description = text_member(column, "description"),
			.path = text_member(column, "jsonPath"),
		};
		if (!doc_i64(priority, &columns[i].priority))
			columns[i].priority = 0;
		details->n_columns++;
	}
	details->columns = details->n_columns > 0 ? columns : NULL;
}

static struct definition_details details_of(struct pool *pool, const struct doc *version)
{
	struct definition_details details = { .schema = doc_member(doc_member(version, "schema"), "openAPIV3Schema") };
	struct field_faults faults = field_faults_new(pool);
	const struct field_path root = field_name(NULL, STR(""));

	if (details.schema != NULL)
		details.structural = structural_read(pool, details.schema, &root, &faults);
	read_columns(pool, doc_member(version, "additionalPrinterColumns"), &details);
	return details;
}

const struct definition_details *definition_read_details(struct pool *pool, const struct resource *resource,
	const struct definition *definition)
{
	const struct doc *versions = doc_member(doc_member(resource_body_doc(pool, resource), "spec"), "versions");
	struct definition_details *details = POOL_ARRAY(pool, struct definition_details, definition->n_versions);

	for (size_t i = 0; i < definition->n_versions; i++)
		details[i] = details_of(pool, doc_at(versions, definition->versions[i].place));
	return details;
}

// The part "scale" of a version; NULL: it has none. A path with a NUL can lead to no member, so a version with such a path has
// none either: definitions with such paths are refused, but may be stored from before they were.
static const struct doc *scale_of(const struct doc *version)
{
	static const char *const paths[] = { "specReplicasPath", "statusReplicasPath", "labelSelectorPath" };
	const struct doc *scale = doc_member(doc_member(version, "subresources"), "scale");

	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		struct str path = text_member(scale, paths[i]);
		if (str_find(path, '\0', 0) < path.n)
			return NULL;
	}
	return doc_kind(scale) == DOC_OBJECT ? scale : NULL;
}

static void read_version(const struct doc *doc, bool prunes, size_t place, struct definition_version *version)
{
	const struct doc *scale = scale_of(doc);

	*version = (struct definition_version){
		.name = text_member(doc, "name"),
		.served = doc_member_is_true(doc, "served"),
		.storage = doc_member_is_true(doc, "storage"),
		.prunes = prunes,
		.has_status = doc_kind(doc_member(doc_member(doc, "subresources"), "status")) == DOC_OBJECT,
		.has_scale = scale != NULL,
		.scale = scale,
		.deprecated = doc_member_is_true(doc, "deprecated"),
		.warning = text_member(doc, "deprecationWarning"),
		.place = place,
	};
}

// The key of a version's name for definition_compare_versions(): the kind of version (3: v1, 2: v1beta1, 1: v1alpha1, 0: any
// other name), then its numbers.
static void rank(struct str name, uint64_t key[3])
{
	size_t at = 1, digits;
	uint64_t major;

	key[0] = key[1] = key[2] = 0;
	if (name.n < 2 || name.p[0] != 'v')
		return;
	for (digits = at; digits < name.n && ascii_is_digit(name.p[digits]); digits++)
		;
	if (digits == at || !str_to_u64(str_part(name, at, digits), &major))
		return;
	struct str rest = str_part(name, digits, name.n);
	size_t word = str_starts(rest, STR("beta")) ? 4 : str_starts(rest, STR("alpha")) ? 5 : 0;
	if (rest.n == 0)
		key[0] = 3;
	else if (word > 0 && rest.n > word && str_to_u64(str_part(rest, word, rest.n), &key[2]))
		key[0] = word == 4 ? 2 : 1;
	key[1] = key[0] > 0 ? major : 0;
}

int definition_compare_versions(struct str a, struct str b)
{
	uint64_t x[3], y[3];

	rank(a, x);
	rank(b, y);
	for (size_t i = 0; i < COUNT_OF(x); i++) {
		if (x[i] != y[i])
			return x[i] > y[i] ? -1 : 1;
	}
	return str_cmp(a, b);
}

static int by_preference(const void *a, const void *b)
{
	return definition_compare_versions(((const struct definition_version *)a)->name, ((const struct definition_version *)b)->name);
}

static void read_versions(struct pool *pool, const struct doc *spec, struct definition *definition)
{
	const struct doc *list = doc_member(spec, "versions");
	struct definition_version *versions = POOL_ARRAY(pool, struct definition_version, doc_elements(list));
	bool prunes = !doc_member_is_true(spec, "preserveUnknownFields");

	for (size_t i = 0; i < doc_elements(list); i++)
		read_version(doc_at(list, i), prunes, i, &versions[definition->n_versions++]);
	if (definition->n_versions > 0)
		qsort(versions, definition->n_versions, sizeof(*versions), by_preference);
	definition->versions = versions;
}

// ---- the whole

bool definition_is_forced(const struct doc *meta)
{
	const struct doc *label = doc_member(doc_member(meta, "labels"), CRD_SHARING_LABEL);

	return str_eq_nocase(doc_string(label), STR(CRD_FORCED));
}

bool definition_in_range(const struct doc *range, const struct doc *annotations)
{
	for (size_t i = 0; i < doc_elements(range); i++) {
		struct str item = doc_string(doc_at(range, i));
		size_t equals = str_find(item, '=', 0);
		struct str name = str_part(item, 0, equals);
		const struct doc *value;
		if (str_eq(item, STR("*")))
			return true;
		if (equals < item.n && !str_eq(name, STR(LAST_APPLIED_ANNOTATION)) && doc_get(annotations, name, &value) &&
			doc_kind(value) == DOC_STRING && str_eq(doc_string(value), str_part(item, equals + 1, item.n)))
			return true;
	}
	return false;
}

static bool is_established(const struct doc *body)
{
	const struct doc *conditions = doc_member(doc_member(body, "status"), "conditions");

	for (size_t i = 0; i < doc_elements(conditions); i++) {
		const struct doc *condition = doc_at(conditions, i);
		if (str_eq(doc_string(doc_member(condition, "type")), STR("Established")))
			return str_eq(doc_string(doc_member(condition, "status")), STR("True"));
	}
	return false;
}

// The body without schemas and columns, and without what definition_read() takes no notice of: of the status, all but the
// conditions' types and statuses. If it can't be read, reading the whole tells why (registry/core/stored.h). What was parsed
// holds the whole text, so if pool lives longer than the request, it gets a copy of what is left of it.
static const struct doc *read_most(struct registry *registry, struct pool *pool, const struct resource *resource)
{
	static const struct str later[] = { STR_INIT("schema"), STR_INIT("additionalPrinterColumns"), STR_INIT("conversion"),
		STR_INIT("acceptedNames"), STR_INIT("storedVersions"), STR_INIT("lastTransitionTime"), STR_INIT("reason"),
		STR_INIT("message"), { NULL, 0 } };
	struct pool *own = registry->pool;
	struct pool_mark mark = pool_mark(own);
	struct doc *body;
	struct str error;

	if (!doc_parse_json_without(own, resource->body, (struct doc_limits){ .depth = SIZE_MAX }, later, &body, &error))
		return resource_body_doc(pool, resource);
	if (pool == own)
		return body;
	body = doc_copy(pool, body);
	pool_rewind(own, mark);
	return body;
}

bool definition_read(struct registry *registry, struct pool *pool, const struct resource *resource,
	struct definition *definition)
{
	const struct doc *body = read_most(registry, pool, resource), *spec = doc_member(body, "spec");
	const struct doc *names = doc_member(spec, "names");
	bool namespaced = str_eq(doc_string(doc_member(spec, "scope")), STR("Namespaced"));
	bool is_systems = str_eq_c(resource->tenant, TENANT_SYSTEM);

	*definition = (struct definition){
		.type = type_find(registry, text_member(spec, "group"), text_member(names, "plural"), namespaced),
		.stored = true,
		.kind = text_member(names, "kind"),
		.list_kind = text_member(names, "listKind"),
		.singular = text_member(names, "singular"),
		.scope = namespaced ? SCOPE_NAMESPACED : SCOPE_TENANT,
		.verbs = VERBS_ALL,
		.tenant_verbs = VERBS_ALL,
		.owner = str_dup(pool, resource->tenant),
		.uid = resource->uid,
		.forced = is_systems && definition_is_forced(resource_meta_doc(pool, resource)),
		.range = is_systems ? doc_member(spec, "applicableRange") : NULL,
	};
	definition->short_names = text_list(pool, doc_member(names, "shortNames"), &definition->n_short_names);
	definition->categories = text_list(pool, doc_member(names, "categories"), &definition->n_categories);
	read_versions(pool, spec, definition);
	return definition->type != NULL && definition->n_versions > 0 && is_established(body);
}
