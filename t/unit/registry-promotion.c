// SPDX-License-Identifier: Apache-2.0
// Lists of GTIDs: what one server has of what another one has.
#include "base/base.h"

#include "registry/upkeep/promotion.h"
#include "tap.h"

int main(void)
{
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
