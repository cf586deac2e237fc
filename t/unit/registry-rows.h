// SPDX-License-Identifier: Apache-2.0
// What stands in the tables, as text: for tests that compare rows.
#ifndef TENURE_T_UNIT_REGISTRY_ROWS_H
#define TENURE_T_UNIT_REGISTRY_ROWS_H

#include "registry-fixture.h"

// The one text that a query of the test's own answers.
static struct str sql_text(const char *sql)
{
	struct db *db = db_open(db_settings(server.config), DB_OPERATOR);
	struct db_rows rows;
	struct str text = STR("(failed)");

	if (db_run(db, here.pool, TEST_QUERY(sql, "s"), NULL, &rows) == DB_OK && rows.n == 1)
		text = db_at(&rows, 0, 0)->null ? STR("") : str_dup(here.pool, db_at(&rows, 0, 0)->s);
	else
		diag("%s: %s", sql, db_error(db));
	db_close(&db);
	return text;
}

// In a query: the name of a tenant by its id; the path of a row that has a namespace, a type and a name.
#define TENANT(id) "COALESCE((SELECT name FROM tenants WHERE id = " id "), '-')"
#define PATH(x) "CONCAT(" x ".namespace, '/', (SELECT LEFT(plural, 2) FROM types WHERE id = " x ".type_id), ':', " x ".name)"

#endif
