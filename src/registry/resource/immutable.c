// SPDX-License-Identifier: Apache-2.0
// What of a config map or a secret never changes, whichever dialect writes it: the data of one that says "immutable", and
// what a secret is for. Kubernetes' rules, and words.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/internal.h"
#include "repr/json/doc.h"
#include "repr/schema/field_fault.h"

enum { KIND_OTHER, KIND_CONFIG_MAP, KIND_SECRET };

static int kind_of(const struct type *type)
{
	if (!type->builtin || type->group.n > 0)
		return KIND_OTHER;
	if (str_eq_c(type->plural, "configmaps"))
		return KIND_CONFIG_MAP;
	return str_eq_c(type->plural, "secrets") ? KIND_SECRET : KIND_OTHER;
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
	if (is_immutable(before))
		check_data(before, after, kind, &faults);
	if (faults.n == 0)
		return OUTCOME_OK;
	return fail_faults(registry, str_printf(registry->pool, "%s \"%.*s\"", kind == KIND_SECRET ? "Secret" : "ConfigMap",
		STR_ARG(address->name)), &faults);
}
