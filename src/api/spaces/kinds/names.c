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

// The entries of map that before does not have, or has with another value.
static struct doc *new_entries(struct pool *pool, const struct doc *map, const struct doc *before)
{
	struct doc *entries = doc_new_object(pool);
	const struct doc *value;

	for (struct doc_iter it = doc_iter(map); doc_next(&it);)
		if (!doc_get(before, it.name, &value) || !doc_equal(it.value, value))
			doc_set(entries, it.name, doc_copy(pool, it.value));
	return entries;
}

void check_labels(const struct doc *labels, const struct doc *before, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("labels"));

	check_label_map(new_entries(faults->pool, labels, before), &at, faults);
}

enum { ANNOTATIONS_MAX = 256 << 10 };

void check_annotations(const struct doc *annotations, const struct doc *before, struct field_faults *faults)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("annotations"));
	size_t bytes = 0;

	for (struct doc_iter it = doc_iter(new_entries(faults->pool, annotations, before)); doc_next(&it);)
		check_label_key(it.name, check_is_label_key_of_any_case(it.name), &at, faults);
	for (struct doc_iter it = doc_iter(annotations); doc_next(&it);)
		bytes += it.name.n + doc_string(it.value).n;
	if (bytes > ANNOTATIONS_MAX)
		field_fault_add(faults, &at, FIELD_TOO_LONG, STR_NONE, "must have at most %d bytes", ANNOTATIONS_MAX);
}

// Calls add() for each finalizer that is not in before. There may be very many, so before's names become members of an object.
static void each_new_finalizer(const struct doc *finalizers, const struct doc *before, struct field_faults *faults,
	void (*add)(struct field_faults *faults, const struct field_path *at, const struct doc *finalizer))
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("finalizers"));
	struct doc *known = doc_new_object(faults->pool);
	const struct doc *none;

	for (size_t k = 0; k < doc_elements(before); k++) {
		struct str name = doc_string(doc_at(before, k));
		if (str_find(name, '\0', 0) == name.n)
			doc_set(known, name, NULL);
	}
	for (size_t i = 0; i < doc_length(finalizers); i++) {
		const struct field_path item = field_index(&at, i);
		if (!doc_get(known, doc_string(doc_at(finalizers, i)), &none))
			add(faults, &item, doc_at(finalizers, i));
	}
}

static void add_if_unfit(struct field_faults *faults, const struct field_path *at, const struct doc *finalizer)
{
	if (!kind_is_label_key(doc_string(finalizer)))
		field_invalid(faults, at, finalizer, LABEL_KEY_FORM);
}

void check_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults)
{
	each_new_finalizer(finalizers, before, faults, add_if_unfit);
}

static void add_forbidden(struct field_faults *faults, const struct field_path *at, const struct doc *finalizer)
{
	UNUSED(finalizer);
	field_forbidden(faults, at, "no new finalizers can be added if the object is being deleted");
}

void check_new_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults)
{
	each_new_finalizer(finalizers, before, faults, add_forbidden);
}

void check_owners(const struct doc *owners, const struct doc *before, struct field_faults *faults)
{
	static const char *const names[] = { "apiVersion", "kind", "name", "uid" };
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("ownerReferences"));
	const struct doc *value, *flag;
	size_t controllers = 0;

	UNUSED(before);
	for (size_t i = 0; i < doc_length(owners); i++) {
		const struct field_path item = field_index(&at, i);
		for (size_t k = 0; k < COUNT_OF(names); k++) {
			const struct field_path member = field_name(&item, str_c(names[k]));
			value = NULL;
			(void)doc_get(doc_at(owners, i), str_c(names[k]), &value);
			if (doc_string(value).n == 0)
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

	// A refusal shows the name, so it is cut between characters, also where no valid name has such a character.
	buf_add(&name, str_utf8_head(prefix, LABEL_MAX - SUFFIX));
	digest_random(random, sizeof(random));
	for (size_t i = 0; i < SUFFIX; i++)
		buf_addc(&name, letters[random[i] % n_letters]);
	return buf_str(&name);
}
