// SPDX-License-Identifier: Apache-2.0
// Lists of GTIDs: what one server has of what another one has. The address by which others reach the target of a switch.
#include "base/base.h"

#include "registry/upkeep/promotion.h"
#include "tap.h"

static void test_addresses(void)
{
	static const struct {
		const char *target, *report_host, *other;
		const char *address; // NULL: nobody knows
	} cases[] = {
		{ "db1.example", "", "db2.example", "db1.example" },
		{ "db1.example:3307", "", "127.0.0.1", "db1.example" },
		{ "[2001:db8::1]:3307", "", "db2.example", "2001:db8::1" },
		{ "", "", "db2.example", NULL },
		{ "localhost", "", "db2.example", NULL },
		{ "localhost", "", "127.0.0.1:3307", NULL },
		{ "localhost", "db1.example", "db2.example", "db1.example" },
		{ "127.0.0.1", "", "db2.example", NULL },
		{ "127.1.2.3:3307", "", "192.0.2.7:3306", NULL },
		{ "[::1]", "", "db2.example:3307", NULL },
		{ "[0:0::1]:3307", "", "[2001:db8::2]", NULL },
		{ "127.0.0.1", "db1.example", "db2.example", "db1.example" },
		{ "127.0.0.1", "127.0.0.1", "db2.example", NULL },
		{ "127.0.0.1:3306", "", "127.0.0.1:3307", "127.0.0.1" },
		{ "[::1]:3306", "", "127.0.0.1:3307", "::1" },
		{ "127.0.0.1:3307", "", "localhost", "127.0.0.1" },
		{ "128.0.0.1", "", "db2.example", "128.0.0.1" },
		{ "127.example", "", "db2.example", "127.example" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct cluster cluster = { .n = 2 };
		struct str host;
		cluster.nodes[0].host = str_c(cases[i].other);
		cluster.nodes[1].host = str_c(cases[i].target);
		cluster.nodes[1].replication.report_host = str_c(cases[i].report_host);
		bool known = promotion_address(&cluster, 1, &host);
		ok(known == (cases[i].address != NULL), "%s, beside %s, is %s", cases[i].target, cases[i].other, known ? "reached" : "not reached");
		if (known && cases[i].address != NULL)
			is_str(host, cases[i].address, "... there");
	}
}

int main(void)
{
	test_addresses();
	ok(promotion_covers(STR(""), STR("")), "nothing and nothing");
	ok(promotion_covers(STR("0-1-5"), STR("")), "something and nothing");
	ok(!promotion_covers(STR(""), STR("0-1-5")), "nothing and something");
	ok(promotion_covers(STR("0-1-5"), STR("0-1-5")), "the same");
	ok(promotion_covers(STR("0-2-6"), STR("0-1-5")), "more, of another server");
	ok(!promotion_covers(STR("0-2-4"), STR("0-1-5")), "less, of another server");
	ok(promotion_covers(STR("3-1-1,0-1-5"), STR("0-1-5,3-9-1")), "two domains in another order");
	ok(!promotion_covers(STR("0-1-5"), STR("0-1-5,3-9-1")), "a domain more");
	ok(promotion_covers(STR("0-1-5, 3-9-1"), STR("3-9-1")), "blanks");
	ok(!promotion_covers(STR("13-1-5"), STR("3-1-5")), "a domain whose number is part of another's");
	ok(promotion_covers(STR("0-1-18446744073709551615"), STR("0-1-18446744073709551614")), "large numbers");
	ok(!promotion_covers(STR("0-1-x"), STR("0-1-1")), "a number that is none counts as nothing");
	return done_testing();
}
