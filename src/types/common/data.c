// SPDX-License-Identifier: Apache-2.0
// Keys and values of config maps and secrets.
#include "base/base.h"

#include "base/ascii.h"
#include "types/common/checks.h"

enum { DATA_MAX = 1 << 20, KEY_MAX = 253 };

static bool is_key_text(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];
		if (!ascii_is_alnum(c) && c != '-' && c != '.' && c != '_')
			return false;
	}
	return key.n > 0;
}

void check_data_key(struct field_faults *faults, const struct field_path *up, struct str key)
{
	const struct field_path at = field_key(up, key);

	if (key.n > KEY_MAX)
		field_invalid_text(faults, &at, key, "must be no more than 253 characters");
	if (!is_key_text(key))
		field_invalid_text(faults, &at, key,
			"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
			"'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
	if (str_eq(key, STR(".")))
		field_invalid_text(faults, &at, key, "must not be '.'");
	else if (str_eq(key, STR("..")))
		field_invalid_text(faults, &at, key, "must not be '..'");
	else if (key.n > 2 && key.p[0] == '.' && key.p[1] == '.')
		field_invalid_text(faults, &at, key, "must not start with '..'");
}

void check_data_size(struct field_faults *faults, const struct field_path *at, size_t bytes)
{
	if (bytes > DATA_MAX)
		field_fault_add(faults, at, FIELD_TOO_LONG, STR_NONE, "must have at most %d bytes", DATA_MAX);
}

static bool is_immutable(const struct doc *body)
{
	const struct doc *value;

	return doc_get(body, STR("immutable"), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value);
}

static bool is_entry(const struct doc *value)
{
	return value == NULL || doc_kind(value) == DOC_STRING;
}

// An entry that is null counts as "", which a client that reads the data into a map of texts writes back.
static bool same_entries(const struct doc *a, const struct doc *b)
{
	const struct doc *other;

	if (doc_kind(a) != DOC_OBJECT || doc_kind(b) != DOC_OBJECT)
		return doc_equal(a, b);
	if (doc_length(a) != doc_length(b))
		return false;
	for (struct doc_iter it = doc_iter(a); doc_next(&it);) {
		if (!doc_get(b, it.name, &other))
			return false;
		bool are_texts = is_entry(it.value) && is_entry(other);
		if (are_texts ? !str_eq(doc_string(it.value), doc_string(other)) : !doc_equal(it.value, other))
			return false;
	}
	return true;
}

// An absent member, null and an empty object count as the same data.
static bool same_data(const struct doc *before, const struct doc *after, const char *name)
{
	const struct doc *a = NULL, *b = NULL;

	(void)doc_get(before, str_c(name), &a);
	(void)doc_get(after, str_c(name), &b);
	bool none_a = a == NULL || (doc_kind(a) == DOC_OBJECT && doc_length(a) == 0);
	bool none_b = b == NULL || (doc_kind(b) == DOC_OBJECT && doc_length(b) == 0);
	return none_a || none_b ? none_a == none_b : same_entries(a, b);
}

void check_data_kept(struct field_faults *faults, const struct doc *before, const struct doc *after, const char *const *members)
{
	const char *detail = "field is immutable when `immutable` is set";
	const struct field_path at = field_name(NULL, STR("immutable"));

	if (!is_immutable(before))
		return;
	if (!is_immutable(after))
		field_forbidden(faults, &at, detail);
	for (; *members != NULL; members++) {
		const struct field_path member = field_name(NULL, str_c(*members));
		if (!same_data(before, after, *members))
			field_forbidden(faults, &member, detail);
	}
}
