// SPDX-License-Identifier: Apache-2.0
// Conditions and orders of lists: what the parameters of a list's call select of a tenant's resources, of all resources, or of
// all tenants.
#include "base/base.h"

#include "api/selector.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/log/selectable.h"
#include "registry/resource/resource.h"
#include "registry/resource/selection.h"
#include "registry/tenant/selection.h"
#include "registry/type/definition.h"
#include "registry/type/type.h"

// The parameters with which a list is a selection. The others are those of every list.
static const char *const parameters[] = { "labels", "fields", "metadata", "text", "tier", "created_since", "created_before",
	"updated_since", "updated_before", "sort", "order" };

static bool is_parameter(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(parameters); i++) {
		if (strcmp(name, parameters[i]) == 0)
			return true;
	}
	return false;
}

bool tenancy_selects(const struct call *call)
{
	for (size_t i = 0; i < call->match.n; i++) {
		if (is_parameter(call->match.values[i].name))
			return true;
	}
	return false;
}

void tenancy_keep_selection(const struct call *call, struct buf *url)
{
	for (size_t i = 0; i < call->match.n; i++) {
		const char *name = call->match.values[i].name;
		if (!is_parameter(name))
			continue;
		buf_addf(url, "&%s=", name);
		uri_add_value(url, call->match.values[i].value);
	}
}

// ---- what lists of resources and of tenants have in common

struct conditions_of_list {
	enum selection_order order;
	bool descending;
	struct str text;
	struct time_span created, updated;
	const struct label_selector *labels; // NULL: any
};

static enum outcome read_span(struct call *call, const char *since, const char *before, struct time_span *span)
{
	*span = TIME_SPAN_ANY;
	enum outcome outcome = tenancy_read_time(call, since, &span->since_us);
	if (outcome == OUTCOME_OK)
		outcome = tenancy_read_time(call, before, &span->before_us);
	if (outcome == OUTCOME_OK && span->since_us >= span->before_us)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "%s must be an earlier time than %s", since, before);
	return outcome;
}

// Reads a parameter with the grammar of label selectors. *selector: NULL if it is not given, or selects everything.
static enum outcome read_selector(struct call *call, const char *name, const struct label_selector **selector)
{
	struct str text = call_param(call, name), error;

	*selector = NULL;
	if (text.p == NULL)
		return OUTCOME_OK;
	if (!label_selector_parse(call->pool, text, selector, &error))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "%s: %.*s", name, STR_ARG(error));
	if (label_selector_is_empty(*selector))
		*selector = NULL;
	return OUTCOME_OK;
}

// The WADL has no other words.
static enum selection_order read_order(const struct call *call)
{
	struct str sort = call_param(call, "sort");

	return str_eq(sort, STR("created")) ? SELECTION_BY_CREATION : str_eq(sort, STR("updated")) ? SELECTION_BY_CHANGE : SELECTION_BY_NAME;
}

static enum outcome read_conditions(struct call *call, struct conditions_of_list *conditions)
{
	*conditions = (struct conditions_of_list){
		.order = read_order(call),
		.descending = str_eq(call_param(call, "order"), STR("desc")),
		.text = call_param(call, "text"),
	};
	enum outcome outcome = tenancy_check_text(call, "text");
	if (outcome == OUTCOME_OK)
		outcome = read_span(call, "created_since", "created_before", &conditions->created);
	if (outcome == OUTCOME_OK)
		outcome = read_span(call, "updated_since", "updated_before", &conditions->updated);
	return outcome == OUTCOME_OK ? read_selector(call, "labels", &conditions->labels) : outcome;
}

// ---- resources

struct resource_wish {
	struct pool *scratch; // cleared for each document
	const struct label_selector *labels; // NULL: any
	const struct field_selector *fields; // NULL: any
};

// The members that a field selector may name: name, namespace, and the fields of the type.
static const struct doc *fields_of(struct pool *pool, const struct resource *resource)
{
	struct doc *object = stored_document(pool, STORED_NEW, selectable_of_resource(pool, resource)), *metadata = doc_new_object(pool);

	doc_set_str(pool, metadata, "name", resource->name);
	doc_set_str(pool, metadata, "namespace", resource->space);
	doc_set(object, STR("metadata"), metadata);
	return object;
}

