// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/outcome.h"
#include "tap.h"

int main(void)
{
	is_int(outcome_status(OUTCOME_OK), 200, "OK is 200");
	is_int(outcome_status(OUTCOME_STALE), 412, "a stale precondition is 412");
	is_str(str_c(outcome_name(OUTCOME_NAME_TAKEN)), "name-taken", "a name in lower case with dashes");
	is_str(str_c(outcome_name(OUTCOME_NAME_TAKEN)), "name-taken", "the second time, too");
	is_str(str_c(outcome_title(OUTCOME_GONE)), "Gone", "a title");
	ok(outcome_commits(OUTCOME_OK) && outcome_commits(OUTCOME_SEE_OTHER) && outcome_commits(OUTCOME_NOT_MODIFIED),
	   "below 400 commits");
	ok(!outcome_commits(OUTCOME_BAD_REQUEST) && !outcome_commits(OUTCOME_UNAVAILABLE), "400 and above rolls back");
	for (int i = 0; i < OUTCOME__COUNT; i++) {
		enum outcome outcome = (enum outcome)i;
		const char *name = outcome_name(outcome);
		bool good = strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name) && name[0] != '\0';

		for (int j = 0; j < i; j++)
			good = good && strcmp(name, outcome_name((enum outcome)j)) != 0;
		ok(good, "%s is a name of its own", name);
		ok(outcome_status(outcome) >= 200 && outcome_status(outcome) < 600, "%s has a final status", name);
		ok(outcome_title(outcome)[0] != '\0', "%s has a title", name);
	}
	return done_testing();
}
