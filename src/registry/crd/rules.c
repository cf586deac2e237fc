// SPDX-License-Identifier: Apache-2.0
// Validates and completes CustomResourceDefinitions. The texts of faults are those of the Kubernetes API server.
#include "base/base.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/crd/internal.h"
#include "registry/crd/rules.h"
#include "registry/type/definition_internal.h"
#include "registry/type/type.h"
#include "repr/json/member.h"
#include "repr/schema/structural.h"

enum { LABEL_MAX = 63 };

// What the stored definition does that a new one must not do. An update may go on doing it: else the definition could not even
// get a label.
struct stored_schemas {
	bool known;             // the rest is set
	bool breaks_rules;      // a schema breaks STRUCTURAL_ALL_RULES
	bool has_idle_defaults; // as below
};

// A definition that is being checked.
struct checking {
	struct draft *draft;
	struct pool *pool;
	struct field_faults faults;
	struct doc *spec, *names; // copies, which are completed
	struct str group, plural, kind;
	bool namespaced, forced;
	bool has_idle_defaults;   // it has defaults, and keeps unknown fields, so that the defaults have no effect
	struct stored_schemas stored;
};

static struct field_path spec_path(void)
{
	return field_name(NULL, STR("spec"));
}

static struct str text_of(struct checking *checking, const struct doc *object, const struct field_path *up,
	const char *name, enum presence presence)
{
	return definition_check_text(object, up, name, presence, &checking->faults);
}

// ---- names

static bool is_label(struct str s)
{
	bool ok = s.n > 0 && s.n <= LABEL_MAX && s.p[0] != '-' && s.p[s.n - 1] != '-';

	for (size_t i = 0; ok && i < s.n; i++)
		ok = ascii_is_lower_alnum(s.p[i]) || s.p[i] == '-';
	return ok;
}

// The name of a type begins with a letter. A label of the group's domain need not.
static bool is_name(struct str s)
{
	return is_label(s) && ascii_is_lower(s.p[0]);
}

// Addresses have these words in the place of plural names: .../namespaces/N/status is the status of namespace N.
static bool is_word_of_addresses(struct str s)
{
	static const char *const words[] = { "finalize", "namespaces", "status", "tenants" };

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (str_eq_c(s, words[i]))
			return true;
	}
	return false;
}

static bool is_domain(struct str s)
{
	size_t from = 0, labels = 0;

	for (bool more = s.n <= 253; more; labels++) {
		size_t dot = str_find(s, '.', from);
		if (!is_label(str_part(s, from, dot)))
			return false;
		more = dot < s.n;
		from = dot + 1;
	}
	return labels > 1;
}

// Does a built-in type have this group?
static bool is_builtin_group(struct str group)
{
	for (size_t i = 0; i < n_builtins; i++) {
		if (str_eq_c(group, builtins[i].group))
			return true;
	}
	return false;
}

static void check_label(struct checking *checking, const struct field_path *up, const char *name, struct str value)
{
	const struct field_path at = field_name(up, str_c(name));

	if (value.n > 0 && !is_name(value))
		field_invalid_text(&checking->faults, &at, value,
			"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
			"character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
			"is '[a-z]([-a-z0-9]*[a-z0-9])?')");
}

static void check_name_list(struct checking *checking, const struct doc *names, const struct field_path *up, const char *name)
{
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *list = doc_member(names, name);

	if (list != NULL && doc_kind(list) != DOC_ARRAY)
		field_invalid(&checking->faults, &at, list, "must be an array");
	for (size_t i = 0; i < doc_elements(list); i++) {
		const struct field_path item = field_index(&at, i);
		if (!is_name(doc_string(doc_at(list, i))))
			field_invalid(&checking->faults, &item, doc_at(list, i), "must be a DNS-1035 label");
	}
}

