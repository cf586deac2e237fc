// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/schema/field_fault.h"

// ---- where

struct field_path field_name(const struct field_path *up, struct str name)
{
	return (struct field_path){ .up = up, .step = FIELD_NAME, .name = name };
}

struct field_path field_key(const struct field_path *up, struct str key)
{
	return (struct field_path){ .up = up, .step = FIELD_KEY, .name = key };
}

struct field_path field_index(const struct field_path *up, size_t index)
{
	return (struct field_path){ .up = up, .step = FIELD_INDEX, .index = index };
}

static void add_path(struct buf *out, const struct field_path *at)
{
	if (at->up != NULL)
		add_path(out, at->up);
	switch (at->step) {
	case FIELD_NAME:
		if (out->n > 0)
			buf_addc(out, '.');
		buf_add(out, json_clipped(out->pool, at->name));
		break;
	case FIELD_KEY:
		buf_addc(out, '[');
		buf_add(out, json_clipped(out->pool, at->name));
		buf_addc(out, ']');
		break;
	case FIELD_INDEX:
		buf_addf(out, "[%zu]", at->index);
		break;
	}
}

struct str field_path_text(struct pool *pool, const struct field_path *at)
{
	struct buf out = buf_new(pool, 64);

	add_path(&out, at);
	return buf_str(&out);
}

// ---- what

// For each reason: its name, and how its message begins.
static const struct {
	const char *name, *words;
	bool shows_value;
} reasons[] = {
	[FIELD_NOT_FOUND] = { "FieldValueNotFound", "Not found", true },
	[FIELD_REQUIRED] = { "FieldValueRequired", "Required value", false },
	[FIELD_DUPLICATE] = { "FieldValueDuplicate", "Duplicate value", true },
	[FIELD_INVALID] = { "FieldValueInvalid", "Invalid value", true },
	[FIELD_NOT_SUPPORTED] = { "FieldValueNotSupported", "Unsupported value", true },
	[FIELD_FORBIDDEN] = { "FieldValueForbidden", "Forbidden", false },
	[FIELD_TOO_LONG] = { "FieldValueTooLong", "Too long", false },
	[FIELD_TOO_MANY] = { "FieldValueTooMany", "Too many", true },
	[FIELD_INTERNAL] = { "InternalError", "Internal error", false },
	[FIELD_TYPE_INVALID] = { "FieldValueTypeInvalid", "Invalid value", true },
};

const char *field_reason_name(enum field_reason reason)
{
	return reasons[reason].name;
}

struct field_faults field_faults_new(struct pool *pool)
{
	return (struct field_faults){ .pool = pool };
}

size_t field_faults_listed(const struct field_faults *faults)
{
	return faults->n < FIELD_FAULTS_MAX ? faults->n : FIELD_FAULTS_MAX;
}

struct str field_faults_text(struct pool *pool, const struct field_faults *faults)
{
	struct buf out = buf_new(pool, 256);
	size_t n = field_faults_listed(faults);

	if (faults->n > 1)
		buf_addc(&out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			BUF_LIT(&out, ", ");
		if (faults->list[i].field.n > 0)
			buf_addf(&out, "%.*s: ", STR_ARG(faults->list[i].field));
		buf_add(&out, faults->list[i].message);
	}
	if (faults->n > n)
		buf_addf(&out, ", and %zu more", faults->n - n);
	if (faults->n > 1)
		buf_addc(&out, ']');
	return buf_str(&out);
}

bool field_fault_skips(struct field_faults *faults)
{
	faults->n += faults->n >= FIELD_FAULTS_MAX ? 1 : 0;
	return faults->n >= FIELD_FAULTS_MAX;
}

void field_fault_add(struct field_faults *faults, const struct field_path *at, enum field_reason reason,
	struct str shown, const char *format, ...)
{
	struct buf message;
	va_list args;

