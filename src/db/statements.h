// SPDX-License-Identifier: Apache-2.0
// Every statement of sql/statements/, as build-aux/compile-sql lists them for checks (make check-sql).
#ifndef TENURE_DB_STATEMENTS_H
#define TENURE_DB_STATEMENTS_H

#include "db/db.h"

struct db_statement {
	const struct db_query *query;
	const char *const *in_names;   // of its parameters, in their order: "id", "set.tenant_id"
	// The column that each is compared with or stored in: "table.column", "a,b.column" where it is one of these tables';
	// NULL: none is known.
	const char *const *in_columns;
	const char *const *out_names;  // of its columns
	const char *scans, *sorts;     // the reason why it may scan a table, or sort more rows than it returns; NULL: it may not
	const char *database;          // of another service: what has its tables; NULL: the registry's database
};
extern const struct db_statement db_statements[];
extern const size_t db_n_statements;

#endif