// Checks spec.names, and completes the copy of it that will be stored.
static void check_names(struct checking *checking)
{
	const struct field_path spec = spec_path(), at = field_name(&spec, STR("names"));
	const struct doc *names = doc_member(checking->spec, "names");

	checking->names = doc_kind(names) == DOC_OBJECT ? doc_copy(checking->pool, names) : doc_new_object(checking->pool);
	checking->plural = text_of(checking, names, &at, "plural", REQUIRED);
	checking->kind = text_of(checking, names, &at, "kind", REQUIRED);
	check_label(checking, &at, "plural", checking->plural);
	const struct field_path plural_at = field_name(&at, STR("plural"));
	if (is_word_of_addresses(checking->plural))
		field_invalid_text(&checking->faults, &plural_at, checking->plural,
			"addresses have this word with another meaning, so that the type could not be reached: take another");
	check_label(checking, &at, "kind", ascii_lowered(checking->pool, checking->kind));
	struct str singular = text_of(checking, names, &at, "singular", OPTIONAL);
	check_label(checking, &at, "singular", singular);
	if (singular.n == 0)
		doc_set_str(checking->pool, checking->names, "singular", ascii_lowered(checking->pool, checking->kind));
	struct str list_kind = text_of(checking, names, &at, "listKind", OPTIONAL);
	const struct field_path list_kind_at = field_name(&at, STR("listKind"));
	if (list_kind.n > 0 && str_eq(list_kind, checking->kind))
		field_invalid_text(&checking->faults, &list_kind_at, list_kind, "kind and listKind may not be the same");
	if (list_kind.n == 0)
		doc_set_str(checking->pool, checking->names, "listKind",
			str_printf(checking->pool, "%.*sList", STR_ARG(checking->kind)));
	check_name_list(checking, names, &at, "shortNames");
	check_name_list(checking, names, &at, "categories");
	doc_set(checking->spec, STR("names"), checking->names);
}

static void check_identity(struct checking *checking)
{
	static const char *const scopes[] = { "Namespaced", "Cluster", "Tenant", NULL };
	const struct field_path spec = spec_path(), group = field_name(&spec, STR("group"));
	const struct field_path scope_at = field_name(&spec, STR("scope"));
	const struct field_path metadata = field_name(NULL, STR("metadata")), name = field_name(&metadata, STR("name"));

	checking->group = text_of(checking, checking->spec, &spec, "group", REQUIRED);
	if (checking->group.n > 0 && !is_domain(checking->group))
		field_invalid_text(&checking->faults, &group, checking->group, "should be a domain with at least one dot");
	else if (checking->group.n > 0 && is_builtin_group(checking->group))
		field_invalid_text(&checking->faults, &group, checking->group,
			"is a group of the service itself: take one of your own");
	check_names(checking);
	struct str scope = text_of(checking, checking->spec, &spec, "scope", REQUIRED);
	checking->namespaced = str_eq(scope, STR("Namespaced"));
	if (scope.n > 0 && !checking->namespaced && !str_eq(scope, STR("Cluster")) && !str_eq(scope, STR("Tenant")))
		field_not_supported(&checking->faults, &scope_at, scope, scopes);
	struct str full =
		str_printf(checking->pool, "%.*s.%.*s", STR_ARG(checking->plural), STR_ARG(checking->group));
	if (!str_eq(full, checking->draft->address->name))
		field_invalid_text(&checking->faults, &name, checking->draft->address->name,
			"must be spec.names.plural+\".\"+spec.group");
}

// ---- versions

static bool spec_prunes(const struct doc *spec)
{
	return !doc_member_is_true(spec, "preserveUnknownFields");
}

static const struct doc *version_schema(const struct doc *version)
{
	return doc_member(doc_member(version, "schema"), "openAPIV3Schema");
}

static bool must_be_structural(const struct structural *schema, bool prunes)
{
	return prunes || structural_has_extensions(schema);
}

