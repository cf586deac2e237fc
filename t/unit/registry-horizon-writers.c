// SPDX-License-Identifier: Apache-2.0
// Which connections the search for the horizon waits for, by what SHOW PROCESSLIST says of them.
#include "base/base.h"

#include "registry/log/horizon.h"
#include "tap.h"

int main(void)
{
	static const struct {
		const char *command, *info; // info NULL: none
		bool writes;
	} cases[] = {
		{ "Busy", NULL, true },
		{ "Killed", NULL, true },
		{ "Sleep", NULL, false },
		{ "Connect", NULL, false },
		{ "Quit", NULL, false },
		{ "Execute", NULL, false },
		{ "Execute", "INSERT INTO changes (tenant_id) VALUES (?)", true },
		{ "Query", "INSERT INTO changes (tenant_id) SELECT 1", true },
		{ "Killed", "INSERT INTO changes (tenant_id) VALUES (?)", true },
		{ "Execute", "INSERT INTO resources (id) VALUES (?)", false },
		{ "Execute", "SELECT MAX(id) FROM changes", false },
		{ "Execute", "(SELECT id FROM changes) UNION SELECT 1", false },
		{ "Execute", "UPDATE log_horizon SET changes = 1", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str info = cases[i].info != NULL ? str_c(cases[i].info) : STR_NONE;
		ok(horizon_may_write_log(str_c(cases[i].command), info) == cases[i].writes, "%s: %s", cases[i].command,
			cases[i].info != NULL ? cases[i].info : "no text");
	}
	return done_testing();
}
