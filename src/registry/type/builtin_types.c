// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "registry/type/builtin_types.h"

#include "base/pool.h"
#include "registry/type/definition_internal.h"
#include "sql/types.h"

static bool is_in(const struct db_rows *rows, const struct builtin *builtin)
{
	bool namespaced = builtin->definition.scope == SCOPE_NAMESPACED;

	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_type *type = &sql_type_list_builtin_row(rows, i)->t;
		if (str_eq_c(type->plural, builtin->plural) && str_eq_c(type->group_name, builtin->group) &&
			(type->namespaced != 0) == namespaced)
			return true;
	}
	return false;
}

// Finds the entries of builtins[] that the database has no row for, at most n_builtins.
static enum db_result find_missing(struct db *db, struct pool *pool, const struct builtin ***missing, size_t *n)
{
	struct db_rows rows;
	enum db_result result = sql_type_list_builtin_run(db, pool, &rows);

	*missing = POOL_ARRAY(pool, const struct builtin *, n_builtins);
	*n = 0;
	for (size_t i = 0; result == DB_OK && i < n_builtins; i++) {
		if (!is_in(&rows, &builtins[i]))
			(*missing)[(*n)++] = &builtins[i];
	}
	return result;
}

enum db_result builtin_types_missing(struct db *db, struct pool *pool, const struct str **names, size_t *n)
{
	const struct builtin **missing;
	enum db_result result = find_missing(db, pool, &missing, n);
	struct str *list = POOL_ARRAY(pool, struct str, *n + 1);

	for (size_t i = 0; i < *n; i++)
		list[i] = str_printf(pool, "%s%s%s", missing[i]->plural, missing[i]->group[0] != '\0' ? "." : "", missing[i]->group);
	*names = list;
	return result;
}

enum db_result builtin_types_ensure(struct db *db, struct pool *pool)
{
	const struct builtin **missing;
	size_t n;
	enum db_result result = find_missing(db, pool, &missing, &n);

	for (size_t i = 0; result == DB_OK && i < n; i++) {
		const struct sql_type_insert_builtin in = {
			.group_name = str_c(missing[i]->group),
			.version = missing[i]->definition.versions[0].name,
			.kind = str_c(missing[i]->kind),
			.plural = str_c(missing[i]->plural),
			.singular = ascii_lowered(pool, str_c(missing[i]->kind)),
			.namespaced = missing[i]->definition.scope == SCOPE_NAMESPACED,
		};
		result = sql_type_insert_builtin_run(db, pool, &in, NULL);
	}
	return result;
}