static const struct stored_schemas *stored_schemas(struct checking *checking)
{
	const struct doc *spec = doc_member(checking->draft->before, "spec"), *versions = doc_member(spec, "versions");
	const struct field_path at = field_name(NULL, STR("schema"));
	struct field_faults faults = field_faults_new(checking->pool);
	struct stored_schemas *stored = &checking->stored;

	for (size_t i = 0; !stored->known && i < doc_elements(versions); i++) {
		const struct doc *doc = version_schema(doc_at(versions, i));
		const struct structural *schema = doc != NULL ? structural_read(checking->pool, doc, &at, &faults) : NULL;
		if (schema == NULL)
			continue;
		if (must_be_structural(schema, spec_prunes(spec)))
			structural_check(schema, &at, STRUCTURAL_ALL_RULES, &faults);
		stored->breaks_rules = stored->breaks_rules || faults.n > 0;
		stored->has_idle_defaults = stored->has_idle_defaults || (!spec_prunes(spec) && structural_has_defaults(schema));
	}
	stored->known = true;
	return stored;
}

static void check_structure(struct checking *checking, const struct structural *schema, const struct field_path *at, bool prunes)
{
	struct field_faults faults = field_faults_new(checking->pool);

	if (must_be_structural(schema, prunes))
		structural_check(schema, at, STRUCTURAL_ALL_RULES, &faults);
	if (faults.n == 0)
		return;
	if (!stored_schemas(checking)->breaks_rules)
		structural_check(schema, at, STRUCTURAL_ALL_RULES, &checking->faults);
	else if (prunes)
		structural_check(schema, at, STRUCTURAL_OLD_RULES, &checking->faults);
}

static void check_schema(struct checking *checking, const struct doc *version, const struct field_path *at, bool prunes)
{
	const struct field_path schema = field_name(at, STR("schema")), root = field_name(&schema, STR("openAPIV3Schema"));
	const struct doc *doc = version_schema(version);

	if (doc == NULL) {
		if (prunes)
			field_required(&checking->faults, &root, "schemas are required");
		return;
	}
	const struct structural *structural = structural_read(checking->pool, doc, &root, &checking->faults);
	if (structural == NULL)
		return;
	check_structure(checking, structural, &root, prunes);
	checking->has_idle_defaults = checking->has_idle_defaults || (!prunes && structural_has_defaults(structural));
}

static void check_flag(struct checking *checking, const struct doc *version, const struct field_path *at, const char *name)
{
	const struct field_path flag = field_name(at, str_c(name));

	if (doc_kind(doc_member(version, name)) != DOC_BOOL)
		field_required(&checking->faults, &flag, "true or false");
}

static bool is_repeated(const struct doc *versions, size_t i, struct str name)
{
	for (size_t k = 0; k < i; k++) {
		if (str_eq(doc_string(doc_member(doc_at(versions, k), "name")), name))
			return true;
	}
	return false;
}

static void check_versions(struct checking *checking)
{
	const struct field_path spec = spec_path(), at = field_name(&spec, STR("versions"));
	const struct field_path of_unknown = field_name(&spec, STR("preserveUnknownFields"));
	const struct doc *versions = doc_member(checking->spec, "versions");
	bool prunes = spec_prunes(checking->spec);
	size_t storing = 0;

	if (doc_elements(versions) == 0) {
		field_required(&checking->faults, &at, "at least one version");
		return;
	}
	for (size_t i = 0; i < doc_length(versions); i++) {
		const struct doc *version = doc_at(versions, i);
		const struct field_path item = field_index(&at, i), name_at = field_name(&item, STR("name"));
		struct str name = text_of(checking, version, &item, "name", REQUIRED);
		check_label(checking, &item, "name", name);
		if (name.n > 0 && is_repeated(versions, i, name))
			field_duplicate(&checking->faults, &name_at, doc_member(version, "name"));
		check_flag(checking, version, &item, "served");
		check_flag(checking, version, &item, "storage");
		check_schema(checking, version, &item, prunes);
		definition_check_parts(version, &item, &checking->faults);
		storing += doc_member_is_true(version, "storage") ? 1 : 0;
	}
	if (storing != 1)
		field_invalid(&checking->faults, &at, versions, "must have exactly one version marked as storage version");
	if (checking->has_idle_defaults && !stored_schemas(checking)->has_idle_defaults)
		field_invalid(&checking->faults, &of_unknown, doc_member(checking->spec, "preserveUnknownFields"),
			"must be false in order to use defaults in the schema");
}