	if (faults->n++ >= FIELD_FAULTS_MAX)
		return;
	if (faults->list == NULL)
		faults->list = POOL_ARRAY(faults->pool, struct field_fault, FIELD_FAULTS_MAX);
	message = buf_new(faults->pool, 128);
	buf_add(&message, str_c(reasons[reason].words));
	if (reasons[reason].shows_value && shown.p != NULL)
		buf_addf(&message, ": %.*s", STR_ARG(shown));
	va_start(args, format);
	struct str detail = str_vprintf(faults->pool, format, args);
	va_end(args);
	if (detail.n > 0)
		buf_addf(&message, ": %.*s", STR_ARG(detail));
	faults->list[faults->n - 1] = (struct field_fault){ field_path_text(faults->pool, at), reason, buf_str(&message) };
}

// ---- values

struct str field_shown_text(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, 64);

	json_add_string(&out, json_clipped(pool, text));
	return buf_str(&out);
}

// Stops adding once there is enough, so that the cost of a message does not grow with what a client sends.
enum { SHOWN = 200 };

static void add_value(struct buf *out, const struct doc *value)
{
	bool first = true;

	switch (doc_kind(value)) {
	case DOC_STRING:
		json_add_string(out, json_clipped(out->pool, doc_string(value)));
		break;
	case DOC_NUMBER:
		buf_add(out, json_number_clipped(out->pool, value));
		break;
	case DOC_ARRAY:
		buf_addc(out, '[');
		for (size_t i = 0; i < doc_length(value) && out->n < SHOWN; i++) {
			buf_add(out, i > 0 ? STR(",") : STR(""));
			add_value(out, doc_at(value, i));
		}
		buf_addc(out, ']');
		break;
	case DOC_OBJECT:
		buf_addc(out, '{');
		for (struct doc_iter it = doc_iter(value); out->n < SHOWN && doc_next(&it); first = false) {
			buf_add(out, first ? STR("") : STR(","));
			json_add_string(out, json_clipped(out->pool, it.name));
			buf_addc(out, ':');
			add_value(out, it.value);
		}
		buf_addc(out, '}');
		break;
	default:
		doc_write_json(value, out);
		break;
	}
}

struct str field_shown(struct pool *pool, const struct doc *value)
{
	struct buf out = buf_new(pool, 64);

	add_value(&out, value);
	if (out.n <= SHOWN)
		return buf_str(&out);
	out.n = str_utf8_head(buf_str(&out), SHOWN).n;
	BUF_LIT(&out, "…");
	return buf_str(&out);
}

// ---- the usual ones

void field_required(struct field_faults *faults, const struct field_path *at, const char *detail)
{
	field_fault_add(faults, at, FIELD_REQUIRED, STR_NONE, "%s", detail);
}

void field_forbidden(struct field_faults *faults, const struct field_path *at, const char *detail)
{
	field_fault_add(faults, at, FIELD_FORBIDDEN, STR_NONE, "%s", detail);
}

void field_invalid(struct field_faults *faults, const struct field_path *at, const struct doc *value,
	const char *detail)
{
	if (!field_fault_skips(faults))
		field_fault_add(faults, at, FIELD_INVALID, field_shown(faults->pool, value), "%s", detail);
}

void field_invalid_text(struct field_faults *faults, const struct field_path *at, struct str value, const char *detail)
{
	if (!field_fault_skips(faults))
		field_fault_add(faults, at, FIELD_INVALID, field_shown_text(faults->pool, value), "%s", detail);
}

void field_duplicate(struct field_faults *faults, const struct field_path *at, const struct doc *value)
{
	if (!field_fault_skips(faults))
		field_fault_add(faults, at, FIELD_DUPLICATE, field_shown(faults->pool, value), "%s", "");
}

void field_not_supported(struct field_faults *faults, const struct field_path *at, struct str value,
	const char *const *supported)
{
	struct buf names;

	if (field_fault_skips(faults))
		return;
	names = buf_new(faults->pool, 64);
	for (size_t i = 0; supported[i] != NULL; i++)
		buf_addf(&names, "%s\"%s\"", i > 0 ? ", " : "", supported[i]);
	field_fault_add(faults, at, FIELD_NOT_SUPPORTED, field_shown_text(faults->pool, value), "supported values: %.*s",
		STR_ARG(names));
}