static bool wants_resource(void *arg, const struct resource *resource)
{
	const struct resource_wish *wish = arg;
	const struct doc *labels = NULL;

	pool_clear(wish->scratch);
	if (wish->labels != NULL)
		(void)doc_get(resource_meta_doc(wish->scratch, resource), STR("labels"), &labels);
	return (wish->labels == NULL || label_selector_matches(wish->labels, labels)) &&
		(wish->fields == NULL || field_selector_matches(wish->fields, fields_of(wish->scratch, resource)));
}

// type NULL: any, which have no fields but those that all have.
static const char *const *fields_of_type(const struct type *type)
{
	static const char *const none[] = { NULL };

	return type != NULL ? selectable_fields(type) : none;
}

static struct str field_names(struct pool *pool, const struct type *type)
{
	struct buf names = buf_new(pool, 128);

	BUF_LIT(&names, "metadata.name, metadata.namespace");
	for (const char *const *field = fields_of_type(type); *field != NULL; field++)
		buf_addf(&names, ", %s", *field);
	return buf_str(&names);
}

static enum outcome read_fields(struct call *call, const struct type *type, const struct field_selector **fields)
{
	struct str text = call_param(call, "fields"), error;

	*fields = NULL;
	if (text.p == NULL)
		return OUTCOME_OK;
	if (!field_selector_parse(call->pool, text, fields_of_type(type), fields, &error)) {
		struct str known = field_names(call->pool, type);
		return call_fail(call, OUTCOME_BAD_PARAMETER, "fields: %.*s; %.*s have %.*s", STR_ARG(error),
			STR_ARG(type != NULL ? type->plural : STR("resources of any type")), STR_ARG(known));
	}
	if (field_selector_is_empty(*fields))
		*fields = NULL;
	return OUTCOME_OK;
}

// Reads labels and fields. type: of all resources that the selection may have; NULL: of several types.
static enum outcome read_wish(struct call *call, const struct type *type, const struct conditions_of_list *conditions,
	struct resource_selection *selection, struct resource_wish *wish)
{
	enum outcome outcome = read_fields(call, type, &wish->fields);

	if (outcome != OUTCOME_OK)
		return outcome;
	wish->labels = conditions->labels;
	if (wish->labels != NULL)
		selection->meta_has = label_selector_trace(call->pool, wish->labels);
	if (wish->fields != NULL) {
		selection->name = field_selector_value(wish->fields, "metadata.name");
		// The phase of a namespace is not stored.
		if (type != type_namespaces(call->registry))
			selection->body_has = field_selector_trace(call->pool, wish->fields);
	}
	return OUTCOME_OK;
}

static enum outcome select_resources(struct call *call, struct resource_selection *selection, struct resource_wish *wish,
	struct resource_selected *selected)
{
	if (wish->labels != NULL || wish->fields != NULL) {
		wish->scratch = pool_scratch(call->pool, SIZE_MAX);
		selection->wants = wants_resource;
		selection->arg = wish;
	}
	enum outcome outcome = resource_select(call->registry, selection, selected);
	if (wish->scratch != NULL)
		pool_scratch_end(call->pool, wish->scratch);
	return outcome;
}

enum outcome tenancy_select_resources(struct call *call, const struct resource_query *query, struct resource_selected *selected)
{
	struct conditions_of_list conditions;
	struct resource_wish wish = { 0 };

	assert(query->type != NULL && query->limit > 0);
	enum outcome outcome = read_conditions(call, &conditions);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (query->deleted && call_param(call, "sort").p != NULL && conditions.order != SELECTION_BY_CREATION)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "deleted resources are listed by creation: sort=created, or no sort");
	struct resource_selection selection = {
		.tenant = query->tenant, .type = query->type, .all_spaces = query->all_spaces, .space = query->space, .deleted = query->deleted,
		.order = query->deleted ? SELECTION_BY_CREATION : conditions.order, .descending = conditions.descending,
		.marker = query->marker, .limit = query->limit, .traits = query->traits,
		.text = conditions.text, .created = conditions.created, .updated = conditions.updated,
	};
	outcome = read_wish(call, query->type, &conditions, &selection, &wish);
	return outcome == OUTCOME_OK ? select_resources(call, &selection, &wish, selected) : outcome;
}

// ---- resources of all tenants

// The types that a text names: a custom one may be in namespaces for one tenant, and in none for another.
static enum outcome read_types(struct call *call, struct resource_selection *selection)
{
	const struct type **types = POOL_ARRAY(call->pool, const struct type *, 2);
	struct str text = call_param(call, "type"), plural, group;
	const struct definition *definition;

