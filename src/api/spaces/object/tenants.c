// SPDX-License-Identifier: Apache-2.0
// Tenant objects: the registry's tenants in the form of this API. Annotations are stored as the tenant's metadata if metadata can
// hold them, so that the tenancy dialect sees the same values; other annotations are stored in the tenant's object.
#include "base/base.h"

#include "api/documents.h"
#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/object/as_of.h"
#include "api/spaces/object/object.h"
#include "api/tenant_metadata.h"
#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/log/stale.h"
#include "registry/tenant/tenant.h"
#include "registry/type/policy.h"

enum { STEP = 200 };

// ---- writing answers

static struct doc *metadata_doc(struct call *call, const struct target *target, const struct tenant *tenant,
	const struct doc *object)
{
	static const char *const kept[] = { "labels", "finalizers" };
	struct pool *pool = call->scratch;
	struct doc *metadata = doc_new_object(pool), *annotations = type_policy_annotations(pool, tenant, object);
	const struct doc *value;

	doc_set_str(pool, metadata, "name", tenant->name);
	doc_set_str(pool, metadata, "selfLink",
		spaces_object_path(pool, target->definition, target->version, STR(""), STR(""), tenant->name));
	doc_set_str(pool, metadata, "uid", uuid_str(pool, tenant->uid));
	doc_set_str(pool, metadata, "resourceVersion", str_printf(pool, "%llu", (unsigned long long)tenant->changed));
	doc_set_str(pool, metadata, "etag", conditions_etag_text(pool, tenant->etag));
	doc_set_str(pool, metadata, "creationTimestamp", document_time_text(pool, tenant->created_us));
	for (size_t i = 0; i < COUNT_OF(kept); i++)
		if (doc_get(object, str_c(kept[i]), &value))
			doc_set(metadata, str_c(kept[i]), doc_copy(pool, value));
	if (doc_get(object, STR("deletionTimestamp"), &value)) {
		doc_set(metadata, STR("deletionTimestamp"), doc_copy(pool, value));
		doc_set(metadata, STR("deletionGracePeriodSeconds"), doc_new_i64(pool, 0));
	}
	if (doc_length(annotations) > 0)
		doc_set(metadata, STR("annotations"), annotations);
	return metadata;
}

static struct doc *tenant_doc(struct call *call, const struct target *target, const struct tenant *tenant)
{
	struct pool *pool = call->scratch;
	const struct doc *object = tenant_object_doc(pool, tenant), *spec;
	struct doc *doc = doc_new_object(pool), *status = doc_new_object(pool);

	doc_set_str(pool, doc, "kind", target->definition->kind);
	doc_set_str(pool, doc, "apiVersion", target->version->name);
	doc_set(doc, STR("metadata"), metadata_doc(call, target, tenant, object));
	doc_set(doc, STR("spec"), doc_get(object, STR("spec"), &spec) && spec != NULL ? doc_copy(pool, spec) :
		doc_new_object(pool));
	doc_set_str(pool, status, "phase", tenant->deleted_us != 0 || tenant_deletion_asked(tenant) ? STR("Terminating") :
		STR("Active"));
	doc_set(doc, STR("status"), status);
	return doc;
}

struct str tenant_object_text(struct call *call, const struct target *target, const struct tenant *tenant)
{
	struct buf text = buf_new(call->scratch, 1024);

	doc_write_json(tenant_doc(call, target, tenant), &text);
	return buf_str(&text);
}

static void write_tenant(struct call *call, const struct target *target, const struct tenant *tenant)
{
	conditions_set_etag(call, tenant->etag);
	answer_text(call, target, tenant_place(tenant, "metadata or object"), tenant_object_text(call, target, tenant),
		tenant->changed);
}

// Answers with a Tenant that a dry run has created: without resourceVersion and etag, as answer_trial_object().
static void write_trial_tenant(struct call *call, const struct target *target, const struct tenant *tenant)
{
	struct doc *doc = tenant_doc(call, target, tenant), *metadata = doc_own_member(doc, STR("metadata"));

	doc_remove(metadata, STR("resourceVersion"));
	doc_remove(metadata, STR("etag"));
	answer_text(call, target, tenant_place(tenant, "metadata or object"), document_json_text(call->pool, doc), 0);
}