// ---- sharing, conversion, what must not change

static void check_range(struct checking *checking)
{
	const struct field_path spec = spec_path(), at = field_name(&spec, STR("applicableRange"));
	const struct doc *range = doc_member(checking->spec, "applicableRange");

	if (range == NULL || !str_eq_c(checking->draft->address->tenant, TENANT_SYSTEM))
		return;
	if (doc_kind(range) != DOC_ARRAY) {
		field_invalid(&checking->faults, &at, range, "must be a list of \"key=value\" or \"*\"");
		return;
	}
	bool all = false;
	for (size_t i = 0; i < doc_length(range); i++) {
		const struct field_path item = field_index(&at, i);
		struct str text = doc_string(doc_at(range, i));
		all = all || str_eq(text, STR("*"));
		if (!str_eq(text, STR("*")) && (text.n == 0 || text.p[0] == '=' || str_find(text, '=', 0) == text.n))
			field_invalid(&checking->faults, &item, doc_at(range, i),
				"must be \"key=value\", which is looked for among the tenants' annotations, or \"*\"");
	}
	if (checking->forced && !all && doc_length(range) > 0)
		field_invalid(&checking->faults, &at, range,
			"a definition that is forced is for all tenants: leave the range out, or the label");
}

static void check_conversion(struct checking *checking)
{
	static const char *const strategies[] = { "None", NULL };
	const struct field_path spec = spec_path(), at = field_name(&spec, STR("conversion"));
	const struct field_path strategy_at = field_name(&at, STR("strategy"));
	const struct doc *strategy = doc_member(doc_member(checking->spec, "conversion"), "strategy");
	struct doc *none = doc_new_object(checking->pool);

	if (doc_string(strategy).n > 0 && !str_eq(doc_string(strategy), STR("None")))
		field_not_supported(&checking->faults, &strategy_at, doc_string(strategy), strategies);
	doc_set_str(checking->pool, none, "strategy", STR("None"));
	doc_set(checking->spec, STR("conversion"), none);
}

static void check_unchanged(struct checking *checking)
{
	const struct field_path spec = spec_path(), at = field_name(&spec, STR("scope"));
	const struct field_path names_at = field_name(&spec, STR("names")), kind_at = field_name(&names_at, STR("kind"));
	const struct doc *before = doc_member(checking->draft->before, "spec");
	struct str scope = doc_string(doc_member(before, "scope")), kind = doc_string(doc_member(doc_member(before, "names"), "kind"));

	// Group and plural are in the name, which cannot change. For a missing kind there is a fault already.
	if (kind.n > 0 && checking->kind.n > 0 && !str_eq(kind, checking->kind))
		field_invalid_text(&checking->faults, &kind_at, checking->kind, "field is immutable");
	if (scope.n > 0 && str_eq(scope, STR("Namespaced")) != checking->namespaced)
		field_invalid(&checking->faults, &at, doc_member(checking->spec, "scope"), "field is immutable");
}

// Does the definition have a version that the other one serves?
static bool shares_version(const struct checking *checking, const struct definition *other)
{
	const struct doc *versions = doc_member(checking->spec, "versions");

	for (size_t i = 0; i < doc_elements(versions); i++)
		if (definition_version(other, doc_string(doc_member(doc_at(versions, i), "name"))) != NULL)
			return true;
	return false;
}

// A new definition of a tenant may have neither the name of a forced one nor its kind. One that was there before is kept as it
// is: it serves nobody as long as the other one is forced.
static enum outcome check_forced(struct checking *checking)
{
	struct registry *registry = checking->draft->registry;
	const struct address *address = checking->draft->address;
	const struct definition *definition;
	struct definition_reason reason;

