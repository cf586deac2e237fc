// SPDX-License-Identifier: Apache-2.0
// The fields that a change touched: two levels, 64 entries, and what stands for those that are too many or too long.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/log/changed_fields.h"
#include "tap.h"

static struct resource resource(const char *meta, struct str body)
{
	return (struct resource){ .meta = str_c(meta), .body = body };
}

static struct str fields_of(struct pool *pool, const struct resource *before, const struct resource *after)
{
	bool in_spec;

	return changed_fields_of_resource(pool, before, after, true, &in_spec);
}

static void check(struct pool *pool, const char *a, const char *b, const char *want, const char *what)
{
	struct resource before = resource("{}", str_c(a)), after = resource("{}", str_c(b));

	is_str(fields_of(pool, &before, &after), want, "%s", what);
	fields_of(pool, &after, &before);
}

// {"NAME0": VALUE, …} with n members around prefix.
static struct str object(struct pool *pool, size_t n, const char *name, const char *value)
{
	struct buf out = buf_new(pool, 0);

	buf_addc(&out, '{');
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s\"%s%zu\":%s", i > 0 ? "," : "", name, i, value);
	buf_addc(&out, '}');
	return str_dup(pool, buf_str(&out));
}

// Is the change one of the spec, in a type that has a part "status", and in one that has none?
static void check_spec(struct pool *pool, struct resource before, struct resource after, bool with_status, bool without, const char *what)
{
	bool in_spec;

	changed_fields_of_resource(pool, &before, &after, true, &in_spec);
	ok(in_spec == with_status, "%s: of the spec, beside a status", what);
	changed_fields_of_resource(pool, &before, &after, false, &in_spec);
	ok(in_spec == without, "%s: of the spec, without a status", what);
}

static void test_spec(struct pool *pool)
{
	struct str status = STR("{\"status\":{\"a\":1}}"), statuses = STR("{\"statuses\":{\"a\":1}}"), both = STR("{\"a\":1,\"status\":{\"a\":2}}");
	const char *locked = "{\"locked\":true}";
	struct resource traits = resource("{}", STR("{}")), elsewhere = traits;

	traits.traits = STR("[\"A\"]");
	elsewhere.tenant = STR("t2");
	check_spec(pool, resource("{}", STR("{}")), resource("{}", STR("{}")), false, false, "nothing");
	check_spec(pool, resource("{}", STR("{}")), resource(locked, STR("{}")), false, false, "metadata");
	check_spec(pool, resource("{}", STR("{}")), traits, false, false, "traits");
	check_spec(pool, resource("{}", STR("{}")), elsewhere, false, false, "the tenant");
	check_spec(pool, resource("{}", STR("{}")), resource("{}", status), false, true, "status");
	check_spec(pool, resource("{}", status), resource(locked, both), true, true, "status and more");
	check_spec(pool, resource("{}", STR("{}")), resource("{}", statuses), true, true, "a name that begins so");
	check_spec(pool, resource("{}", STR("{}")), resource("{}", object(pool, FIELDS_MAX + 1, "k", "1")), true, true, "too much");
}

static void test_levels(struct pool *pool)
{
	check(pool, "{}", "{}", "[]", "nothing");
	check(pool, "{\"a\":1}", "{\"a\":1.0}", "[\"/a\"]", "a number written otherwise");
	check(pool, "{\"a\":1}", "{\"b\":1}", "[\"/a\",\"/b\"]", "one goes, another comes");
	check(pool, "{\"d\":{\"x\":1,\"y\":2}}", "{\"d\":{\"y\":3,\"z\":4}}", "[\"/d/x\",\"/d/y\",\"/d/z\"]",
		"the second level");
	check(pool, "{\"d\":{\"e\":{\"f\":1}}}", "{\"d\":{\"e\":{\"f\":2}}}", "[\"/d/e\"]",
		"a third level shows as the second");
	check(pool, "{\"d\":{\"e\":1}}", "{\"d\":[1]}", "[\"/d\"]", "an object that becomes another thing");
	check(pool, "{\"d\":[1]}", "{\"d\":[1,2]}", "[\"/d\"]", "an array is one thing");
	check(pool, "{\"a/b\":{\"c~d\":1}}", "{\"a/b\":{\"c~d\":2}}", "[\"/a~1b/c~0d\"]", "names are escaped");
	check(pool, "{\"d\":null}", "{}", "[\"/d\"]", "null is not nothing");
	check(pool, "{\"\":1}", "{\"\":2}", "[\"/\"]", "an empty name");
}

static void test_metadata(struct pool *pool)
{
	struct resource before = resource("{\"labels\":{\"a\":\"1\"}}", STR("{}"));
	struct resource after = resource("{\"locked\":true}", STR("{}"));

	is_str(fields_of(pool, &before, &after), "[\"/metadata/labels\",\"/metadata/locked\"]",
		"metadata is the first level");
	struct tenant old = { .tier = STR("gold"), .metadata = STR("{\"city\":\"Bonn\"}") }, now = old;
	now.etag_required = true;
	now.metadata = STR("{\"city\":\"Ulm\"}");
	is_str(changed_fields_of_tenant(pool, &old, &now), "[\"/etag_required\",\"/metadata/city\"]", "a tenant");
	now.tier = STR("free");
	is_str(changed_fields_of_tenant(pool, &old, &now), "[\"/tier\",\"/etag_required\",\"/metadata/city\"]", "and its tier");
}

static void test_bounds(struct pool *pool)
{
	struct str inner = object(pool, FIELDS_MAX + 1, "k", "1");
	struct resource before = resource("{}", STR("{\"d\":{}}"));
	struct resource after = resource("{}", str_printf(pool, "{\"d\":%.*s}", STR_ARG(inner)));

	is_str(fields_of(pool, &before, &after), "[\"/d\"]", "too many in one member: that member");
	after.body = inner;
	is_str(fields_of(pool, &before, &after), "[\"\"]", "too many members: the whole document");
	struct changed_fields fields = { .pool = pool };
	before.body = STR("{}");
	after.body = object(pool, FIELDS_MAX, "k", "1");
	ok(changed_fields_add_stored(&fields, fields_of(pool, &before, &after)) && fields.n == FIELDS_MAX &&
		!fields.full,
		"as many as there may be");
	changed_fields_add(&fields, STR("/k0"));
	changed_fields_finish(&fields);
	is_int((long long)fields.n, FIELDS_MAX, "each counts once");
	changed_fields_add(&fields, STR("/one-more"));
	changed_fields_finish(&fields);
	ok(fields.n == 1 && fields.at[0].n == 0, "one more: the whole document");
	struct buf name = buf_new(pool, 0);
	while (name.n < FIELD_MAX_BYTES)
		buf_addc(&name, 'n');
	before.body = STR("{\"d\":{}}");
	after.body = str_printf(pool, "{\"d\":{\"%.*s\":1}}", STR_ARG(name));
	is_str(fields_of(pool, &before, &after), "[\"/d\"]", "a name too long: what it is in");
	after.body = str_printf(pool, "{\"d\":{},\"%.*s\":1}", STR_ARG(name));
	is_str(fields_of(pool, &before, &after), "[\"\"]", "on the first level: the whole document");
	ok(!changed_fields_add_stored(&fields, STR("no JSON")), "what is stored and is none is said to be");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_levels(pool);
	test_metadata(pool);
	test_spec(pool);
	test_bounds(pool);
	pool_free(&pool);
	return done_testing();
}