// ---- access

// A tenant sees only its own object, and does not learn whether others exist.
static enum outcome check_own(struct call *call, unsigned verb, const struct target *target)
{
	if (spaces_may_as_operator(call, verb) || str_eq(target->name, call->who.tenant))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_FORBIDDEN, "a tenant has to do with its own Tenant object alone");
}

enum outcome tenant_object_get(struct call *call, const struct target *target, struct guard guard)
{
	struct tenant tenant;
	enum outcome outcome = check_own(call, VERB_GET, target);

	if (outcome == OUTCOME_OK)
		outcome = tenant_get(call->registry, target->name, &tenant);
	if (outcome == OUTCOME_OK)
		outcome = tenant_check(call->registry, &tenant, guard);
	if (outcome == OUTCOME_OK)
		write_tenant(call, target, &tenant);
	return spaces_explain(call, target, target->name, outcome);
}

// ---- lists

static enum visit_next take_tenant(const struct tenants_visit *visit, const struct tenant *tenant)
{
	if (visit->as_of != NULL)
		as_of_note(visit->as_of, tenant->id, tenant->changed);
	return visit->take(visit->arg, tenant, tenant_object_text(visit->call, visit->target, tenant));
}

// Visits one object: the caller's own, or the one with that name.
static enum outcome visit_tenant(const struct tenants_visit *visit, struct str name)
{
	struct tenant tenant;
	enum outcome outcome = tenant_get(visit->call->registry, name, &tenant);

	if (outcome == OUTCOME_OK)
		(void)take_tenant(visit, &tenant);
	return outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE ? OUTCOME_OK : outcome;
}

// Reads one page behind *last into call->scratch, and calls take() for its tenants until the visit ends. *last: the last tenant
// that was looked at, in call->pool; as it was if there is none. page->more: there are others behind that one.
static enum outcome take_tenants(const struct tenants_visit *visit, struct str *last, struct tenant_page *page,
	enum visit_next *then)
{
	struct call *call = visit->call;
	enum outcome outcome = tenant_list(call->registry, call->scratch, SPACES_LIVE, *last, STEP, page);
	size_t i = 0;

	if (outcome != OUTCOME_OK || page->n == 0)
		return outcome;
	for (; i < page->n && *then == VISIT_GOES_ON; i++) {
		*then = take_tenant(visit, &page->list[i]);
		if (*then == VISIT_ENDS_BEFORE)
			break;
	}
	page->more = page->more || i < page->n;
	if (i > 0)
		*last = str_dup(call->pool, page->list[i - 1].name);
	return OUTCOME_OK;
}

enum outcome visit_tenants(const struct tenants_visit *visit, struct str *next)
{
	struct call *call = visit->call;
	const struct str named = visit->query->choice.name;
	struct str last = visit->query->marker;
	struct tenant_page page = { .more = true };
	enum visit_next then = VISIT_GOES_ON;
	enum outcome outcome = OUTCOME_OK;

	bool all = spaces_may_as_operator(call, VERB_LIST);

	assert(visit->take != NULL);
	*next = STR_NONE;
	if (!all && named.p != NULL && !str_eq(named, call->who.tenant))
		return OUTCOME_OK;
	if (!all || named.p != NULL)
		return visit_tenant(visit, all ? named : call->who.tenant);
	call->scratch = visit_scratch(call);
	while (outcome == OUTCOME_OK && page.more && then == VISIT_GOES_ON) {
		pool_clear(call->scratch);
		outcome = take_tenants(visit, &last, &page, &then);
	}
	call->scratch = call->pool;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!page.more)
		return OUTCOME_OK;
	*next = last;
	if (visit->as_of != NULL) {
		as_of_note_last(visit->as_of, 0, STR(""), last);
		as_of_note_page_end(visit->as_of);
	}
	return OUTCOME_OK;
}

// ---- reading changes