	if (checking->draft->current != NULL || str_eq_c(address->tenant, TENANT_SYSTEM))
		return OUTCOME_OK;
	enum outcome outcome =
		definition_find(registry, address->tenant, checking->group, checking->plural, &definition, &reason);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	*registry->problem = (struct problem){ .n_members = 0 };
	if (outcome == OUTCOME_OK && strcmp(reason.rule, "forced") == 0)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the operator forces a definition of %.*s on every tenant: use that, or another name", STR_ARG(address->name));
	outcome = definition_find_forced(registry, checking->group, checking->kind, &definition);
	if (outcome != OUTCOME_OK || definition == NULL || !shares_version(checking, definition))
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT,
		"the operator forces %.*s, which has the kind %.*s, on every tenant: use that, or another kind",
		STR_ARG(definition->type->plural), STR_ARG(checking->kind));
}

// ---- the status

static struct doc *condition(struct checking *checking, const char *type, const char *reason, const char *message)
{
	const struct doc *old = doc_member(doc_member(checking->draft->before, "status"), "conditions");
	struct doc *made = doc_new_object(checking->pool);
	struct buf time = buf_new(checking->pool, 32);

	for (size_t i = 0; i < doc_elements(old); i++) {
		if (str_eq_c(doc_string(doc_member(doc_at(old, i), "type")), type))
			return doc_copy(checking->pool, doc_at(old, i));
	}
	clock_add_rfc3339(&time, checking->draft->registry->stamp_us / 1000000 * 1000000);
	doc_set_str(checking->pool, made, "lastTransitionTime", buf_str(&time));
	doc_set_str(checking->pool, made, "message", str_c(message));
	doc_set_str(checking->pool, made, "reason", str_c(reason));
	doc_set_str(checking->pool, made, "status", STR("True"));
	doc_set_str(checking->pool, made, "type", str_c(type));
	return made;
}

static bool has_text(const struct doc *list, struct str text)
{
	for (size_t i = 0; i < doc_elements(list); i++)
		if (str_eq(doc_string(doc_at(list, i)), text))
			return true;
	return false;
}

// The versions in which objects may be stored: each version that ever was the storage version, until a client that has converted
// the objects writes a status without that version. Until then the version must stay in spec.versions.
static struct doc *stored_versions(struct checking *checking)
{
	const struct field_path status_at = field_name(NULL, STR("status"));
	const struct field_path at = field_name(&status_at, STR("storedVersions"));
	const struct doc *versions = doc_member(checking->spec, "versions"), *before = checking->draft->before;
	const struct doc *given = doc_member(doc_member(checking->draft->body, "status"), "storedVersions");
	const struct doc *old = doc_member(doc_member(before, "status"), "storedVersions");
	const struct doc *from = before != NULL && doc_kind(given) == DOC_ARRAY ? given : old;
	struct doc *list = doc_kind(from) == DOC_ARRAY ? doc_copy(checking->pool, from) : doc_new_array(checking->pool);
	struct doc *names = doc_new_array(checking->pool);

	for (size_t i = 0; i < doc_length(versions); i++) {
		struct str name = doc_string(doc_member(doc_at(versions, i), "name"));
		doc_push(names, doc_new_string(checking->pool, name));
		if (doc_member_is_true(doc_at(versions, i), "storage") && !has_text(list, name))
			doc_push(list, doc_new_string(checking->pool, name));
	}
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path item = field_index(&at, i);
		if (!has_text(names, doc_string(doc_at(list, i))))
			field_invalid(&checking->faults, &item, doc_at(list, i), "must appear in spec.versions");
	}
	return list;
}

static void set_status(struct checking *checking, struct doc *stored, struct doc *body)
{
	struct doc *status = doc_new_object(checking->pool), *conditions = doc_new_array(checking->pool);

	doc_push(conditions, condition(checking, "NamesAccepted", "NoConflicts", "no conflicts found"));
	doc_push(conditions,
		condition(checking, "Established", "InitialNamesAccepted", "the initial names have been accepted"));
	doc_set(status, STR("conditions"), conditions);
	doc_set(status, STR("acceptedNames"), doc_copy(checking->pool, checking->names));
	doc_set(status, STR("storedVersions"), stored);
	doc_set(body, STR("status"), status);
}

// ---- the rules

