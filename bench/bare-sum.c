// SPDX-License-Identifier: Apache-2.0
// bare-sum TENANT TIMES: the aggregate behind a tenant's state tag, alone (move_sum of sql/statements/moves.sql). Prints the
// seconds of each.
#include "base/base.h"

#include "bare.h"
#include "sql/moves.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: bare-sum TENANT TIMES");
	MYSQL *mysql = bare_connect();
	uint64_t tenant = bare_tenant(mysql, argv[1]);
	MYSQL_STMT *stmt = BARE_PREPARE(mysql, &sql_move_sum_query[SQL_MOVE_SUMMED_ALL], { "set.tenant_id", bare_u(&tenant) });

	for (unsigned i = bench_number(argv[2], 1000); i > 0; i--) {
		double began = bench_seconds();
		bare_batch(mysql, &stmt, 1);
		printf("%.6f\n", bench_seconds() - began);
	}
	return 0;
}