static bool has_word(const struct doc *words, struct str name)
{
	for (struct doc_iter it = doc_iter(words); doc_next(&it);)
		if (str_eq_nocase(it.name, name))
			return true;
	return false;
}

// Divides annotations into words, which the tenant's metadata can hold, and all others. Sorts them by name, so that the same
// annotations always give the same text.
static void split_annotations(struct pool *pool, const struct doc *annotations, struct doc *words, struct doc *others)
{
	size_t n = doc_length(annotations), bytes = 0, i = 0;
	struct doc_iter *entries = POOL_ARRAY(pool, struct doc_iter, n + 1);

	for (struct doc_iter it = doc_iter(annotations); doc_next(&it);)
		entries[i++] = it;
	document_sort_members(entries, n);
	for (i = 0; i < n; i++) {
		struct str value = doc_string(entries[i].value);
		size_t size = entries[i].name.n + value.n;
		bool fits = tenant_metadata_name_ok(entries[i].name) && value.n <= MAX_META_VALUE && doc_length(words) < MAX_META &&
			bytes + size <= MAX_META_ALL && !has_word(words, entries[i].name);
		doc_set(fits ? words : others, entries[i].name, doc_new_string(pool, value));
		bytes += fits ? size : 0;
	}
}

static void keep(struct pool *pool, struct doc *object, const struct doc *from, const char *name)
{
	const struct doc *value;

	if (doc_get(from, str_c(name), &value) && doc_length(value) > 0)
		doc_set(object, str_c(name), doc_copy(pool, value));
}

// What the registry stores of a Tenant object. current: the object as it is; NULL: it is new. OUTCOME_OK, or _BAD_DOCUMENT,
// _BAD_REQUEST with call->problem set.
static enum outcome tenant_content_of(const struct change_of_object *change, const struct doc *whole, const struct doc *current,
	struct tenant_content *content)
{
	struct pool *pool = change->call->pool;
	struct doc *meta, *object = doc_new_object(pool), *words = doc_new_object(pool), *others = doc_new_object(pool);
	const struct doc *annotations, *spec, *before = NULL;
	bool locked;

	(void)doc_get(current, STR("metadata"), &before);
	enum outcome outcome = object_client_metadata(change, whole, before, &meta, &locked);
	*content = (struct tenant_content){ .tier = STR_NONE };
	if (outcome != OUTCOME_OK)
		return outcome;
	if (doc_get(whole, STR("spec"), &spec) && spec != NULL && doc_kind(spec) != DOC_OBJECT)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "spec must be an object");
	if (doc_get(meta, STR("annotations"), &annotations))
		split_annotations(pool, annotations, words, others);
	keep(pool, object, meta, "labels");
	keep(pool, object, meta, "finalizers");
	// Annotations stand before the spec, which may be deep: SQL searches for them by path, and reads the text from its
	// beginning.
	if (doc_length(others) > 0)
		doc_set(object, STR("annotations"), others);
	keep(pool, object, whole, "spec");
	content->metadata = document_json_text(pool, words);
	content->object = document_json_text(pool, object);
	return OUTCOME_OK;
}

enum outcome tenant_object_create(struct call *call, const struct target *target, const struct doc *object)
{
	const struct change_of_object change = { .call = call, .target = target, .kind = CHANGE_CREATE, .document = object };
	const struct guard guard = { .check = object_must_be_absent, .prevents_lost_update = true };
	struct tenant_content content;
	struct tenant tenant;
	enum outcome outcome = OUTCOME_OK;

	if (realm_reserved(target->name) != NULL)
		outcome = call_fail(call, OUTCOME_FORBIDDEN, "%s", realm_reserved(target->name));
	if (outcome == OUTCOME_OK)
		outcome = tenant_content_of(&change, object, NULL, &content);
	if (outcome == OUTCOME_OK)
		outcome = tenant_put(call->registry, target->name, &content, guard, &tenant);
	if (outcome == OUTCOME_NAME_TAKEN)
		return spaces_fail_exists(call, target, target->name);
	if (outcome == OUTCOME_CREATED && call->dry_run)
		write_trial_tenant(call, target, &tenant);
	else if (outcome == OUTCOME_CREATED)
		write_tenant(call, target, &tenant);
	return outcome;
}

