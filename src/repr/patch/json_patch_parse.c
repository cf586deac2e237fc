// SPDX-License-Identifier: Apache-2.0
// Checks the form of a JSON Patch (RFC 6902, sections 3 and 4), without the document that it is for.
#include "base/base.h"

#include "base/pool.h"
#include "repr/patch/json_patch.h"

static const struct { const char *name; enum patch_kind kind; } kinds[] = {
	{ "add", PATCH_ADD }, { "remove", PATCH_REMOVE }, { "replace", PATCH_REPLACE },
	{ "move", PATCH_MOVE }, { "copy", PATCH_COPY }, { "test", PATCH_TEST },
};

bool patch_fail(struct pool *pool, struct str *error, size_t index, const char *format, ...)
{
	struct str why;
	va_list args;

	va_start(args, format);
	why = str_vprintf(pool, format, args);
	va_end(args);
	*error = str_printf(pool, "operation %zu of the patch, counted from 0: %.*s", index, STR_ARG(why));
	return false;
}

static bool read_kind(const struct doc *object, enum patch_kind *kind)
{
	const struct doc *op;

	if (!doc_get(object, STR("op"), &op) || doc_kind(op) != DOC_STRING)
		return false;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		*kind = kinds[i].kind;
		if (str_eq_c(doc_string(op), kinds[i].name))
			return true;
	}
	return false;
}

static bool read_pointer(struct pool *pool, const struct doc *object, const char *name, size_t index,
	struct str *text, struct pointer *pointer, struct str *error)
{
	const struct doc *member;
	const char *why = "";

	if (!doc_get(object, str_c(name), &member) || doc_kind(member) != DOC_STRING)
		return patch_fail(pool, error, index, "it must have \"%s\", a JSON Pointer as a string", name);
	*text = doc_string(member);
	if (!pointer_parse(pool, *text, pointer, &why))
		return patch_fail(pool, error, index, "\"%s\" is no JSON Pointer: one %s", name, why);
	return true;
}

static bool is_inside(const struct pointer *outer, const struct pointer *inner)
{
	if (outer->n >= inner->n)
		return false;
	for (size_t i = 0; i < outer->n; i++) {
		if (!str_eq(outer->tokens[i], inner->tokens[i]))
			return false;
	}
	return true;
}

bool patch_read(struct pool *pool, const struct doc *patch, size_t index, struct patch_operation *operation,
	struct str *error)
{
	const struct doc *object = doc_at(patch, index);

	*operation = (struct patch_operation){ .index = index };
	if (doc_kind(object) != DOC_OBJECT)
		return patch_fail(pool, error, index, "it must be an object");
	if (!read_kind(object, &operation->kind))
		return patch_fail(pool, error, index, "\"op\" must be add, remove, replace, move, copy or test");
	if (!read_pointer(pool, object, "path", index, &operation->path_text, &operation->path, error))
		return false;
	bool takes_from = operation->kind == PATCH_MOVE || operation->kind == PATCH_COPY;
	bool takes_value = !takes_from && operation->kind != PATCH_REMOVE;
	if (takes_value && !doc_get(object, STR("value"), &operation->value))
		return patch_fail(pool, error, index, "it must have \"value\"");
	if (!takes_from)
		return true;
	if (!read_pointer(pool, object, "from", index, &operation->from_text, &operation->from, error))
		return false;
	if (operation->kind == PATCH_MOVE && is_inside(&operation->from, &operation->path))
		return patch_fail(pool, error, index, "nothing can be moved into what is in it: \"from\" leads to \"path\"");
	return true;
}

bool doc_json_patch_check(struct pool *pool, const struct doc *patch, struct str *error)
{
	struct patch_operation operation;

	*error = STR("a JSON Patch is an array of operations");
	if (doc_kind(patch) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(patch); i++) {
		struct pool_mark mark = pool_mark(pool);
		if (!patch_read(pool, patch, i, &operation, error))
			return false;
		pool_rewind(pool, mark);
	}
	return true;
}
