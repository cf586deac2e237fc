// SPDX-License-Identifier: Apache-2.0
// Shapes in JSON: checks a tree against its shape, and writes it.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/internal.h"

struct check {
	struct pool *pool;
	struct str *error;
};

static bool check_value(struct check *check, const struct shape *shape, struct doc *value, const struct place *at);

static enum doc_kind wanted_kind(enum shape_kind kind)
{
	switch (kind) {
	case SHAPE_STRING: return DOC_STRING;
	case SHAPE_NUMBER: return DOC_NUMBER;
	case SHAPE_BOOL: return DOC_BOOL;
	case SHAPE_LIST: return DOC_ARRAY;
	case SHAPE_OBJECT:
	case SHAPE_MAP:
	case SHAPE_ANY: break;
	}
	return DOC_OBJECT;
}

static bool check_kind(struct check *check, enum doc_kind wanted, const struct doc *value, const struct place *at)
{
	enum doc_kind kind = doc_kind(value);

	if (kind == wanted)
		return true;
	struct str where = place_text(check->pool, at);
	*check->error = str_printf(check->pool, "%.*s must be %s, not %s", STR_ARG(where), kind_name(wanted),
		kind_name(kind));
	return false;
}

static bool refuse_unknown(struct check *check, const struct shape *members, const struct place *at)
{
	struct str where = place_text(check->pool, at);
	struct str names = shape_member_names(check->pool, members, SHAPE_ATTRIBUTES | SHAPE_ELEMENTS);

	*check->error = str_printf(check->pool, "%.*s is not known here; known are %.*s", STR_ARG(where), STR_ARG(names));
	return false;
}

static bool check_required(struct check *check, const struct shape *members, const struct doc *object,
	const struct place *at)
{
	const struct doc *value;

	for (const struct shape *member = members; member->name != NULL; member++) {
		if ((member->flags & SHAPE_REQUIRED) == 0 || doc_get(object, str_c(member->name), &value))
			continue;
		struct place missing = { .parent = at, .name = str_c(member->name) };
		struct str where = place_text(check->pool, &missing);
		*check->error = str_printf(check->pool, "%.*s is missing", STR_ARG(where));
		return false;
	}
	return true;
}

static bool check_object(struct check *check, const struct shape *shape, struct doc *object, const struct place *at)
{
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		struct place place = { .parent = at, .name = it.name };
		const struct shape *member = shape_find_member(shape->members, it.name);
		if (member == NULL)
			return refuse_unknown(check, shape->members, &place);
		if ((member->flags & SHAPE_NOT_READ) != 0)
			doc_remove(object, str_c(member->name)); // the iterator has passed it
		else if (!check_value(check, member, json_own(it.value), &place))
			return false;
	}
	return check_required(check, shape->members, object, at);
}

static bool check_list(struct check *check, const struct shape *shape, const struct doc *list, const struct place *at)
{
	for (size_t i = 0; i < doc_length(list); i++) {
		struct place place = { .parent = at, .index = i };
		if (!check_value(check, shape->item, json_own(doc_at(list, i)), &place))
			return false;
	}
	return true;
}

static bool check_map(struct check *check, const struct doc *map, const struct place *at)
{
	for (struct doc_iter it = doc_iter(map); doc_next(&it);) {
		struct place place = { .parent = at, .name = it.name };
		if (!check_kind(check, DOC_STRING, it.value, &place))
			return false;
	}
	return true;
}

static bool check_value(struct check *check, const struct shape *shape, struct doc *value, const struct place *at)
{
	if (shape->kind == SHAPE_ANY)
		return true;
	if (!check_kind(check, wanted_kind(shape->kind), value, at))
		return false;
	switch (shape->kind) {
	case SHAPE_OBJECT: return check_object(check, shape, value, at);
	case SHAPE_LIST: return check_list(check, shape, value, at);
	case SHAPE_MAP: return check_map(check, value, at);
	default: return true;
	}
}

// Returns the value of the only member of a document with a root. "{}" counts as an empty body.
static bool take_root(struct check *check, const char *root, struct doc **value)
{
	struct str name = str_c(root);
	const struct doc *body = NULL;

	if (doc_kind(*value) != DOC_OBJECT) {
		*check->error = str_printf(check->pool, "expected an object with the member \"%s\", found %s", root,
			kind_name(doc_kind(*value)));
		return false;
	}
	for (struct doc_iter it = doc_iter(*value); doc_next(&it);) {
		struct str found = json_clipped(check->pool, it.name);
		if (str_eq(it.name, name))
			continue;
		*check->error = str_printf(check->pool, "expected \"%s\"%s, found \"%.*s\"", root,
			doc_length(*value) > 1 ? " alone" : "", STR_ARG(found));
		return false;
	}
	if (doc_get(*value, name, &body))
		*value = json_own(body);
	return true;
}

bool shape_read_json(struct pool *pool, const struct repr_document *document, struct str text, struct doc_limits limits,
	struct doc **body, struct str *error)
{
	struct check check = { .pool = pool, .error = error };
	struct place root = { .name = document->root != NULL ? str_c(document->root) : STR("") };

	return doc_parse_json(pool, text, limits, body, error) &&
		(document->root == NULL || take_root(&check, document->root, body)) &&
		check_value(&check, &document->body, *body, &root);
}

// ---- writing

static void write_value(const struct shape *shape, const struct doc *value, struct buf *out);

static void write_object(const struct shape *shape, const struct doc *object, struct buf *out)
{
	const struct doc *value;
	bool first = true;

	buf_addc(out, '{');
	for (const struct shape *member = shape->members; member->name != NULL; member++) {
		if (!doc_get(object, str_c(member->name), &value))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		json_add_string(out, str_c(member->name));
		buf_addc(out, ':');
		write_value(member, value, out);
	}
	buf_addc(out, '}');
}

static void write_list(const struct shape *shape, const struct doc *list, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < doc_length(list); i++) {
		if (i > 0)
			buf_addc(out, ',');
		write_value(shape->item, doc_at(list, i), out);
	}
	buf_addc(out, ']');
}

static void write_value(const struct shape *shape, const struct doc *value, struct buf *out)
{
	if (shape->kind == SHAPE_OBJECT && doc_kind(value) == DOC_OBJECT)
		write_object(shape, value, out);
	else if (shape->kind == SHAPE_LIST && doc_kind(value) == DOC_ARRAY)
		write_list(shape, value, out);
	else
		doc_write_json(value, out);
}

void shape_write_json(const struct repr_document *document, const struct doc *body, struct buf *out)
{
	if (document->root != NULL) {
		buf_addc(out, '{');
		json_add_string(out, str_c(document->root));
		buf_addc(out, ':');
	}
	write_value(&document->body, body, out);
	if (document->root != NULL)
		buf_addc(out, '}');
}