// A tenant may change only the order of its definitions; the operator decides by its annotations what it may use.
static enum outcome check_tenants_own(const struct change_of_object *change, const struct tenant *current,
	const struct tenant_content *content)
{
	struct tenant changed = *current;

	changed.metadata = content->metadata;
	changed.object = content->object;
	if (type_policy_is_all_that_differs(change->call->pool, current, &changed))
		return OUTCOME_OK;
	return call_fail(change->call, OUTCOME_FORBIDDEN, "of its own Tenant object a tenant changes spec.multiTenancyCRDPolicy alone");
}

// A tenant whose deletion waits for finalizers must not get new ones.
static enum outcome check_waiting(const struct change_of_object *change, const struct tenant *current,
	const struct tenant_content *content)
{
	struct pool *pool = change->call->pool;
	struct field_faults faults = field_faults_new(pool);
	const struct doc *before = NULL, *after = NULL;

	if (!tenant_deletion_asked(current) || !doc_get(stored_document(pool, STORED_NEW, content->object), STR("finalizers"),
		&after))
		return OUTCOME_OK;
	(void)doc_get(tenant_object_doc(pool, current), STR("finalizers"), &before);
	check_new_finalizers(after, before, &faults);
	return faults.n == 0 ? OUTCOME_OK : spaces_fail_invalid(change->call, change->target->definition, current->name, &faults);
}

static enum outcome apply(void *arg, const struct tenant *current, struct tenant_content *content)
{
	struct change_of_object *change = arg;
	struct call *call = change->call;
	const struct doc *whole, *before = tenant_doc(call, change->target, current);
	enum outcome outcome = change_result(change, before, &whole);

	if (outcome == OUTCOME_OK)
		outcome = tenant_content_of(change, whole, before, content);
	if (outcome == OUTCOME_OK)
		outcome = object_check_version(change, whole, current->changed, &current->uid,
			!tenant_has_content(call->registry, current, content));
	if (outcome == OUTCOME_OK)
		outcome = check_waiting(change, current, content);
	if (outcome == OUTCOME_OK && call->who.role != ROLE_OPERATOR)
		outcome = check_tenants_own(change, current, content);
	change->version = current->changed;
	memcpy(change->etag, current->etag, sizeof(change->etag));
	return outcome;
}

enum outcome tenant_object_change(struct call *call, const struct target *target, struct change_of_object *change,
	struct guard guard)
{
	struct tenant tenant;
	enum outcome outcome = check_own(call, VERB_UPDATE, target);

	if (outcome == OUTCOME_OK)
		outcome = spaces_check_role(call, target->definition, VERB_UPDATE);
	if (outcome == OUTCOME_OK)
		outcome = tenant_patch(call->registry, target->name, &(struct tenant_edit){ apply, change }, guard, &tenant);
	// As for resources, a dry run shows the old version and ETag.
	if (outcome == OUTCOME_OK && call->dry_run) {
		tenant.changed = change->version;
		memcpy(tenant.etag, change->etag, sizeof(tenant.etag));
	}
	if (outcome == OUTCOME_OK)
		write_tenant(call, target, &tenant);
	return spaces_explain(call, target, target->name, outcome);
}

enum outcome tenant_object_delete(struct call *call, const struct target *target, struct guard guard)
{
	struct tenant tenant;
	enum outcome outcome = tenant_delete(call->registry, target->name, guard, &tenant);

	if (outcome == OUTCOME_CONFLICT && str_eq_c(target->name, TENANT_SYSTEM))
		return call_fail(call, OUTCOME_FORBIDDEN, "this tenant may not be deleted");
	if (outcome == OUTCOME_ACCEPTED) {
		write_tenant(call, target, &tenant);
		return OUTCOME_OK;
	}
	if (outcome != OUTCOME_NO_CONTENT)
		return spaces_explain(call, target, target->name, outcome);
	spaces_write_success(call, target, target->name, &tenant.uid);
	return OUTCOME_OK;
}
