// SPDX-License-Identifier: Apache-2.0
// Secrets in bodies: masked where they are shown, put back where the mask comes back, and never where they were not.
#include "base/base.h"

#include "documents.h"
#include "registry/baremetal/rules.h"
#include "registry/resource/secret.h"
#include "registry/type/rules.h"

static struct pool *pool;
static struct problem problem;
static struct registry registry = { .problem = &problem };
static const struct type type = { .singular = STR_INIT("node"), .rules = &node_rules };
static const struct type plain = { .singular = STR_INIT("port"), .rules = &port_rules };
static const struct type unruled = { .singular = STR_INIT("configmap") };

static void shows(const struct type *of, const char *body, const char *want, const char *what)
{
	struct resource resource = { .type = of, .body = str_c(body) };

	is_str(resource_shown(registry.pool, &resource), want, "%s", what);
}

static enum outcome restores(const char *before, const char *body, struct str *result)
{
	const struct address address = { .type = &type };
	struct draft draft = { .registry = &registry, .address = &address, .body = parsed(pool, body) };
	struct buf out = buf_new(pool, 0);

	draft.before = before != NULL ? parsed(pool, before) : NULL;
	enum outcome outcome = secret_restore(&draft);
	doc_write_json(draft.body, &out);
	*result = buf_str(&out);
	return outcome;
}

static void kept(const char *before, const char *body, const char *want, const char *what)
{
	struct str result;

	ok(restores(before, body, &result) == OUTCOME_OK, "%s", what);
	is_str(result, want, "%s: the outcome", what);
}

static void refused(const char *before, const char *body, const char *what)
{
	struct str result;

	ok(restores(before, body, &result) == OUTCOME_BAD_DOCUMENT && registry.problem->detail.n > 0, "%s", what);
}

static void test_showing(void)
{
	const char *none = "{\"driver_info\":{\"ipmi_address\":\"10.0.0.1\"},\"extra\":{\"password\":\"x\"}}";
	struct resource resource = { .type = &type, .body = str_c(none) };

	ok(resource_shown(registry.pool, &resource).p == none, "without secrets the stored text itself");
	shows(&type, "{\"driver_info\":{\"ipmi_password\":\"x\",\"Redfish_PassWord\":\"y\",\"ipmi_username\":\"adm\"}}",
		"{\"driver_info\":{\"ipmi_password\":\"******\",\"Redfish_PassWord\":\"******\",\"ipmi_username\":\"adm\"}}",
		"passwords in any case");
	shows(&type, "{\"driver_info\":{\"a_secret\":1,\"ssh_private_key\":{\"k\":2},\"token\":[],\"passphrase\":\"\","
		"\"password\":null}}",
		"{\"driver_info\":{\"a_secret\":\"******\",\"ssh_private_key\":\"******\",\"token\":\"******\","
		"\"passphrase\":\"******\",\"password\":null}}",
		"of any kind but null");
	shows(&type, "{\"driver_info\":{\"a\":[{\"b\":{\"password\":\"x\"}},1]},\"properties\":{\"token\":\"t\"}}",
		"{\"driver_info\":{\"a\":[{\"b\":{\"password\":\"******\"}},1]},\"properties\":{\"token\":\"t\"}}",
		"at any depth, and in these members alone");
	shows(&type,
		"{\"instance_info\":{\"configdrive\":\"x\",\"image_url\":\"u\",\"root_password\":\"p\",\"token\":\"t\",\"traits\":\"u\"}}",
		"{\"instance_info\":{\"configdrive\":\"******\",\"image_url\":\"******\",\"root_password\":\"******\","
		"\"token\":\"******\",\"traits\":\"u\"}}",
		"of instance_info others");
	shows(&type, "{\"driver_internal_info\":{\"agent_secret_token\":\"t\",\"agent_secret_token_pregenerated\":true,\"a_token\":\"u\"}}",
		"{\"driver_internal_info\":{\"agent_secret_token\":\"******\",\"agent_secret_token_pregenerated\":true,\"a_token\":\"u\"}}",
		"of driver_internal_info the agent's token alone");
	shows(&plain, "{\"driver_info\":{\"password\":\"x\"}}", "{\"driver_info\":{\"password\":\"x\"}}",
		"a type without secrets");
	shows(&unruled, "{\"driver_info\":{\"password\":\"x\"}}", "{\"driver_info\":{\"password\":\"x\"}}",
		"a type without rules");
}

