// SPDX-License-Identifier: Apache-2.0
// The one place that touches what Connector/C keeps to itself: a row of the table of methods behind a connection, and the columns
// of a prepared statement. The library can send a statement without waiting for its answer (MARIADB_OPT_SKIP_READ_RESPONSE),
// which is how batches of one round trip are made, but has no public function that reads the answer later. configure checks that
// the method is there; t/unit/db-stmt.c, that an answer which is read later is the statement's own.
#include "base/base.h"

#include "db/db_internal.h"

#include <ma_pvio.h>

bool db_connector_has_more(const MYSQL *mysql)
{
	const MARIADB_PVIO *pvio = mysql->net.pvio;

	return pvio == NULL || pvio->ctls != NULL || (pvio->cache != NULL && pvio->cache_pos < pvio->cache + pvio->cache_size);
}

bool db_connector_read_response(MYSQL *mysql, MYSQL_STMT *stmt)
{
	assert(mysql != NULL && stmt != NULL);
	return mysql->methods->db_read_execute_response(stmt) == 0;
}

// The library copies each name that is not NULL. The names are its memory, and stay there until the statement is closed.
void db_connector_forget_names(MYSQL_STMT *stmt)
{
	for (unsigned i = 0; i < stmt->field_count; i++) {
		MYSQL_FIELD *field = &stmt->fields[i];

		field->name = field->org_name = field->table = field->org_table = NULL;
		field->db = field->catalog = field->def = NULL;
	}
}
