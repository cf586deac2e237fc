// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/resource_class.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/catalogue.h"
#include "registry/provider_internal.h"
#include "repr/doc.h"

// Names as a table j, of one parameter: a JSON array of strings.
#define NAMES \
	"JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) j"

static const struct db_query q_list = {
	"SELECT id, name, updated_at FROM resource_classes WHERE live = 1 ORDER BY id", "", "ust"
};
static const struct db_query q_get = {
	"SELECT id, name, updated_at FROM resource_classes WHERE name = ? AND live = 1", "s", "ust"
};
static const struct db_query q_lock = {
	"SELECT id, name, updated_at FROM resource_classes WHERE name = ? AND live = 1 FOR UPDATE", "s", "ust"
};
static const struct db_query q_insert = { "INSERT INTO resource_classes (name, updated_at) VALUES (?, ?)", "st", "" };
// One that was hidden, as if it were new.
static const struct db_query q_make_anew = {
	"UPDATE resource_classes SET live = 1, updated_at = ? WHERE name = ? AND live IS NULL", "ts", ""
};
static const struct db_query q_rename = { "UPDATE resource_classes SET name = ?, updated_at = ? WHERE id = ?", "stu", "" };
static const struct db_query q_delete = { "DELETE FROM resource_classes WHERE id = ?", "u", "" };
static const struct db_query q_hide = { "UPDATE resource_classes SET live = NULL WHERE id = ?", "u", "" };
// Whose inventory of it is seen, or used by a consumer who is; who has inventory of it.
static const struct db_query q_user = {
	"SELECT r.id FROM inventories x STRAIGHT_JOIN " SEEN_OF_X " WHERE x.class_id = ? LIMIT 1", "u", "u"
};
static const struct db_query q_consumed = {
	"SELECT resource_id FROM inventories WHERE class_id = ? AND used > 0 LIMIT 1", "u", "u"
};
static const struct db_query q_holder = { "SELECT resource_id FROM inventories WHERE class_id = ? LIMIT 1", "u", "u" };
// Whoever gives a provider inventory of a class locks the class shared, so that it is not deleted meanwhile.
#define FIND "SELECT c.id, c.name FROM " NAMES " STRAIGHT_JOIN resource_classes c ON c.name = j.name AND c.live = 1"
static const struct db_query q_find[2] = {
	{ FIND, "s", "us" },
	{ FIND " LOCK IN SHARE MODE", "s", "us" },
};

bool resource_class_is_custom(struct str name)
{
	struct str prefix = STR("CUSTOM_");

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return str_starts(name, prefix) && name.n > prefix.n && name.n <= RESOURCE_CLASS_MAX_NAME;
}

// ---- for those who name classes

struct str names_as_json(struct pool *pool, const struct str *names, size_t n)
{
	struct buf json = buf_new(pool, 32 * (n + 1));

	buf_addc(&json, '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&json, ',');
		json_add_string(&json, names[i]);
	}
	buf_addc(&json, ']');
	return buf_str(&json);
}

enum outcome classes_find(struct registry *registry, const struct str *names, size_t n, bool held, uint64_t *ids,
	struct str *unknown)
{
	struct db_rows rows;

	if (unknown != NULL)
		*unknown = STR_NONE;
	if (n == 0)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_find[held ? 1 : 0],
		DB_IN(db_s(names_as_json(registry->pool, names, n))), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < n; i++) {
		ids[i] = 0;
		for (size_t k = 0; ids[i] == 0 && k < rows.n; k++) {
			if (str_eq(db_at(&rows, k, 1)->s, names[i]))
				ids[i] = db_at(&rows, k, 0)->u;
		}
		if (ids[i] == 0 && unknown != NULL && unknown->p == NULL)
			*unknown = names[i];
	}
	return OUTCOME_OK;
}

// ---- reading

static void class_from_row(struct resource_class *class, const struct db_rows *rows, size_t row)
{
	*class = (struct resource_class){
		.id = db_at(rows, row, 0)->u,
		.name = db_at(rows, row, 1)->s,
		.updated_us = db_at(rows, row, 2)->i,
	};
}

static bool is_standard(const struct resource_class *class)
{
	return class->id < RESOURCE_CLASS_MIN_CUSTOM;
}

static enum outcome fail_no_class(struct registry *registry, struct str name)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No such resource class %.*s.", STR_ARG(str_part(name, 0, 256)));
}

static enum outcome find(struct registry *registry, const struct db_query *query, struct str name,
	struct resource_class *class)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, query, DB_IN(db_s(name)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_no_class(registry, name);
	class_from_row(class, &rows, 0);
	return OUTCOME_OK;
}

enum outcome resource_class_get(struct registry *registry, struct str name, struct resource_class *class)
{
	return find(registry, &q_get, name, class);
}