static void test_restoring(void)
{
	const char *stored = "{\"driver_info\":{\"password\":\"x\",\"user\":\"u\","
			     "\"deep\":{\"token\":\"t\"},\"old_password\":null}}";

	kept(stored, "{\"driver_info\":{\"password\":\"******\",\"user\":\"v\",\"deep\":{\"token\":\"******\"}}}",
		"{\"driver_info\":{\"password\":\"x\",\"user\":\"v\",\"deep\":{\"token\":\"t\"}}}",
		"masks stand for what is stored");
	kept(stored, "{\"driver_info\":{\"password\":\"y\"}}", "{\"driver_info\":{\"password\":\"y\"}}", "another value");
	kept(stored, "{\"driver_info\":{\"user\":\"******\"},\"extra\":{\"password\":\"******\"}}",
		"{\"driver_info\":{\"user\":\"******\"},\"extra\":{\"password\":\"******\"}}",
		"elsewhere it is a string as any");
	kept(stored, "[]", "[]", "no object at all");
	refused(stored, "{\"driver_info\":{\"new_password\":\"******\"}}", "nothing is stored there");
	refused(stored, "{\"driver_info\":{\"old_password\":\"******\"}}", "or null is");
	refused(stored, "{\"driver_info\":{\"other\":{\"password\":\"******\"}}}", "a secret does not go elsewhere");
	refused(stored, "{\"instance_info\":{\"configdrive\":\"******\"}}", "another member");
	refused(NULL, "{\"driver_info\":{\"password\":\"******\"}}", "a new one");
}

static void test_arrays(void)
{
	const char *stored = "{\"driver_info\":{\"bmcs\":[{\"at\":1,\"password\":\"a\"},{\"at\":2,\"password\":\"b\"}]}}";

	kept(stored, "{\"driver_info\":{\"bmcs\":[{\"at\":1,\"password\":\"******\"},{\"at\":3,\"password\":\"c\"}]}}",
		"{\"driver_info\":{\"bmcs\":[{\"at\":1,\"password\":\"a\"},{\"at\":3,\"password\":\"c\"}]}}",
		"in arrays by their place");
	refused(stored, "{\"driver_info\":{\"bmcs\":[{\"at\":2,\"password\":\"******\"}]}}", "an element gone");
	refused(stored,
		"{\"driver_info\":{\"bmcs\":[{\"at\":2,\"password\":\"******\"},{\"at\":1,\"password\":\"******\"}]}}",
		"two that changed places");
	refused("{\"driver_info\":{\"bmcs\":{}}}", "{\"driver_info\":{\"bmcs\":[{\"password\":\"******\"}]}}",
		"no array there");
}

static bool carries(const struct type_rules *rules, const char *operation)
{
	const char *shown = "{\"driver_info\":{\"a_password\":\"******\",\"b_password\":\"******\",\"in\":{\"token\":\"******\"},"
			    "\"user\":\"u\"},\"extra\":{\"a\":\"******\"}}";
	const struct doc_patch_rule rule = secret_patch_rule(rules);
	struct str text = str_printf(pool, "[{\"op\":%s}]", operation), error;
	struct doc *result;
	bool done = doc_json_patch_ruled(pool, parsed(pool, shown), parsed(pool, text.p), (struct doc_limits){ 64, 0 }, &rule, &result, &error);

	ok(done || strstr(str_printf(pool, "%.*s", STR_ARG(error)).p, "holds a secret") != NULL, "refused with that reason only: %s", operation);
	return done;
}

static void test_patches(void)
{
	static const struct {
		const char *operation;
		bool done;
	} cases[] = {
		{ "\"move\",\"from\":\"/driver_info/a_password\",\"path\":\"/driver_info/a\"", false },
		{ "\"move\",\"from\":\"/driver_info/a_password\",\"path\":\"/extra/a_password\"", false },
		{ "\"move\",\"from\":\"/driver_info/a_password\",\"path\":\"/driver_info/a_password\"", true },
		{ "\"move\",\"from\":\"/driver_info/in\",\"path\":\"/driver_info/out\"", false },
		{ "\"move\",\"from\":\"/driver_info\",\"path\":\"/extra/all\"", false },
		{ "\"move\",\"from\":\"/driver_info/user\",\"path\":\"/driver_info/a_password\"", true },
		{ "\"move\",\"from\":\"/extra/a\",\"path\":\"/extra/b\"", true },
		{ "\"move\",\"from\":\"/extra/a\",\"path\":\"/driver_info/a_password\"", false },
		{ "\"copy\",\"from\":\"/driver_info/a_password\",\"path\":\"/driver_info/b_password\"", false },
		{ "\"copy\",\"from\":\"/driver_info/a_password\",\"path\":\"/extra/a_password\"", true },
		{ "\"copy\",\"from\":\"/driver_info/in\",\"path\":\"/driver_info/out\"", false },
		{ "\"copy\",\"from\":\"\",\"path\":\"/extra/all\"", true },
		{ "\"copy\",\"from\":\"/extra\",\"path\":\"\"", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		ok(carries(&node_rules, cases[i].operation) == cases[i].done, "%s: %s", cases[i].operation, cases[i].done ? "done" : "refused");
		ok(carries(&port_rules, cases[i].operation) && carries(NULL, cases[i].operation), "done where nothing is secret");
	}
}

int main(void)
{
	pool = pool_new();
	registry = (struct registry){ .problem = &problem, .pool = pool };
	test_showing();
	test_restoring();
	test_arrays();
	test_patches();
	pool_free(&pool);
	return done_testing();
}
