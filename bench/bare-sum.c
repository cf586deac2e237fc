// SPDX-License-Identifier: Apache-2.0
// bare-sum TENANT TIMES: the aggregate behind a tenant's state tag, alone (q_sum of registry/move/plan.c). Prints the
// seconds of each.
#include "base/base.h"

#include "bare.h"

static const char q_sum[] =
	"SELECT COUNT(*), COALESCE(SUM(r.bytes), 0), COALESCE(SUM(r.locked), 0), COALESCE(SUM(r.h0 * r.revision), 0), "
	"COALESCE(SUM(r.h1 * r.revision), 0), COALESCE(SUM(r.h2 * r.revision), 0), COALESCE(SUM(r.h3 * r.revision), 0) "
	"FROM resources r WHERE r.tenant_id = ? AND r.live = 1";

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: bare-sum TENANT TIMES");
	MYSQL *mysql = bare_connect();
	uint64_t tenant = bare_tenant(mysql, argv[1]);
	MYSQL_BIND in = bare_u(&tenant);
	MYSQL_STMT *stmt = bare_prepare(mysql, q_sum, &in);

	for (unsigned i = bench_number(argv[2], 1000); i > 0; i--) {
		double began = bench_seconds();
		bare_batch(mysql, &stmt, 1);
		printf("%.6f\n", bench_seconds() - began);
	}
	return 0;
}
