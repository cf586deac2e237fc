// SPDX-License-Identifier: Apache-2.0
// The JSON Patches that libtenure makes where bare metal knows no PUT and no merge patch.
#include "base/base.h"

#include "documents.h"
#include "lib/object.h"

struct patch_case {
	const char *what, *held, *given, *patch;
};

static const struct patch_case diffs[] = {
	{ "nothing", "{\"a\":1}", "{\"a\":1}", "[]" },
	{ "a field", "{\"name\":\"a\"}", "{\"name\":\"b\"}", "[{\"op\":\"add\",\"path\":\"/name\",\"value\":\"b\"}]" },
	{ "a field left out", "{\"name\":\"a\"}", "{}", "[{\"op\":\"remove\",\"path\":\"/name\"}]" },
	{ "a field made null", "{\"name\":\"a\"}", "{\"name\":null}", "[{\"op\":\"remove\",\"path\":\"/name\"}]" },
	{ "a null that was not there", "{}", "{\"name\":null}", "[]" },
	{ "keys", "{\"extra\":{\"a\":1,\"b\":2}}", "{\"extra\":{\"b\":3,\"c\":4}}",
		"[{\"op\":\"remove\",\"path\":\"/extra/a\"},{\"op\":\"add\",\"path\":\"/extra/b\",\"value\":3},"
		"{\"op\":\"add\",\"path\":\"/extra/c\",\"value\":4}]" },
	{ "a key made null", "{\"extra\":{\"a\":1}}", "{\"extra\":{\"a\":null}}",
		"[{\"op\":\"add\",\"path\":\"/extra/a\",\"value\":null}]" },
	{ "names that pointers escape", "{\"extra\":{}}", "{\"extra\":{\"a/b\":1,\"c~d\":2,\"\":3}}",
		"[{\"op\":\"add\",\"path\":\"/extra/a~1b\",\"value\":1},{\"op\":\"add\",\"path\":\"/extra/c~0d\",\"value\":2},"
		"{\"op\":\"add\",\"path\":\"/extra/\",\"value\":3}]" },
	{ "an array is one value", "{\"extra\":{\"l\":[1,2]}}", "{\"extra\":{\"l\":[1,3]}}",
		"[{\"op\":\"add\",\"path\":\"/extra/l\",\"value\":[1,3]}]" },
	{ "an object in place of a string", "{\"extra\":{\"a\":\"x\"}}", "{\"extra\":{\"a\":{\"b\":1}}}",
		"[{\"op\":\"add\",\"path\":\"/extra/a\",\"value\":{\"b\":1}}]" },
	{ "what the service sets", "{\"uuid\":\"u\",\"etag\":\"W/1\",\"links\":[],\"updated_at\":null}",
		"{\"uuid\":\"v\",\"etag\":\"W/2\",\"ports\":[]}", "[]" },
};

static const struct patch_case merges[] = {
	{ "nothing", "{\"a\":1}", "{}", "[]" },
	{ "what is held already is said again", "{\"name\":\"a\"}", "{\"name\":\"a\"}",
		"[{\"op\":\"add\",\"path\":\"/name\",\"value\":\"a\"}]" },
	{ "null removes", "{\"name\":\"a\",\"extra\":{\"k\":1}}", "{\"name\":null,\"extra\":{\"k\":null}}",
		"[{\"op\":\"remove\",\"path\":\"/name\"},{\"op\":\"remove\",\"path\":\"/extra/k\"}]" },
	{ "what is not there is not removed", "{\"extra\":{}}", "{\"extra\":{\"k\":null}}", "[]" },
	{ "into an object", "{\"extra\":{\"a\":1}}", "{\"extra\":{\"b\":{\"c\":2,\"d\":null}}}",
		"[{\"op\":\"add\",\"path\":\"/extra/b\",\"value\":{\"c\":2}}]" },
	{ "an object where none is", "{\"extra\":null}", "{\"extra\":{\"b\":2}}",
		"[{\"op\":\"add\",\"path\":\"/extra\",\"value\":{\"b\":2}}]" },
};

static void check_cases(struct pool *pool, const char *kind, const struct patch_case *cases, size_t n,
	struct doc *(*make)(struct pool *pool, const struct doc *held, const struct doc *given))
{
	for (size_t i = 0; i < n; i++) {
		const struct patch_case *c = &cases[i];
		is_str(written(pool, make(pool, parsed(pool, c->held), parsed(pool, c->given))), c->patch, "%s: %s", kind,
			c->what);
	}
}

// Applied, a diff makes the one of the other, less the fields that are null.
static void check_round_trip(struct pool *pool)
{
	struct doc *base = parsed(pool, "{\"a\":{\"x\":1,\"y\":{\"z\":[1]}},\"b\":true,\"c\":null}"), *result = NULL;
	struct doc *wanted = parsed(pool, "{\"a\":{\"y\":{\"z\":[],\"w~/\":null}},\"b\":\"t\",\"d\":{}}");
	struct str error;

	ok(doc_json_patch(pool, base, client_diff(pool, base, wanted), (struct doc_limits){ 64, 0 }, &result, &error) &&
		doc_equal(result, wanted), "a diff, applied, makes what was wanted");
}

static void check_addresses(void)
{
	struct tenure_client *client = tenure_client_new("http://127.0.0.1:1", NULL);
	struct tenure_resource *made = tenure_metal_new(client, "nodes", "rack 7");

	is_str(str_c(tenure_resource_path(made)), "/baremetal/v1/nodes/rack%207", "an address");
	ok(tenure_resource_put(made, "{}", 2, TENURE_ETAG_NONE) == TENURE_INVALID, "put before it was read");
	ok(tenure_resource_update(made, "{}", 2, TENURE_ETAG_NONE) == TENURE_INVALID, "update before it was read");
	ok(tenure_resource_recover(made, NULL, TENURE_ETAG_NONE) == TENURE_INVALID, "recover");
	ok(tenure_resource_create(made, "{}", 2) == TENURE_INVALID, "create what has an address");
	ok(tenure_move_resource(made, "t") == NULL, "a move before it was read");
	tenure_resource_free(&made);
	made = tenure_metal_new(client, "ports", NULL);
	ok(tenure_resource_get(made) == TENURE_INVALID, "read what is not made");
	ok(tenure_resource_delete(made, TENURE_ETAG_NONE) == TENURE_INVALID, "delete it");
	ok(tenure_resource_patch(made, "[]", 2, TENURE_ETAG_NONE) == TENURE_INVALID, "patch it");
	ok(tenure_node_add_trait(made, "CUSTOM_A", TENURE_ETAG_NONE) == TENURE_INVALID, "a trait of what is no node");
	tenure_resource_free(&made);
	ok(tenure_metal_new(client, "volumes", "x") == NULL, "no such kind");
	ok(tenure_metal_new(client, "nodes", "..") == NULL, "no such name");
	ok(tenure_list_metal(client, "nonsense") == NULL, "no such list");
	tenure_client_free(&client);
}

int main(void)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		return 1;
	check_cases(pool, "diff", diffs, COUNT_OF(diffs), client_diff);
	check_cases(pool, "merge", merges, COUNT_OF(merges), object_merge);
	check_round_trip(pool);
	check_addresses();
	pool_free(&pool);
	return done_testing();
}