enum outcome resource_class_list(struct registry *registry, struct resource_class **list, size_t *n)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_list, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*list = POOL_ARRAY(registry->pool, struct resource_class, rows.n);
	*n = rows.n;
	for (size_t i = 0; i < rows.n; i++)
		class_from_row(&(*list)[i], &rows, i);
	return OUTCOME_OK;
}

// ---- writing

static enum outcome check_custom(struct registry *registry, struct str name)
{
	if (resource_class_is_custom(name))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"a resource class of one's own is named CUSTOM_ and then at least one of A-Z, 0-9 and _, 255 characters at most");
}

// Classes leave no change rows, by which an earlier run of this request whose COMMIT was lost would be known: their time,
// which is the same in every run, tells.
static bool is_own_work(const struct registry *registry, const struct resource_class *class)
{
	return db_txn_tries(registry->db) > 1 && class->updated_us == registry->now_us;
}

// OUTCOME_CREATED, or _OK when somebody has made it.
static enum outcome make(struct registry *registry, struct str name, struct resource_class *class)
{
	struct db_value now = db_t(registry->now_us);
	struct db_call calls[] = {
		{ .query = &q_insert, .in = DB_IN(db_s(name), now) },
		{ .query = &q_make_anew, .in = DB_IN(now, db_s(name)) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].result == DB_DUPLICATE) {
		enum outcome outcome = find(registry, &q_lock, name, class);
		bool own = calls[1].rows.affected > 0 || (outcome == OUTCOME_OK && is_own_work(registry, class));
		return outcome == OUTCOME_OK && own ? OUTCOME_CREATED : outcome;
	}
	*class = (struct resource_class){
		.id = calls[0].rows.insert_id, .name = name, .updated_us = registry->now_us
	};
	return OUTCOME_CREATED;
}

enum outcome resource_class_put(struct registry *registry, struct str name, struct resource_class *class)
{
	enum outcome outcome = check_custom(registry, name);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = find(registry, &q_get, name, class);
	return outcome == OUTCOME_NOT_FOUND ? make(registry, name, class) : outcome;
}

enum outcome resource_class_create(struct registry *registry, struct str name, struct resource_class *class)
{
	enum outcome outcome = check_custom(registry, name);

	if (outcome == OUTCOME_OK)
		outcome = make(registry, name, class);
	if (outcome != OUTCOME_OK)
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT, "Conflicting resource class already exists: %.*s", STR_ARG(name));
}

// A hidden one has its name, too: two would have it when its providers come back.
static enum outcome fail_taken(struct registry *registry, struct str to)
{
	struct resource_class class;
	enum outcome outcome = find(registry, &q_get, to, &class);

	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT, "Resource class already exists: %.*s%s", STR_ARG(to),
		outcome == OUTCOME_OK ? "" :
			". Deleted resource providers have inventory of it, and can be recovered: use another name, or make that "
			"class anew");
}

enum outcome resource_class_rename(struct registry *registry, struct str name, struct str to,
	struct resource_class *class)
{
	enum outcome outcome = check_custom(registry, to);

	if (outcome == OUTCOME_OK && find(registry, &q_get, to, class) == OUTCOME_OK && is_own_work(registry, class))
		return OUTCOME_OK;
	if (outcome == OUTCOME_OK)
		outcome = find(registry, &q_lock, name, class);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (is_standard(class))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "Cannot update standard resource class %.*s.", STR_ARG(name));
	enum db_result result = db_run(registry->db, registry->pool, &q_rename,
		DB_IN(db_s(to), db_t(registry->now_us), db_u(class->id)), NULL);
	if (result == DB_DUPLICATE)
		return fail_taken(registry, to);
	if (result != DB_OK)
		return registry_db_failed(result);
	class->name = to;
	class->updated_us = registry->now_us;
	return OUTCOME_OK;
}

enum outcome resource_class_delete(struct registry *registry, struct str name)
{
	struct resource_class class;
	enum outcome outcome = find(registry, &q_lock, name, &class);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (is_standard(&class))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"Error in delete resource class: Cannot delete standard resource class %.*s.", STR_ARG(name));
	const struct db_value id = db_u(class.id);
	struct db_call calls[] = {
		catalogue_hold_call(),
		{ .query = &q_user, .in = &id },
		{ .query = &q_consumed, .in = &id },
		{ .query = &q_holder, .in = &id },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result == DB_OK && calls[1].rows.n + calls[2].rows.n > 0)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"Error in delete resource class: Cannot delete resource class %.*s. Class is in use in inventory.",
			STR_ARG(name));
	if (result == DB_OK)
		result = db_run(registry->db, registry->pool, calls[3].rows.n > 0 ? &q_hide : &q_delete, &id, NULL);
	return result == DB_OK ? OUTCOME_NO_CONTENT : registry_db_failed(result);
}
