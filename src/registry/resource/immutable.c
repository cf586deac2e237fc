// SPDX-License-Identifier: Apache-2.0
// What of a config map, a secret or a pod never changes, whichever dialect writes it: the data of one that says "immutable",
// what a secret is for, and most of a pod's spec. Kubernetes' rules, and words (ValidatePodUpdate and its like).
#include "base/base.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "repr/json/doc.h"
#include "repr/schema/field_fault.h"

enum { KIND_OTHER, KIND_CONFIG_MAP, KIND_SECRET, KIND_POD };

static int kind_of(const struct type *type)
{
	if (!type->builtin || type->group.n > 0)
		return KIND_OTHER;
	if (str_eq_c(type->plural, "configmaps"))
		return KIND_CONFIG_MAP;
	if (str_eq_c(type->plural, "secrets"))
		return KIND_SECRET;
	return str_eq_c(type->plural, "pods") ? KIND_POD : KIND_OTHER;
}

static bool is_immutable(const struct doc *body)
{
	const struct doc *value;

	return doc_get(body, STR("immutable"), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value);
}

// An absent member, null and an empty object hold the same data: none.
static bool same_data(const struct doc *before, const struct doc *after, const char *name)
{
	const struct doc *a = NULL, *b = NULL;

	(void)doc_get(before, str_c(name), &a);
	(void)doc_get(after, str_c(name), &b);
	bool none_a = a == NULL || (doc_kind(a) == DOC_OBJECT && doc_length(a) == 0);
	bool none_b = b == NULL || (doc_kind(b) == DOC_OBJECT && doc_length(b) == 0);
	return none_a || none_b ? none_a == none_b : doc_equal(a, b);
}

static void check_data(const struct doc *before, const struct doc *after, int kind, struct field_faults *faults)
{
	static const char *const members[] = { "data", "binaryData" };
	const char *detail = "field is immutable when `immutable` is set";
	const struct field_path at = field_name(NULL, STR("immutable"));

	if (!is_immutable(after))
		field_forbidden(faults, &at, detail);
	for (size_t i = 0; i < (kind == KIND_SECRET ? 1 : COUNT_OF(members)); i++) {
		const struct field_path member = field_name(NULL, str_c(members[i]));
		if (!same_data(before, after, members[i]))
			field_forbidden(faults, &member, detail);
	}
}

// A secret that does not say what it is for is Opaque.
static struct str secret_type(const struct doc *body)
{
	const struct doc *value;

	if (doc_get(body, STR("type"), &value) && doc_kind(value) == DOC_STRING && doc_string(value).n > 0)
		return doc_string(value);
	return STR("Opaque");
}

// ---- pods

// NULL: it has no such member, or one of another kind. An empty list is none.
static const struct doc *list_of(const struct doc *object, const char *name)
{
	const struct doc *list = NULL;

	if (!doc_get(object, str_c(name), &list) || doc_kind(list) != DOC_ARRAY || doc_length(list) == 0)
		return NULL;
	return list;
}

// Sets the member of an object of after to what it is in before: so it is the same for whoever compares.
static void keep_member(struct pool *pool, struct doc *after, const struct doc *before, const char *name)
{
	const struct doc *value = NULL;

	doc_remove(after, str_c(name));
	if (doc_get(before, str_c(name), &value))
		doc_set(after, str_c(name), doc_copy(pool, value));
}

// Containers keep their number and all but their images.
static void keep_images(struct pool *pool, struct doc *after, const struct doc *before, const char *name, const char *detail,
	struct field_faults *faults)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	const struct doc *old = list_of(before, name), *new = list_of(after, name);
	size_t n = new == NULL ? 0 : doc_length(new);

	if (n != (old == NULL ? 0 : doc_length(old))) {
		field_forbidden(faults, &at, detail);
		keep_member(pool, after, before, name); // told once
		return;
	}
	struct doc *list = doc_new_array(pool);
	for (size_t i = 0; i < n; i++) {
		struct doc *item = doc_copy(pool, doc_at(new, i));
		if (doc_kind(item) == DOC_OBJECT && doc_kind(doc_at(old, i)) == DOC_OBJECT)
			keep_member(pool, item, doc_at(old, i), "image");
		doc_push(list, item);
	}
	if (n > 0)
		doc_set(after, str_c(name), list);
	else
		keep_member(pool, after, before, name);
}

// A deadline can be set, and brought forward.
static void keep_deadline(struct pool *pool, struct doc *after, const struct doc *before, struct field_faults *faults)
{
	static const char name[] = "activeDeadlineSeconds";
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	const struct doc *value = NULL;
	int64_t old, new;
	bool had = doc_get(before, str_c(name), &value) && value != NULL && doc_i64(value, &old);

	value = NULL;
	bool has = doc_get(after, str_c(name), &value) && value != NULL && doc_i64(value, &new);
	if (had && !has)
		field_invalid(faults, &at, value, "must not update from a positive integer to nil value");
	else if (had && new > old)
		field_invalid(faults, &at, value, "must be less than or equal to previous value");
	keep_member(pool, after, before, name);
}