	if (text.p == NULL)
		return OUTCOME_OK;
	size_t dot = str_find(text, '.', 0);
	plural = str_part(text, 0, dot);
	group = dot < text.n ? str_part(text, dot + 1, text.n) : STR("");
	if (str_eq(group, STR("core"))) {
		group = STR("");
	} else if (dot == text.n && definition_named(call->registry, STR(TENANT_SYSTEM), text, &definition) == OUTCOME_OK) {
		group = definition->type->group;
		plural = definition->type->plural;
	}
	for (int namespaced = 0; namespaced < 2; namespaced++) {
		const struct type *type = type_find(call->registry, group, plural, namespaced != 0);
		if (type != NULL)
			types[selection->n_types++] = type;
	}
	selection->types = types;
	if (selection->n_types > 0)
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "there is no type \"%.*s\": type is a plural name such as configmaps, that of a custom type "
		"with its group, such as widgets.example.com", STR_ARG(text));
}

static enum outcome read_called(struct call *call, struct resource_selection *selection)
{
	struct str name = call_param(call, "name"), uid = call_param(call, "uid");

	if (name.p != NULL && uid.p != NULL)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "name and uid can't be given together: name finds what has it as its uid, too");
	enum outcome outcome = tenancy_check_text(call, "name");
	selection->called = name;
	selection->uid = uid;
	return outcome;
}

enum outcome tenancy_select_of_all(struct call *call, const struct resource_query *query, struct resource_selected *selected)
{
	struct conditions_of_list conditions;
	struct resource_wish wish = { 0 };

	assert(query->limit > 0);
	enum outcome outcome = read_conditions(call, &conditions);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct resource_selection selection = {
		.tenant = STR_NONE, .deleted = query->deleted, .order = SELECTION_BY_CREATION, .descending = conditions.descending,
		.marker = query->marker, .limit = query->limit, .traits = query->traits,
		.text = conditions.text, .created = conditions.created, .updated = conditions.updated,
	};
	outcome = read_types(call, &selection);
	if (outcome == OUTCOME_OK)
		outcome = read_called(call, &selection);
	if (outcome == OUTCOME_OK)
		outcome = read_wish(call, selection.n_types > 0 ? selection.types[0] : NULL, &conditions, &selection, &wish);
	return outcome == OUTCOME_OK ? select_resources(call, &selection, &wish, selected) : outcome;
}

// ---- tenants

struct tenant_wish {
	struct pool *scratch; // cleared for each tenant
	const struct label_selector *labels, *metadata; // NULL: any
};

static bool wants_tenant(void *arg, const struct tenant *tenant)
{
	const struct tenant_wish *wish = arg;
	const struct doc *labels = NULL;

	pool_clear(wish->scratch);
	if (wish->labels != NULL)
		(void)doc_get(tenant_object_doc(wish->scratch, tenant), STR("labels"), &labels);
	return (wish->labels == NULL || label_selector_matches(wish->labels, labels)) &&
		(wish->metadata == NULL || label_selector_matches(wish->metadata, tenant_metadata_doc(wish->scratch, tenant)));
}

enum outcome tenancy_select_tenants(struct call *call, bool deleted, uint64_t limit, struct tenant_selected *selected)
{
	struct conditions_of_list conditions;
	struct tenant_wish wish = { 0 };

	assert(limit > 0);
	enum outcome outcome = read_conditions(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = read_selector(call, "metadata", &wish.metadata);
	if (outcome != OUTCOME_OK)
		return outcome;
	wish.labels = conditions.labels;
	struct tenant_selection selection = {
		.deleted = deleted, .order = conditions.order, .descending = conditions.descending,
		.marker = call_param(call, "marker"), .limit = limit, .tier = call_param(call, "tier"),
		.text = conditions.text, .created = conditions.created, .updated = conditions.updated,
	};
	if (wish.labels != NULL)
		selection.object_has = label_selector_trace(call->pool, wish.labels);
	if (wish.metadata != NULL)
		selection.metadata_has = label_selector_trace(call->pool, wish.metadata);
	if (wish.labels != NULL || wish.metadata != NULL) {
		wish.scratch = pool_scratch(call->pool, SIZE_MAX);
		selection.wants = wants_tenant;
		selection.arg = &wish;
	}
	outcome = tenant_select(call->registry, &selection, selected);
	if (wish.scratch != NULL)
		pool_scratch_end(call->pool, wish.scratch);
	return outcome;
}
