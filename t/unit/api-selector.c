// SPDX-License-Identifier: Apache-2.0
// Label and field selectors.
#include "base/base.h"

#include "api/selector.h"
#include "documents.h"

// answer: y, n, or x where it must be refused.
static const struct { const char *selector, *labels; char answer; } labels[] = {
	{ "", "{}", 'y' }, { "  ", "null", 'y' },
	{ "a=b", "{\"a\":\"b\"}", 'y' }, { "a=b", "{\"a\":\"c\"}", 'n' }, { "a=b", "{}", 'n' }, { "a=b", "null", 'n' },
	{ "a==b", "{\"a\":\"b\"}", 'y' }, { " a = b ", "{\"a\":\"b\"}", 'y' }, { "a=", "{\"a\":\"\"}", 'y' },
	{ "a=", "{\"a\":\"x\"}", 'n' }, { "a=,b=c", "{\"a\":\"\",\"b\":\"c\"}", 'y' },
	{ "a!=b", "{\"a\":\"b\"}", 'n' }, { "a!=b", "{\"a\":\"c\"}", 'y' }, { "a!=b", "{}", 'y' },
	{ "a in (x,y)", "{\"a\":\"y\"}", 'y' }, { "a in (x,y)", "{\"a\":\"z\"}", 'n' }, { "a in (x)", "{}", 'n' },
	{ "a in( y , x )", "{\"a\":\"x\"}", 'y' }, { "a in ()", "{\"a\":\"\"}", 'y' }, { "a in (,x)", "{\"a\":\"\"}", 'y' },
	{ "a notin (x,y)", "{\"a\":\"y\"}", 'n' }, { "a notin (x,y)", "{\"a\":\"z\"}", 'y' }, { "a notin (x)", "{}", 'y' },
	{ "a", "{\"a\":\"\"}", 'y' }, { "a", "{\"b\":\"\"}", 'n' }, { "!a", "{\"a\":\"\"}", 'n' }, { "! a", "{}", 'y' },
	{ "a,b", "{\"a\":\"1\",\"b\":\"1\"}", 'y' }, { "a,b", "{\"a\":\"1\"}", 'n' }, { "a,!b,c!=d", "{\"a\":\"1\"}", 'y' },
	{ "in in (in)", "{\"in\":\"in\"}", 'y' }, { "in", "{\"in\":\"1\"}", 'y' }, { "notin", "{}", 'n' },
	{ "a>5", "{\"a\":\"6\"}", 'y' }, { "a>5", "{\"a\":\"5\"}", 'n' }, { "a<5", "{\"a\":\"-7\"}", 'y' },
	{ "a<5", "{\"a\":\"x\"}", 'n' }, { "a<5", "{}", 'n' },
	{ "example.com/app=web", "{\"example.com/app\":\"web\"}", 'y' }, { "a.b_c-d=E.f", "{\"a.b_c-d\":\"E.f\"}", 'y' },
	{ "a=b", "{\"a\":1}", 'n' }, { "a=b", "[\"a\"]", 'n' },
	{ ",", "{}", 'x' }, { "a,", "{}", 'x' }, { "=b", "{}", 'x' }, { "a in x", "{}", 'x' }, { "a in (x", "{}", 'x' },
	{ "a in (x y)", "{}", 'x' }, { "a b", "{}", 'x' }, { "a=b c", "{}", 'x' }, { "a!b", "{}", 'x' }, { "!a=b", "{}", 'x' },
	{ "a=b)", "{}", 'x' }, { "a>x", "{}", 'x' }, { "a>", "{}", 'x' }, { "-a=b", "{}", 'x' }, { "a=-b", "{}", 'x' },
	{ "a/b/c=d", "{}", 'x' }, { "/b=d", "{}", 'x' }, { "a/=d", "{}", 'x' }, { "a=b=c", "{}", 'x' }, { "a=\xC3\xA9", "{}", 'x' },
	{ "a===b", "{}", 'x' },
};

static void test_labels(struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		const struct label_selector *selector;
		struct str error = STR("");
		bool read = label_selector_parse(pool, str_c(labels[i].selector), &selector, &error);
		char answer = !read ? 'x' : label_selector_matches(selector, parsed(pool, labels[i].labels)) ? 'y' : 'n';
		ok(answer == labels[i].answer, "\"%s\" of %s: %c, %.*s", labels[i].selector, labels[i].labels, answer,
			STR_ARG(error));
	}
	struct buf many = buf_new(pool, 0);
	const struct label_selector *selector;
	struct str error;
	BUF_LIT(&many, "a in (");
	for (int i = 0; i < 9999; i++)
		buf_addf(&many, "v%d,", i);
	BUF_LIT(&many, "last)");
	ok(label_selector_parse(pool, buf_str(&many), &selector, &error) &&
		label_selector_matches(selector, parsed(pool, "{\"a\":\"v77\"}")) &&
		!label_selector_matches(selector, parsed(pool, "{\"a\":\"v9999\"}")), "many values");
	many.n--;
	BUF_LIT(&many, ",x)");
	bool taken = label_selector_parse(pool, buf_str(&many), &selector, &error);
	ok(!taken, "too many: %.*s", STR_ARG(error));
}