static bool has_item(const struct doc *list, const struct doc *item)
{
	for (size_t i = 0; list != NULL && i < doc_length(list); i++) {
		if (doc_equal_by_value(doc_at(list, i), item))
			return true;
	}
	return false;
}

// Does the list of one pod have all that the other's has? tolerationSeconds of a toleration may change.
static bool has_all(struct pool *pool, const struct doc *list, const struct doc *wanted)
{
	struct doc *bare = doc_new_array(pool);

	for (size_t i = 0; list != NULL && i < doc_length(list); i++) {
		struct doc *item = doc_copy(pool, doc_at(list, i));
		if (doc_kind(item) == DOC_OBJECT)
			doc_remove(item, STR("tolerationSeconds"));
		doc_push(bare, item);
	}
	for (size_t i = 0; wanted != NULL && i < doc_length(wanted); i++) {
		struct doc *item = doc_copy(pool, doc_at(wanted, i));
		if (doc_kind(item) == DOC_OBJECT)
			doc_remove(item, STR("tolerationSeconds"));
		if (!has_item(bare, item))
			return false;
	}
	return true;
}

static void keep_tolerations(struct pool *pool, struct doc *after, const struct doc *before, struct field_faults *faults)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, STR("tolerations"));

	if (!has_all(pool, list_of(after, "tolerations"), list_of(before, "tolerations")))
		field_forbidden(faults, &at, "existing toleration can not be modified except its tolerationSeconds");
	keep_member(pool, after, before, "tolerations");
}

// What else may change, and to what: a negative grace period to 1, gates to fewer ones, and where it runs once.
static void keep_rest(struct pool *pool, struct doc *after, const struct doc *before)
{
	const struct doc *value = NULL;
	int64_t old = 0, new = 0;

	if (doc_get(before, STR("terminationGracePeriodSeconds"), &value) && value != NULL && doc_i64(value, &old) && old < 0 &&
		doc_get(after, STR("terminationGracePeriodSeconds"), &value) && value != NULL && doc_i64(value, &new) && new == 1)
		keep_member(pool, after, before, "terminationGracePeriodSeconds");
	if (has_all(pool, list_of(before, "schedulingGates"), list_of(after, "schedulingGates")))
		keep_member(pool, after, before, "schedulingGates");
	if (!doc_get(before, STR("nodeName"), &value) || value == NULL ||
		(doc_kind(value) == DOC_STRING && doc_string(value).n == 0))
		keep_member(pool, after, before, "nodeName");
}

// A pod without a spec, which another dialect may have stored, can get one.
static void check_pod(struct pool *pool, const struct doc *before, const struct doc *after, struct field_faults *faults)
{
	const struct field_path at = field_name(NULL, STR("spec"));
	const struct doc *old = NULL, *new = NULL;

	if (!doc_get(before, STR("spec"), &old) || doc_kind(old) != DOC_OBJECT)
		return;
	(void)doc_get(after, STR("spec"), &new);
	if (doc_equal(old, new)) // as with each change of a status
		return;
	struct doc *same = doc_kind(new) == DOC_OBJECT ? doc_copy(pool, new) : doc_new_object(pool);
	keep_images(pool, same, old, "containers", "pod updates may not add or remove containers", faults);
	keep_images(pool, same, old, "initContainers", "pod updates may not add or remove init containers", faults);
	keep_deadline(pool, same, old, faults);
	keep_tolerations(pool, same, old, faults);
	keep_rest(pool, same, old);
	if (!doc_equal_by_value(same, old))
		field_forbidden(faults, &at, "pod updates may not change fields other than `spec.containers[*].image`,"
			"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
			"tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)");
}

static const char *kind_name(int kind)
{
	return kind == KIND_SECRET ? "Secret" : kind == KIND_POD ? "Pod" : "ConfigMap";
}

enum outcome immutable_check(struct registry *registry, const struct address *address, const struct resource *current,
	struct str body)
{
	struct field_faults faults = field_faults_new(registry->pool);
	const struct field_path of_type = field_name(NULL, STR("type"));
	int kind = kind_of(address->type);

	assert(current != NULL && body.p != NULL);
	if (kind == KIND_OTHER || str_eq(body, current->body))
		return OUTCOME_OK;
	if (kind == KIND_CONFIG_MAP && memmem(current->body.p, current->body.n, "\"immutable\"", 11) == NULL)
		return OUTCOME_OK;
	const struct doc *before = resource_body_doc(registry->pool, current);
	const struct doc *after = stored_document(registry->pool, STORED_NEW, body);
	if (kind == KIND_SECRET && !str_eq(secret_type(before), secret_type(after)))
		field_invalid_text(&faults, &of_type, secret_type(after), "field is immutable");
	if (kind == KIND_POD)
		check_pod(registry->pool, before, after, &faults);
	else if (is_immutable(before))
		check_data(before, after, kind, &faults);
	if (faults.n == 0)
		return OUTCOME_OK;
	return fail_faults(registry, str_printf(registry->pool, "%s \"%.*s\"", kind_name(kind), STR_ARG(address->name)), &faults);
}
