// SPDX-License-Identifier: Apache-2.0
// Secrets: data that not everybody may see.
#include "base/base.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field secret_fields[] = {
	MEMBER_BYTES("data", "Bytes by their keys, in base64."),
	MEMBER_MAP("stringData", "Texts by their keys, for writing: they go to data in base64."),
	MEMBER_TEXT("type", "What the data are for."), MEMBER_BOOLEAN("immutable", "Whether the data must stay as they are."),
	MEMBER_END
};

static const struct type_column of_secrets[] = {
	COLUMN_TEXT("Type", ".type", "What the data are for."),
	COLUMN("Data", "string", 0, cell_of_data, "", "How many keys it has."), COLUMN_AGE, COLUMN_END
};

PB_MESSAGE(secret,
	PB_OBJECT(1, "metadata", object_meta), PB_MAP_OF_BYTES(2, "data"), PB_TEXT(3, "type"), PB_MAP_OF_TEXTS(4, "stringData"),
	PB_BOOL_ZERO(5, "immutable"));

static const struct type_preset presets[] = {
	{ { "type" }, "Opaque" },
	{ .value = NULL }
};

// A secret's type never changes: see check_secret_kept().
static const char *const selectable[] = {
	"type", NULL
};

// ---- rules

// Keys that a secret of a type must have: all of them or, if `any` is set, one of them.
static const struct {
	const char *type, *keys[2];
	bool any;     // one of them is enough
	bool filled;  // it must not be empty
	bool is_json; // it must contain a JSON document
} secret_types[] = {
	{ "kubernetes.io/dockercfg", { ".dockercfg" }, false, false, true },
	{ "kubernetes.io/dockerconfigjson", { ".dockerconfigjson" }, false, false, true },
	{ "kubernetes.io/basic-auth", { "username", "password" }, true, false, false },
	{ "kubernetes.io/ssh-auth", { "ssh-privatekey" }, false, true, false },
	{ "kubernetes.io/tls", { "tls.crt", "tls.key" }, false, false, false },
};

static void check_is_json(struct field_faults *faults, const struct field_path *at, struct str base64)
{
	const struct doc_limits limits = { .depth = 64, .nodes = 1 << 20 };
	struct doc *doc;
	struct str error = STR("");

	if (doc_parse_json(faults->pool, base64_decoded(faults->pool, base64), limits, &doc, &error))
		return;
	// Neither the secret nor the parser's error message is shown, because the message may quote the secret.
	field_fault_add(faults, at, FIELD_INVALID, STR("\"<secret contents redacted>\""), "must be a JSON document");
}

static void check_secret_type(struct field_faults *faults, size_t type, const struct field_path *up, const struct doc *data)
{
	bool found = false;

	for (size_t i = 0; i < COUNT_OF(secret_types[type].keys) && secret_types[type].keys[i] != NULL; i++) {
		const struct doc *value = check_object_member(data, secret_types[type].keys[i]);
		found = found || value != NULL;
	}
	for (size_t i = 0; i < COUNT_OF(secret_types[type].keys) && secret_types[type].keys[i] != NULL; i++) {
		const struct field_path at = field_key(up, str_c(secret_types[type].keys[i]));
		struct str value = check_object_text(data, secret_types[type].keys[i]);
		bool there = check_object_member(data, secret_types[type].keys[i]) != NULL;
		if (secret_types[type].filled ? value.n == 0 : !there && !(secret_types[type].any && found))
			field_required(faults, &at, "");
		else if (secret_types[type].is_json)
			check_is_json(faults, &at, value);
	}
}

static void check_account_named(struct field_faults *faults, const struct doc *meta)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path annotations = field_name(&metadata, STR("annotations"));
	const struct field_path at = field_key(&annotations, STR("kubernetes.io/service-account.name"));

	if (check_object_text(check_object_member(meta, "annotations"), "kubernetes.io/service-account.name").n == 0)
		field_required(faults, &at, "");
}

static void check_secret(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body)
{
	const struct field_path at = field_name(NULL, STR("data"));
	const struct doc *data = check_object_member(body, "data");
	struct str type = check_object_text(body, "type");
	size_t bytes = 0;

	UNUSED(before);
	for (struct doc_iter it = doc_iter(data); doc_next(&it);) {
		check_data_key(faults, &at, it.name);
		bytes += doc_kind(it.value) == DOC_STRING ? base64_size(doc_string(it.value)) : 0;
	}
	check_data_size(faults, &at, bytes);
	if (str_eq(type, STR("kubernetes.io/service-account-token")))
		check_account_named(faults, meta);
	for (size_t i = 0; i < COUNT_OF(secret_types); i++) {
		if (str_eq_c(type, secret_types[i].type))
			check_secret_type(faults, i, &at, data);
	}
}

// A secret without a type has the type Opaque.
static struct str secret_type(const struct doc *body)
{
	const struct doc *value;

	if (doc_get(body, STR("type"), &value) && doc_kind(value) == DOC_STRING && doc_string(value).n > 0)
		return doc_string(value);
	return STR("Opaque");
}

// ---- writing

// Null counts as "", as in Kubernetes.
static bool all_strings(const struct doc *object)
{
	struct doc_iter it = doc_iter(object);
	bool good = true;

	while (good && doc_next(&it))
		good = it.value == NULL || doc_kind(it.value) == DOC_STRING;
	return good;
}

// stringData is only for writing: its values are stored in data.
static bool fold_string_data(struct pool *pool, struct doc *body, struct str *error)
{
	const struct doc *texts, *stored;

	if (!doc_get(body, STR("stringData"), &texts))
		return true;
	*error = STR("stringData must be an object of strings");
	if (texts != NULL && (doc_kind(texts) != DOC_OBJECT || !all_strings(texts)))
		return false;
	bool has_data = doc_get(body, STR("data"), &stored) && doc_kind(stored) == DOC_OBJECT;
	struct doc *data = has_data ? doc_copy(pool, stored) : doc_new_object(pool);
	for (struct doc_iter it = doc_iter(texts); doc_next(&it);) {
		struct buf text = buf_new(pool, doc_string(it.value).n * 4 / 3 + 4);
		buf_add_base64(&text, doc_string(it.value).p, doc_string(it.value).n);
		doc_set(data, it.name, doc_new_string(pool, buf_str(&text)));
	}
	doc_remove(body, STR("stringData"));
	doc_set(body, STR("data"), data);
	return true;
}

// ---- what never changes

static void check_secret_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	static const char *const members[] = { "data", NULL };
	const struct field_path of_type = field_name(NULL, STR("type"));
	struct doc *stored = doc_copy(faults->pool, before);
	struct str error;

	if (!str_eq(secret_type(before), secret_type(after)))
		field_invalid_text(faults, &of_type, secret_type(after), "field is immutable");
	// Before 0.1.0, secrets of the tenancy API were stored with their stringData. To fold that changes no data.
	(void)fold_string_data(faults->pool, stored, &error);
	check_data_kept(faults, stored, after, members);
}

const struct type_parts secrets_parts = {
	.description = "A secret holds what not everybody may see.",
	.fields = secret_fields,
	.presets = presets,
	.merge = plain_merge,
	.columns = of_secrets,
	.message = &proto_secret,
	.selectable = selectable,
	.selectable_fixed = true,
	.receive = fold_string_data,
	.check = check_secret,
	.check_kept = check_secret_kept,
};
