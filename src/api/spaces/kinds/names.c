// SPDX-License-Identifier: Apache-2.0
// The metadata of all objects: names, labels, annotations, finalizers and owners. Other dialects accept any text as a name, but
// names created here must work for all clients of this API.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/type/type.h"
#include "types/common/checks.h"
#include "types/common/parts.h"

enum { LABEL_MAX = 63, SUFFIX = 5 /* random characters of a generated name */ };

void check_name(const struct definition *definition, struct str name, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("name"));
	const struct type_parts *parts = type_parts(definition->type);

	if (name.n == 0)
		field_required(faults, &at, "name or generateName is required");
	else if (parts->check_name != NULL)
		parts->check_name(name, &at, faults);
	else
		check_dns_subdomain(name, &at, faults);
}

void check_labels(const struct doc *labels, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("labels"));

	check_label_map(labels, &at, faults);
}

enum { ANNOTATIONS_MAX = 256 << 10 };

void check_annotations(const struct doc *annotations, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("annotations"));
	size_t bytes = 0;

	for (struct doc_iter it = doc_iter(annotations); doc_next(&it);) {
		bytes += it.name.n + doc_string(it.value).n;
		check_label_key(it.name, check_is_label_key_of_any_case(it.name), &at, faults);
	}
	if (bytes > ANNOTATIONS_MAX)
		field_fault_add(faults, &at, FIELD_TOO_LONG, STR_NONE, "must have at most %d bytes", ANNOTATIONS_MAX);
}

void check_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("finalizers"));
	struct doc *known = doc_new_object(faults->pool); // the names of before: there may be very many

	for (size_t k = 0; before != NULL && k < doc_length(before); k++) {
		struct str name = doc_string(doc_at(before, k));
		if (str_find(name, '\0', 0) == name.n)
			doc_set(known, name, NULL);
	}
	for (size_t i = 0; i < doc_length(finalizers); i++) {
		const struct field_path item = field_index(&at, i);
		struct str name = doc_string(doc_at(finalizers, i));
		const struct doc *none;
		if (!kind_is_label_key(name))
			field_invalid(faults, &item, doc_at(finalizers, i), LABEL_KEY_FORM);
		if (before != NULL && !doc_get(known, name, &none))
			field_forbidden(faults, &item, "no new finalizers can be added if the object is being deleted");
	}
}

void check_owners(const struct doc *owners, struct field_faults *faults)
{
	static const char *const names[] = { "apiVersion", "kind", "name", "uid" };
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("ownerReferences"));
	const struct doc *value, *flag;
	size_t controllers = 0;

	for (size_t i = 0; i < doc_length(owners); i++) {
		const struct field_path item = field_index(&at, i);
		for (size_t k = 0; k < COUNT_OF(names); k++) {
			const struct field_path member = field_name(&item, str_c(names[k]));
			value = NULL;
			(void)doc_get(doc_at(owners, i), str_c(names[k]), &value);
			if (doc_kind(value) != DOC_STRING || doc_string(value).n == 0)
				field_invalid(faults, &member, value, "must not be empty");
		}
		if (doc_get(doc_at(owners, i), STR("controller"), &flag) && doc_kind(flag) == DOC_BOOL && doc_bool(flag))
			controllers++;
	}
	if (controllers > 1)
		field_invalid(faults, &at, owners, "only one reference can have controller set to true");
}

// Random characters without vowels, so that they form no words.
struct str kind_generated_name(struct pool *pool, struct str prefix)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const size_t n_letters = sizeof(letters) - 1;
	struct buf name = buf_new(pool, prefix.n + SUFFIX);
	uint8_t random[SUFFIX];

	buf_add(&name, str_part(prefix, 0, LABEL_MAX - SUFFIX));
	digest_random(random, sizeof(random));
	for (size_t i = 0; i < SUFFIX; i++)
		buf_addc(&name, letters[random[i] % n_letters]);
	return buf_str(&name);
}
