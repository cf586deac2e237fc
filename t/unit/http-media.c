// SPDX-License-Identifier: Apache-2.0
// Content-Type and Accept.
#include "base/base.h"

#include "http/media.h"
#include "tap.h"

static void test_is(void)
{
	ok(media_is(STR("application/json"), "application/json"), "the same");
	ok(media_is(STR(" Application/JSON ;charset=utf-8"), "application/json"), "case, blanks, parameters");
	ok(media_is(STR("application/json;"), "application/json"), "an empty parameter");
	ok(!media_is(STR("application/json-patch+json"), "application/json"), "a longer subtype");
	ok(!media_is(STR("application"), "application/json"), "no subtype");
	ok(!media_is(STR("application/"), "application/json"), "an empty subtype");
	ok(!media_is(STR("application/json/x"), "application/json"), "two slashes");
	ok(!media_is(STR("application/js on"), "application/json"), "a blank within");
	ok(!media_is(STR("application/json\0"), "application/json"), "a NUL");
	ok(!media_is(STR(""), "application/json"), "empty");
	ok(!media_is(STR_NONE, "application/json"), "none");

	is_str(media_charset(STR("text/xml; charset=utf-8")), "utf-8", "charset");
	is_str(media_charset(STR("text/xml; a=\"x;charset=no\"; Charset = \"UTF-8\"")), "UTF-8", "quoted, behind another");
	ok(media_charset(STR("text/xml")).p == NULL, "no charset");
	ok(media_charset(STR("nonsense")).p == NULL, "no media type");
}

static void test_choose(void)
{
	static const char *const offers[] = { "application/xml", "application/json" };
	static const struct { const char *accept; int index; } cases[] = {
		{ NULL, 0 },
		{ "", 0 },
		{ "*/*", 0 },
		{ "application/json", 1 },
		{ "APPLICATION/JSON", 1 },
		{ "application/json, application/xml", 0 },
		{ "application/json, application/xml;q=0.9", 1 },
		{ "application/json, */*;q=0.1", 1 },
		{ "application/*", 0 },
		{ "application/xml;q=0, */*", 1 },
		{ "*/*, application/xml;q=0", 1 },
		{ "application/*;q=0.5, application/json;q=0.4", 0 },
		{ "application/*;q=0.4, application/json;q=0.5", 1 },
		{ "*/*;q=0.9, application/*;q=0.2, application/xml;q=0.1", 1 },
		{ "text/html", -1 },
		{ "text/*", -1 },
		{ "application/json;q=0", -1 },
		{ "application/json;q=0.000", -1 },
		{ "*/*;q=0", -1 },
		{ "application/json;q=0.001", 1 },
		{ "application/json; charset=utf-8", 1 },
		{ "application/json;as=Table;v=v1;g=meta.k8s.io, application/json;q=0.5", 1 },
		{ "application/json;as=Table", -1 },
		{ "application/json;q=1;ext=1", 1 },
		{ "application/json;q=1;q=0", 1 },
		{ "text/html, image/gif, *; q=.2, */*; q=.2", 0 },
		{ "application/json;q=high, application/xml;q=0.1", 0 },
		{ "application/json;q=2, text/html", -1 },
		{ "application/json;q=1.001, application/xml;q=0.1", 0 },
		{ "nonsense", 0 },
		{ ",,,", 0 },
		{ ", application/json ,", 1 },
		{ "nonsense, application/json", 1 },
		{ "\"application/json, application/xml", 0 },
		{ "*/json", -1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct str accept = cases[i].accept != NULL ? str_c(cases[i].accept) : STR_NONE;
		is_int(media_choose(accept, offers, 2), cases[i].index, "Accept: %s",
			cases[i].accept != NULL ? cases[i].accept : "(absent)");
	}
	is_int(media_choose(STR("*/*"), offers, 0), -1, "nothing to offer");

	static const char *const tables[] = { "application/json", "application/json;as=Table" };
	is_int(media_choose(STR("application/json;as=table, application/json;q=0.9"), tables, 2), 1,
		"an offer with the parameter");
	is_int(media_choose(STR("application/json;q=0.9, application/json;as=Table;q=0.1"), tables, 2), 0,
		"the range with parameters decides for the offer that has them");
}

int main(void)
{
	test_is();
	test_choose();
	return done_testing();
}