// Makes sure that table `types` has the definition's type.
static enum outcome ensure_type(struct checking *checking)
{
	const struct type like = {
		.group = checking->group,
		.version = doc_string(doc_member(doc_at(doc_member(checking->spec, "versions"), 0), "name")),
		.kind = checking->kind,
		.plural = checking->plural,
		.singular = doc_string(doc_member(checking->names, "singular")),
		.namespaced = checking->namespaced,
	};

	return type_ensure(checking->draft->registry, &like);
}

// The bytes of the definition as it is stored, and as it will be with that body.
static struct definition_bytes bytes_of(const struct draft *draft, const struct doc *body)
{
	const struct resource *current = draft->current;
	struct pool *scratch = pool_scratch(draft->registry->pool, SIZE_MAX);
	struct buf text = buf_new(scratch, 0);

	doc_write_json(body, &text);
	const struct definition_bytes bytes = {
		.before = current != NULL ? current->meta.n + current->body.n : 0, .after = draft->meta.n + text.n
	};
	pool_scratch_end(draft->registry->pool, scratch);
	return bytes;
}

static enum outcome complete(struct draft *draft)
{
	struct pool *pool = draft->registry->pool;
	const struct doc *spec = doc_member(draft->body, "spec");
	struct checking checking = {
		.draft = draft,
		.pool = pool,
		.faults = field_faults_new(pool),
		.spec = doc_kind(spec) == DOC_OBJECT ? doc_copy(pool, spec) : doc_new_object(pool),
		.forced = str_eq_c(draft->address->tenant, TENANT_SYSTEM) &&
			definition_is_forced(stored_document(pool, STORED_NEW, draft->meta)),
	};

	check_identity(&checking);
	check_versions(&checking);
	check_range(&checking);
	check_conversion(&checking);
	check_unchanged(&checking);
	// Without valid names there is nothing to compare storedVersions with.
	struct doc *stored = checking.faults.n == 0 ? stored_versions(&checking) : NULL;
	if (checking.faults.n > 0)
		return registry_fail_faults(draft->registry,
			str_printf(pool, "CustomResourceDefinition \"%.*s\"", STR_ARG(draft->address->name)), &checking.faults);
	struct doc *body = doc_new_object(pool);
	doc_set(body, STR("spec"), checking.spec);
	set_status(&checking, stored, body);
	enum outcome outcome = check_forced(&checking);
	if (outcome == OUTCOME_OK)
		outcome = definition_fits(draft->registry, draft->address, checking.group, checking.names, bytes_of(draft, body));
	if (outcome == OUTCOME_OK)
		outcome = ensure_type(&checking);
	if (outcome == OUTCOME_OK)
		draft->body = body;
	return outcome;
}

// Another definition may have taken one of this one's names since it was deleted. A definition that the operator has forced since
// then is no obstacle, as it would be for a new one.
static enum outcome may_recover(struct registry *registry, const struct resource *resource, struct str tenant,
	const struct doc *body)
{
	const struct address address = { .tenant = tenant, .type = resource->type, .space = STR(""), .name = resource->name };
	const struct doc *spec = doc_member(body, "spec");
	const struct definition_bytes bytes = { .after = resource->meta.n + resource->body.n };

	return definition_fits(registry, &address, doc_string(doc_member(spec, "group")), doc_member(spec, "names"), bytes);
}

// Definitions have no lookup keys and no trees.
static void relate(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	UNUSED(pool);
	UNUSED(body);
	UNUSED(uid);
	*relations = (struct relations){ .n_keys = 0 };
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	UNUSED(uid);
	UNUSED(key);
	return registry_fail(registry, OUTCOME_NAME_TAKEN, "there is a definition of that name: delete or move it first");
}

const struct type_rules crd_rules = {
	.group = CRD_GROUP,
	.plural = CRD_PLURAL,
	.noun = "CustomResourceDefinition",
	.title = "CustomResourceDefinition",
	.has_names = true,
	.for_admins = FOR_ADMINS_CHANGES,
	.complete = complete,
	.relate = relate,
	.may_recover = may_recover,
	.taken = taken,
};