static const struct { const char *selector; char answer; } fields[] = {
	{ "", 'y' }, { "metadata.name=n", 'y' }, { "metadata.name==n", 'y' }, { "metadata.name=m", 'n' },
	{ "metadata.name!=n", 'n' }, { "metadata.name!=m,metadata.namespace=ns", 'y' }, { "metadata.name=n,", 'y' },
	{ "spec.nodeName=", 'y' }, { "spec.nodeName!=", 'n' }, { "status.phase=a\\,b\\=c\\\\d", 'y' }, { "spec.on=true", 'y' },
	{ "status.phase=a\\", 'x' }, { "status.phase=a\\b", 'x' }, { "status.phase=a=b", 'x' }, { "spec.other=x", 'x' },
	{ "metadata.name", 'x' }, { "=x", 'x' }, { "metadata.name=n,foo", 'x' },
};

// Whatever a selector selects has its trace.
static void test_traces(struct pool *pool)
{
	static const struct { const char *selector, *trace; } traces[] = {
		{ "a=b", "\"a\":\"b\"" }, { "x!=y,a==b", "\"a\":\"b\"" }, { "c,a=b", "\"a\":\"b\"" }, { "a in (x,y)", "\"a\":" },
		{ "a in (x)", "\"a\":\"x\"" }, { "example.com/a", "\"example.com/a\":" }, { "a=", "\"a\":" }, { "a>5", "\"a\":" },
		{ "!a", "" }, { "a!=b", "" }, { "a notin (b)", "" }, { "", "" },
	};
	const struct label_selector *selector;
	const struct field_selector *of_fields;
	struct str error;

	for (size_t i = 0; i < COUNT_OF(traces); i++) {
		bool read = label_selector_parse(pool, str_c(traces[i].selector), &selector, &error);
		struct str trace = read ? label_selector_trace(pool, selector) : STR_NONE;
		ok(read && str_eq(trace, str_c(traces[i].trace)), "the trace of \"%s\": %.*s", traces[i].selector, STR_ARG(trace));
	}
	size_t wrong = 0;
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		if (labels[i].answer != 'y' || !label_selector_parse(pool, str_c(labels[i].selector), &selector, &error))
			continue;
		struct str trace = label_selector_trace(pool, selector), object = str_c(labels[i].labels);
		wrong += memmem(object.p, object.n, trace.p != NULL ? trace.p : "", trace.n) != NULL ? 0 : 1;
	}
	ok(wrong == 0, "all labels that are selected have the trace");
	static const char *const allowed[] = { "status.phase", "spec.on", "type", NULL };
	static const struct { const char *selector, *trace; } of[] = {
		{ "status.phase=Failed", "\"phase\":\"Failed\"" }, { "metadata.name=a,type=example.com", "\"type\":\"example.com\"" },
		{ "spec.on=true", "" }, { "type=", "" }, { "type!=x", "" }, { "type=a\\\\b", "" }, { "metadata.name=a", "" },
	};
	for (size_t i = 0; i < COUNT_OF(of); i++) {
		bool read = field_selector_parse(pool, str_c(of[i].selector), allowed, &of_fields, &error);
		struct str trace = read ? field_selector_trace(pool, of_fields) : STR_NONE;
		ok(read && str_eq(trace, str_c(of[i].trace)), "the trace of \"%s\": %.*s", of[i].selector, STR_ARG(trace));
	}
}

static void test_fields(struct pool *pool)
{
	static const char *const allowed[] = { "spec.nodeName", "status.phase", "spec.on", NULL };
	const struct doc *object = parsed(pool, "{\"metadata\":{\"name\":\"n\",\"namespace\":\"ns\"},\"spec\":{\"on\":true},"
		"\"status\":{\"phase\":\"a,b=c\\\\d\"}}");
	const struct field_selector *selector;
	struct str error = STR("");

	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		bool read = field_selector_parse(pool, str_c(fields[i].selector), allowed, &selector, &error);
		char answer = !read ? 'x' : field_selector_matches(selector, object) ? 'y' : 'n';
		ok(answer == fields[i].answer, "\"%s\": %c, %.*s", fields[i].selector, answer, STR_ARG(error));
	}
	ok(field_selector_parse(pool, STR("metadata.namespace!=a,metadata.name=b"), NULL, &selector, &error), "read");
	is_str(field_selector_value(selector, "metadata.name"), "b", "the name that is asked for");
	ok(field_selector_value(selector, "metadata.namespace").p == NULL, "and no namespace");
	ok(!field_selector_is_empty(selector), "not empty");
	struct buf cut = buf_new(pool, 128);
	buf_addf(&cut, "%099d\xC3\xA9", 0);
	ok(!field_selector_parse(pool, buf_str(&cut), NULL, &selector, &error) && str_utf8_ok(error, NULL), "shown up to a whole character");
	ok(!field_selector_parse(pool, STR("spec.on=true"), NULL, &selector, &error), "not of this type");
	is_str(error, "field label not supported: spec.on", "said so");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_labels(pool);

	test_traces(pool);
	test_fields(pool);
	pool_free(&pool);
	return done_testing();
}
