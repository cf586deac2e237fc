// SPDX-License-Identifier: Apache-2.0
// The rules of nodes and chassis, drivers and values: all that needs no database.
#include "base/base.h"

#include "documents.h"
#include "registry/baremetal/baremetal.h"
#include "registry/baremetal/provision.h"
#include "registry/baremetal/rules.h"
#include "registry/baremetal/settings.h"
#include "registry/core/settings.h"
#include "set.h"
#include "settings/settings.h"

#define UID "62eecee6-0d92-4eae-8266-a927050f13a0"
#define INSTANCE "aa5f1bad-caa6-4704-811e-7146c004c36b"
#define OTHER "9d738f14-cf4f-4ad7-8427-d2bb31ab297d"

static struct pool *pool;
#define DRIVERS "fake-hardware, ipmi,redfish,homemade"
static struct config *config;
static struct problem problem;
static struct registry registry = { .problem = &problem };
static struct type type = { .kind = STR_INIT("Node"), .singular = STR_INIT("node"), .rules = &node_rules };
static struct address address = { .tenant = STR_INIT("acme"), .type = &type, .name = STR_INIT(UID) };
static struct draft draft;

// before NULL: a new one; else a body that is brought into stored form first.
static enum outcome run(const char *before, const char *body)
{
	struct resource current = { .tenant = address.tenant, .type = &type };

	draft = (struct draft){ .registry = &registry, .address = &address };
	draft.body = parsed(pool, before != NULL ? before : body);
	uuid_parse(STR(UID), &draft.uid);
	if (before != NULL) {
		bool privileged = registry.privileged;
		registry.privileged = true;
		if (node_rules.complete(&draft) != OUTCOME_OK)
			bail_out(str_cstr(pool, registry.problem->detail));
		registry.privileged = privileged;
		draft.before = draft.body;
		draft.current = &current;
		draft.body = parsed(pool, body);
	}
	return node_rules.complete(&draft);
}

// The stored body patched with a merge patch.
static enum outcome change(const char *before, const char *patch)
{
	enum outcome outcome = run(before, before);

	if (outcome != OUTCOME_OK)
		return outcome;
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, patch));
	return node_rules.complete(&draft);
}

static struct str member(const char *name)
{
	const struct doc *value;

	return doc_get(draft.body, str_c(name), &value) ? written(pool, value) : STR("none");
}

static bool says(const char *part)
{
	struct str detail = registry.problem->detail, wanted = str_c(part);

	for (size_t i = 0; i + wanted.n <= detail.n; i++) {
		if (str_eq(str_part(detail, i, i + wanted.n), wanted))
			return true;
	}
	diag("%.*s", STR_ARG(detail));
	return false;
}

#define refuses(outcome, want, part, ...) ok((outcome) == (want) && says(part), __VA_ARGS__)

static void test_values(void)
{
	bool value = false;

	is_str(baremetal_mac(pool, STR("52:54:00:AB:cD:01")), "52:54:00:ab:cd:01", "a MAC address, in lower case");
	ok(baremetal_mac(pool, STR("52-54-00-ab-cd-01")).p == NULL, "dashes");
	ok(baremetal_mac(pool, STR("52:54:00:ab:cd:0")).p == NULL, "too short");
	ok(baremetal_mac(pool, STR("52:54:00:ab:cd:0g")).p == NULL, "no hex digit");
	ok(baremetal_mac(pool, STR("52:54:00:ab:cd:01:")).p == NULL, "too long");
	ok(baremetal_mac(pool, STR_NONE).p == NULL, "nothing");
	static const char *const yes[] = { "true", "1", "\"t\"", "\"TRUE\"", "\"on\"", "\"y\"", "\"Yes\"", "\"1\"" };
	static const char *const no[] = { "false", "0", "\"f\"", "\"False\"", "\"off\"", "\"n\"", "\"NO\"", "\"0\"" };
	static const char *const neither[] = { "2", "-1", "1.0", "\"\"", "\"maybe\"", "null", "[]", "{}" };
	for (size_t i = 0; i < COUNT_OF(yes); i++) {
		ok(baremetal_bool(parsed(pool, yes[i]), &value) && value, "%s is true", yes[i]);
		ok(baremetal_bool(parsed(pool, no[i]), &value) && !value, "%s is false", no[i]);
		ok(!baremetal_bool(parsed(pool, neither[i]), &value), "%s is neither", neither[i]);
	}
	ok(baremetal_name_ok(STR("rack-7.a_b~c")), "a name");
	ok(!baremetal_name_ok(STR("")) && !baremetal_name_ok(STR("a b")) && !baremetal_name_ok(STR("a/b")) &&
		!baremetal_name_ok(STR("sm\xc3\xb6rg")) && !baremetal_name_ok(str_n("a\0b", 3)), "other characters");
	ok(!baremetal_name_ok(STR(UID)), "a UUID is no name");
	char longest[257];
	memset(longest, 'x', sizeof(longest));
	ok(baremetal_name_ok(str_n(longest, 255)) && !baremetal_name_ok(str_n(longest, 256)), "255 characters");
}

static void test_drivers(void)
{
	struct baremetal_driver *drivers, driver;

	is_int((long long)baremetal_drivers(config, pool, &drivers), 4, "four drivers");
	is_str(drivers[1].name, "ipmi", "without the blank");
	ok(!baremetal_driver_find(config, STR("ilo"), &driver), "not configured");
	ok(!baremetal_driver_find(config, STR(""), &driver), "no name");
	ok(baremetal_driver_find(config, STR("fake-hardware"), &driver), "configured");
	is_str(str_c(baremetal_driver_default(&driver, "inspect")), "fake", "a default that is not the first");
	is_str(str_c(baremetal_driver_enabled(&driver, "inspect")[0]), "no-inspect", "as recorded");
	is_str(str_c(baremetal_driver_default(&driver, "network")), "noop", "noop");
	ok(baremetal_driver_enabled(&driver, "boot")[1] == NULL, "the list ends");
	ok(baremetal_driver_find(config, STR("homemade"), &driver), "one nobody knows");
	is_str(str_c(baremetal_driver_default(&driver, "vendor")), "no-vendor", "does nothing");
	for (size_t d = 0; d < 4; d++) {
		bool among = true;
		for (size_t i = 0; baremetal_interfaces[i] != NULL; i++)
			among = among && baremetal_among(baremetal_driver_enabled(&drivers[d], baremetal_interfaces[i]),
				str_c(baremetal_driver_default(&drivers[d], baremetal_interfaces[i])));
		ok(among, "%.*s: each default is enabled", STR_ARG(drivers[d].name));
	}
}

static void test_new_node(void)
{
	is_int(run(NULL, "{\"driver\":\"fake-hardware\"}"), OUTCOME_OK, "a driver is enough");
	is_str(written(pool, draft.body),
		"{\"automated_clean\":null,\"bios_interface\":\"fake\",\"boot_interface\":\"fake\",\"boot_mode\":null,"
		"\"clean_step\":{},\"conductor_group\":\"\",\"console_enabled\":false,\"console_interface\":\"fake\","
		"\"deploy_interface\":\"fake\",\"deploy_step\":{},\"description\":null,\"driver\":\"fake-hardware\","
		"\"driver_info\":{},\"driver_internal_info\":{},\"extra\":{},\"fault\":null,\"inspection_finished_at\":null,"
		"\"inspection_started_at\":null,\"inspect_interface\":\"fake\",\"instance_info\":{},\"instance_uuid\":null,"
		"\"last_error\":null,\"lessee\":null,\"maintenance\":false,\"maintenance_reason\":null,"
		"\"management_interface\":\"fake\",\"name\":null,\"network_data\":{},\"network_interface\":\"noop\","
		"\"power_interface\":\"fake\",\"power_state\":null,\"properties\":{},\"protected\":false,"
		"\"protected_reason\":null,\"provision_state\":\"enroll\",\"provision_updated_at\":null,\"raid_config\":{},"
		"\"raid_interface\":\"fake\","
		"\"rescue_interface\":\"fake\",\"reservation\":null,\"resource_class\":null,\"retired\":false,"
		"\"retired_reason\":null,\"secure_boot\":null,\"shard\":null,\"storage_interface\":\"noop\","
		"\"target_power_state\":null,\"target_provision_state\":null,\"target_raid_config\":{},"
		"\"vendor_interface\":\"fake\",\"allocation_uuid\":null,\"chassis_uuid\":null}",
		"every member, in the order of an answer");
	struct str stored = written(pool, draft.body);
	ok(run(str_cstr(pool, stored), str_cstr(pool, stored)) == OUTCOME_OK && str_eq(written(pool, draft.body), stored),
		"what is stored stays as it is");
	is_int(run(NULL, "{\"driver\":\"redfish\",\"extra\":null,\"maintenance\":null,\"boot_interface\":null,"
			 "\"instance_uuid\":\"AA5F1BAD-CAA6-4704-811E-7146C004C36B\",\"protected\":\"off\",\"name\":\"n1\"}"),
		OUTCOME_OK, "null stands for the default");
	is_str(member("boot_interface"), "\"ipxe\"", "of the driver");
	is_str(member("extra"), "{}", "of an object");
	is_str(member("instance_uuid"), "\"" INSTANCE "\"", "a UUID in lower case");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"provision_state\":\"available\"}"), OUTCOME_OK,
		"as clients of old versions make them");
	is_str(member("provision_state"), "\"available\"", "available at once");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"extra\":{\"n\":12345678901234567890,\"f\":1.10,\"z\":[null]}}"),
		OUTCOME_OK,
		"anything in extra");
	is_str(member("extra"), "{\"n\":12345678901234567890,\"f\":1.10,\"z\":[null]}", "as it came");
}

static void test_members(void)
{
	static const struct {
		const char *body, *says;
	} wrong[] = {
		{ "{}", "Schema error for node: 'driver' is a required property" },
		{ "{\"driver\":null}", "'driver' is a required property" },
		{ "[]", "Schema error for node: the document has to be an object" },
		{ "{\"driver\":\"ipmi\",\"frob\":1}",
		  "Schema error for node: Additional properties are not allowed ('frob' was" },
		{ "{\"driver\":\"ipmi\",\"uuid\":\"" UID "\"}", "('uuid' was" },
		{ "{\"driver\":7}", "Schema error for node: driver has to be a string" },
		{ "{\"driver\":\"ipmi\",\"extra\":[]}", "Schema error for node: extra has to be an object" },
		{ "{\"driver\":\"ipmi\",\"extra\":\"x\"}", "extra has to be an object" },
		{ "{\"driver\":\"ipmi\",\"maintenance\":\"maybe\"}", "Unrecognized value of maintenance" },
		{ "{\"driver\":\"ipmi\",\"automated_clean\":2}", "Unrecognized value of automated_clean" },
		{ "{\"driver\":\"ipmi\",\"instance_uuid\":\"x\"}", "Expected UUID for instance_uuid: x" },
		{ "{\"driver\":\"ipmi\",\"chassis_uuid\":\"rack\"}", "Expected UUID for chassis_uuid: rack" },
		{ "{\"driver\":\"ipmi\",\"name\":\"\"}", "Cannot use the name '' for a node" },
		{ "{\"driver\":\"ipmi\",\"name\":\"a b\"}", "Cannot use the name 'a b' for a node" },
		{ "{\"driver\":\"ipmi\",\"name\":\"" UID "\"}", "and no UUID" },
		{ "{\"driver\":\"ipmi\",\"name\":\"validate\"}", "Cannot use the name 'validate' for a node" },
		{ "{\"driver\":\"ilo\"}", "No valid host was found" },
		{ "{\"driver\":\"ilo\"}", "The configured drivers are: fake-hardware, ipmi,redfish" },
		{ "{\"driver\":\"ipmi\",\"boot_interface\":\"fake\"}",
		  "boot_interface of driver ipmi: fake. Valid interfaces are: " },
		{ "{\"driver\":\"ipmi\",\"boot_interface\":\"\"}", "boot_interface of driver ipmi" },
		{ "{\"driver\":\"ipmi\",\"power_state\":\"sparkling\"}",
		  "'sparkling' is no power_state: it is one of power on" },
		{ "{\"driver\":\"ipmi\",\"provision_state\":\"x\"}", "'x' is no provision_state" },
		{ "{\"driver\":\"ipmi\",\"fault\":\"mine\"}", "'mine' is no fault" },
		{ "{\"driver\":\"ipmi\",\"boot_mode\":\"dos\"}", "'dos' is no boot_mode" },
		{ "{\"driver\":\"ipmi\",\"provision_updated_at\":\"yesterday\"}",
		  "provision_updated_at has to be a time in UTC" },
		{ "{\"driver\":\"ipmi\",\"provision_updated_at\":\"2026-13-21T05:24:00Z\"}", "has to be a time in UTC" },
		{ "{\"driver\":\"ipmi\",\"provision_updated_at\":\"2026-12-21T05:24:00.Z\"}", "has to be a time in UTC" },
		{ "{\"driver\":\"ipmi\",\"provision_updated_at\":\"2026-12-21T05:24:00+01:00\"}", "has to be a time in UTC" },
		{ "{\"driver\":\"ipmi\",\"conductor_group\":\"a b\"}", "conductor_group 'a b' has other characters" },
	};

	registry.privileged = true;
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		refuses(run(NULL, wrong[i].body), OUTCOME_BAD_DOCUMENT, wrong[i].says, "%s", wrong[i].body);
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"provision_updated_at\":\"2026-12-21T05:24:00.123456Z\","
			 "\"fault\":\"power failure\",\"conductor_group\":\"West.1\",\"boot_mode\":\"uefi\","
			 "\"secure_boot\":\"no\"}"),
		OUTCOME_OK, "an operator sets what the service does");
	is_str(member("provision_updated_at"), "\"2026-12-21T05:24:00+00:00\"", "times in one spelling");
	is_str(member("conductor_group"), "\"west.1\"", "groups in lower case");
	is_str(member("secure_boot"), "false", "a flag");
	registry.privileged = false;
}

static void test_lengths(void)
{
	static const struct {
		const char *member;
		size_t most;
	} texts[] = {
		{ "description", 4096 }, { "name", 255 }, { "lessee", 255 }, { "resource_class", 80 },
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct buf body = buf_new(pool, 0);
		buf_addf(&body, "{\"driver\":\"ipmi\",\"%s\":\"", texts[i].member);
		for (size_t n = 0; n < texts[i].most; n++)
			buf_add(&body, strcmp(texts[i].member, "name") == 0 ? STR("x") : STR("\xc3\xb6"));
		struct str longest = str_printf(pool, "%.*s\"}", STR_ARG(body));
		struct str longer = str_printf(pool, "%.*sx\"}", STR_ARG(body));
		is_int(run(NULL, str_cstr(pool, longest)), OUTCOME_OK, "%s of %zu characters", texts[i].member, texts[i].most);
		refuses(run(NULL, str_cstr(pool, longer)), OUTCOME_BAD_DOCUMENT, "Schema error for node: ", "one more");
	}
	struct buf body = buf_new(pool, 0);
	BUF_LIT(&body, "{\"");
	for (size_t n = 0; n < 100; n++)
		BUF_LIT(&body, "\xc3\xb6");
	BUF_LIT(&body, "\":1}");
	refuses(run(NULL, str_cstr(pool, buf_str(&body))), OUTCOME_BAD_DOCUMENT, "\xc3\xb6…' was unexpected",
		"a long name is cut between characters");
}

static void test_privileges(void)
{
	const char *node = "{\"driver\":\"ipmi\",\"provision_state\":\"active\",\"shard\":\"s1\"}";

	refuses(run(NULL, "{\"driver\":\"ipmi\",\"provision_state\":\"active\"}"), OUTCOME_FORBIDDEN,
		"provision_state of a node is set by the service", "not for those who make a node");
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"shard\":\"s1\"}"), OUTCOME_FORBIDDEN, "shard of a node is for operators",
		"nor where it belongs");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"provision_state\":\"enroll\",\"power_state\":null,\"shard\":null}"),
		OUTCOME_OK,
		"unless it is the default");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"boot_mode\":\"uefi\",\"secure_boot\":true,\"console_enabled\":true}"), OUTCOME_OK,
		"but what a node begins with");
	refuses(change(node, "{\"boot_mode\":\"uefi\"}"), OUTCOME_FORBIDDEN, "boot_mode", "which is not theirs afterwards");
	refuses(change(node, "{\"provision_state\":\"manageable\"}"), OUTCOME_FORBIDDEN, "provision_state",
		"nor to change");
	refuses(change(node, "{\"shard\":null}"), OUTCOME_FORBIDDEN, "shard", "nor to take away");
	is_int(change(node, "{\"extra\":{\"a\":1}}"), OUTCOME_OK, "the rest is theirs");
	is_int(run(node, "{\"driver\":\"ipmi\",\"shard\":\"s1\"}"), OUTCOME_OK, "leaving out what the service sets");
	is_str(member("provision_state"), "\"active\"", "keeps it");
	registry.privileged = true;
	is_int(run(node, "{\"driver\":\"ipmi\",\"provision_state\":null}"), OUTCOME_OK, "null of an operator");
	is_str(member("provision_state"), "\"enroll\"", "is the default");
	is_str(member("shard"), "null", "and so is nothing, of what the service does not set");
	registry.privileged = false;
}

static void test_driver_changes(void)
{
	refuses(change("{\"driver\":\"fake-hardware\"}", "{\"driver\":\"ipmi\"}"), OUTCOME_BAD_DOCUMENT, "bios_interface",
		"another driver has other interfaces");
	is_int(run("{\"driver\":\"fake-hardware\"}", "{\"driver\":\"ipmi\"}"), OUTCOME_OK, "its defaults");
	is_str(member("deploy_interface"), "\"direct\"", "come with it");
	is_int(change("{\"driver\":\"fake-hardware\"}", "{\"inspect_interface\":\"no-inspect\"}"), OUTCOME_OK,
		"an enabled one");
	is_int(change("{\"driver\":\"fake-hardware\",\"inspect_interface\":\"no-inspect\"}",
		"{\"inspect_interface\":null}"),
		OUTCOME_OK, "taken away");
	is_str(member("inspect_interface"), "\"fake\"", "it is the driver's default again");
	run("{\"driver\":\"homemade\"}", "{\"driver\":\"homemade\"}");
	SET(config, baremetal)->drivers = "ipmi";
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"extra\":{\"a\":1}}"));
	is_int(node_rules.complete(&draft), OUTCOME_OK, "a node of a driver that is no longer configured can be changed");
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"boot_interface\":null}"));
	refuses(node_rules.complete(&draft), OUTCOME_BAD_DOCUMENT, "No valid host", "but nobody knows its defaults");
	SET(config, baremetal)->drivers = DRIVERS;
}

static void test_flags(void)
{
	const char *active = "{\"driver\":\"ipmi\",\"provision_state\":\"active\",\"protected\":true,"
			     "\"protected_reason\":\"r\",\"retired\":true,\"retired_reason\":\"old\",\"maintenance\":true,"
			     "\"maintenance_reason\":\"fan\",\"fault\":\"power failure\"}";

	refuses(run(NULL, "{\"driver\":\"ipmi\",\"protected\":true}"), OUTCOME_CONFLICT,
		"can only be made protected in provision states 'active' or 'rescue'", "protected, but not in use");
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"protected_reason\":\"x\"}"), OUTCOME_BAD_DOCUMENT,
		"The protected_reason field can only be set when protected is True", "a reason needs its flag");
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"retired_reason\":\"x\"}"), OUTCOME_BAD_DOCUMENT, "when retired is True",
		"retired_reason");
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"maintenance_reason\":\"x\"}"), OUTCOME_BAD_DOCUMENT,
		"when maintenance is True", "maintenance_reason");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"retired\":true,\"retired_reason\":\"x\",\"maintenance\":1}"), OUTCOME_OK,
		"flags");
	is_int(change(active, "{\"protected\":null,\"retired\":false,\"maintenance\":false}"), OUTCOME_OK,
		"clearing flags");
	is_str(member("protected"), "false", "null is false");
	is_str(member("protected_reason"), "null", "clears reasons");
	is_str(member("retired_reason"), "null", "of each");
	is_str(member("maintenance_reason"), "null", "and of maintenance");
	is_str(member("fault"), "null", "whose fault goes, too, whoever clears it");
	is_int(change(active, "{\"protected_reason\":\"because\"}"), OUTCOME_OK, "another reason");
	is_int(change(active, "{\"maintenance_reason\":null}"), OUTCOME_OK, "none");
	is_str(member("maintenance"), "true", "leaves the flag");
}

// What is stored was allowed once, so it stays, but nothing wrong is added to it.
static void test_properties(void)
{
	static const char *const right[] = { "4", "0", "4.7", "-0.5", "1e3", "true", "null", "'4'", "' 4 '", "'+4'", "'007'", "'-0'" };
	static const struct {
		const char *value, *shown;
	} wrong[] = {
		{ "-1", "memory_mb=-1" }, { "-1.5", "memory_mb=-1.5" }, { "'64G'", "memory_mb=64G" }, { "''", "memory_mb=" }, { "'-1'", "memory_mb=-1" },
		{ "'-'", "memory_mb=-" }, { "'4.0'", "memory_mb=4.0" }, { "'4 4'", "memory_mb=4 4" }, { "[]", "memory_mb=[]" }, { "{'a':1}", "memory_mb={\"a\":1}" },
	};
	const char *stored = "{\"driver\":\"ipmi\",\"properties\":{\"memory_mb\":\"64G\",\"cpus\":4}}";

	for (size_t i = 0; i < COUNT_OF(right); i++) {
		struct str body = str_printf(pool, "{'driver':'ipmi','properties':{'memory_mb':%s}}", right[i]);
		is_int(run(NULL, str_cstr(pool, replaced(pool, body, '\'', '"'))), OUTCOME_OK, "memory_mb %s", right[i]);
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct str body = str_printf(pool, "{'driver':'ipmi','properties':{'memory_mb':%s}}", wrong[i].value);
		refuses(run(NULL, str_cstr(pool, replaced(pool, body, '\'', '"'))), OUTCOME_BAD_DOCUMENT, wrong[i].shown, "memory_mb %s", wrong[i].value);
	}
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"properties\":{\"memory_mb\":\"64G\",\"local_gb\":-1,\"cpus\":4,\"vendor\":-1}}"), OUTCOME_BAD_DOCUMENT,
		"The following properties for node " UID " should be non-negative integers, but provided values are: local_gb=-1, memory_mb=64G",
		"all that are wrong, and no other property");
	refuses(change("{\"driver\":\"ipmi\"}", "{\"properties\":{\"cpus\":\"four\"}}"), OUTCOME_BAD_DOCUMENT, "cpus=four", "of a node that is there");
	draft = (struct draft){ .registry = &registry, .address = &address, .body = parsed(pool, "{\"driver\":\"ipmi\"}") };
	is_int(node_rules.complete(&draft), OUTCOME_OK, "a node");
	draft.before = doc_merge_patch(pool, draft.body, parsed(pool, stored));
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"extra\":{\"a\":1},\"properties\":{\"vendor\":\"x\",\"cpus\":8}}"));
	is_int(node_rules.complete(&draft), OUTCOME_OK, "what is stored wrong stays, and the rest can be changed");
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"properties\":{\"memory_mb\":\"64T\"}}"));
	refuses(node_rules.complete(&draft), OUTCOME_BAD_DOCUMENT, "memory_mb=64T", "but is not changed to what is as wrong");
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"properties\":{\"memory_mb\":65536}}"));
	is_int(node_rules.complete(&draft), OUTCOME_OK, "only put right");
	draft.before = draft.body;
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, stored));
	draft.restores = true;
	is_int(node_rules.complete(&draft), OUTCOME_OK, "which an undo takes back");
}

static void test_network_data(void)
{
	const char *right = "{\"driver\":\"ipmi\",\"network_data\":{\"links\":[],\"networks\":[],\"services\":[{\"type\":\"dns\",\"address\":\"192.0.2.53\"}]}}";

	is_int(run(NULL, right), OUTCOME_OK, "network_data");
	is_int(run(NULL, "{\"driver\":\"ipmi\",\"network_data\":{}}"), OUTCOME_OK, "none");
	refuses(run(NULL, "{\"driver\":\"ipmi\",\"network_data\":{\"foo\":1}}"), OUTCOME_BAD_DOCUMENT,
		"Schema error for node: Invalid network_data: 'links' is a required property, in network_data", "something else");
	refuses(change(right, "{\"network_data\":{\"networks\":null}}"), OUTCOME_BAD_DOCUMENT, "'networks' is a required property", "a part is taken away");
	draft.before = doc_merge_patch(pool, draft.before, parsed(pool, "{\"network_data\":{\"links\":null,\"foo\":1}}"));
	draft.body = doc_merge_patch(pool, draft.before, parsed(pool, "{\"extra\":{\"a\":1}}"));
	is_int(node_rules.complete(&draft), OUTCOME_OK, "what is stored stays");
	struct doc *stored = draft.body;
	draft.body = doc_merge_patch(pool, stored, parsed(pool, "{\"network_data\":{\"foo\":null}}"));
	refuses(node_rules.complete(&draft), OUTCOME_BAD_DOCUMENT, "'links' is a required property", "but is not changed to what is as wrong");
	draft.body = doc_merge_patch(pool, stored, parsed(pool, "{\"network_data\":null}"));
	is_int(node_rules.complete(&draft), OUTCOME_OK, "only taken away");
	draft.before = draft.body;
	draft.body = stored;
	draft.restores = true;
	is_int(node_rules.complete(&draft), OUTCOME_OK, "which an undo takes back");
}

static void test_instance(void)
{
	const char *node = "{\"driver\":\"ipmi\",\"instance_uuid\":\"" INSTANCE "\"}";

	refuses(change(node, "{\"instance_uuid\":\"" OTHER "\"}"), OUTCOME_CONFLICT,
		"Node " UID " is associated with instance " INSTANCE ".", "another instance");
	is_int(change(node, "{\"instance_uuid\":\"" INSTANCE "\"}"), OUTCOME_OK, "the same");
	is_int(change(node, "{\"instance_uuid\":null}"), OUTCOME_OK, "none");
}

static void test_relations(void)
{
	struct relations relations;
	struct uuid uid;

	uuid_parse(STR(UID), &uid);
	node_rules.relate(pool,
		parsed(pool, "{\"name\":\"n1\",\"instance_uuid\":\"" INSTANCE "\",\"chassis_uuid\":\"" OTHER "\"}"), &uid,
		&relations);
	is_int((long long)relations.n_keys, 3, "what a node is found by");
	ok(relations.has_root && uuid_eq(relations.root, uid), "it is a root");
	is_str(str_c(relations.keys[0].kind), "name", "name");
	is_str(relations.keys[1].value, INSTANCE, "instance");
	is_str(relations.keys[2].value, OTHER " " UID, "and its chassis");
	node_rules.relate(pool, parsed(pool, "{\"name\":null,\"instance_uuid\":null,\"chassis_uuid\":null}"), &uid, &relations);
	is_int((long long)relations.n_keys, 0, "a node without any");
	port_rules.relate(pool,
		parsed(pool, "{\"address\":\"52:54:00:00:00:01\",\"node_uuid\":\"" INSTANCE "\",\"portgroup_uuid\":\"" OTHER
				      "\"}"), &uid, &relations);
	is_int((long long)relations.n_keys, 2, "a port");
	is_str(relations.keys[0].value, "52:54:00:00:00:01", "its address");
	is_str(relations.keys[1].value, OTHER " " UID, "its port group");
	is_str(uuid_str(pool, relations.root), INSTANCE, "hangs on its node");
	portgroup_rules.relate(pool, parsed(pool, "{\"name\":\"g\",\"address\":null,\"node_uuid\":\"" INSTANCE "\"}"), &uid,
		&relations);
	ok(relations.n_keys == 1 && relations.has_root, "a port group");
	chassis_rules.relate(pool, parsed(pool, "{}"), &uid, &relations);
	ok(relations.n_keys == 0 && !relations.has_root, "a chassis");
}

static enum outcome deletes(const char *body)
{
	struct resource resource = { .type = &type };

	uuid_parse(STR(UID), &resource.uid);
	return node_rules.may_delete(&registry, &resource, parsed(pool, body));
}

static void test_deletion(void)
{
	struct uuid uid;
	const struct lookup_key name = { "name", STR("n1") }, mac = { "address", STR("52:54:00:00:00:01") };
	const struct lookup_key instance = { "instance", STR(INSTANCE) };

	uuid_parse(STR(UID), &uid);
	is_int(deletes("{\"provision_state\":\"enroll\"}"), OUTCOME_OK, "a node in enroll may go");
	refuses(deletes("{\"provision_state\":\"active\"}"), OUTCOME_CONFLICT, "while it is in provision state \"active\"",
		"active");
	is_int(deletes("{\"provision_state\":\"active\",\"maintenance\":true}"), OUTCOME_OK, "in maintenance");
	refuses(deletes("{\"provision_state\":\"available\",\"instance_uuid\":\"" INSTANCE "\"}"), OUTCOME_CONFLICT,
		"is associated with instance", "in use");
	is_int(deletes("{\"provision_state\":\"active\",\"instance_uuid\":\"" INSTANCE "\",\"maintenance\":true}"), OUTCOME_OK,
		"in use, and in maintenance");
	refuses(deletes("{\"provision_state\":\"active\",\"maintenance\":true,\"protected\":true}"), OUTCOME_FORBIDDEN,
		"is protected", "protected");
	refuses(node_rules.taken(&registry, &uid, &name), OUTCOME_NAME_TAKEN, "A node with name n1 already exists.",
		"a name");
	refuses(node_rules.taken(&registry, &uid, NULL), OUTCOME_NAME_TAKEN, "A node with UUID " UID " already exists.",
		"a UUID");
	refuses(node_rules.taken(&registry, &uid, &instance), OUTCOME_NAME_TAKEN,
		"Instance " INSTANCE " is already associated with a node, it cannot be associated with this other node " UID,
		"an instance");
	refuses(port_rules.taken(&registry, &uid, &mac), OUTCOME_NAME_TAKEN,
		"A port with MAC address 52:54:00:00:00:01 already exists.", "an address");
	refuses(portgroup_rules.taken(&registry, &uid, &name), OUTCOME_NAME_TAKEN,
		"A portgroup with name n1 already exists.", "a port group's name");
}

// Which targets are possible in which state, and where they lead: the state machine of OpenStack's API guide. What is not here
// is refused.
static const struct {
	const char *state, *targets, *next;
} machine[] = {
	{ "enroll", "manage", "manageable" },
	{ "available", "manage", "manageable" },
	{ "available", "active deploy", "active" },
	{ "manageable", "provide", "available" },
	{ "manageable", "clean inspect", "manageable" },
	{ "manageable", "adopt", "active" },
	{ "active", "rebuild", "active" },
	{ "active", "deleted undeploy", "available" },
	{ "active", "rescue", "rescue" },
	{ "deploy failed", "active deploy rebuild", "active" },
	{ "deploy failed", "deleted undeploy", "available" },
	{ "wait call-back", "deleted undeploy", "available" },
	{ "error", "rebuild", "active" },
	{ "error", "deleted undeploy", "available" },
	{ "clean failed", "manage", "manageable" },
	{ "clean wait", "abort", "clean failed" },
	{ "inspect failed", "manage inspect", "manageable" },
	{ "inspect wait", "abort", "inspect failed" },
	{ "adopt failed", "adopt", "active" },
	{ "adopt failed", "manage", "manageable" },
	{ "rescue", "unrescue", "active" },
	{ "rescue", "rescue", "rescue" },
	{ "rescue", "deleted undeploy", "available" },
	{ "rescue wait", "abort", "rescue failed" },
	{ "rescue wait", "deleted undeploy", "available" },
	{ "rescue failed", "rescue", "rescue" },
	{ "rescue failed", "unrescue", "active" },
	{ "rescue failed", "deleted undeploy", "available" },
	{ "unrescue failed", "rescue", "rescue" },
	{ "unrescue failed", "unrescue", "active" },
	{ "unrescue failed", "deleted undeploy", "available" },
};

static const char *expected_next(const char *state, const char *target)
{
	for (size_t i = 0; i < COUNT_OF(machine); i++) {
		struct str rest = str_c(machine[i].targets), one;
		while (strcmp(machine[i].state, state) == 0 && str_split(&rest, ' ', &one)) {
			if (str_eq_c(one, target))
				return machine[i].next;
		}
	}
	return NULL;
}

static void test_provision_states(void)
{
	static const char *const targets[] = { "active", "deploy", "rebuild", "deleted", "undeploy", "manage", "provide",
		"inspect", "abort", "clean", "adopt", "rescue", "unrescue" };
	size_t wrong = 0, n = 0;
	struct resource node = { .type = &type };

	uuid_parse(STR(UID), &node.uid);
	registry.stamp_us = 1795310640000000;
	for (const char *const *state = baremetal_provision_states; *state != NULL; state++) {
		for (size_t i = 0; i < COUNT_OF(targets); i++, n++) {
			const char *next = expected_next(*state, targets[i]);
			struct doc *body = parsed(pool, "{\"deploy_interface\":\"fake\",\"inspect_interface\":\"fake\","
				"\"rescue_interface\":\"fake\",\"power_interface\":\"fake\"}");
			const struct doc *result;
			doc_set_str(pool, body, "provision_state", str_c(*state));
			enum outcome outcome = provision_node(&registry, &node, provision_verb_find(str_c(targets[i])), NULL, body);
			doc_get(body, STR("provision_state"), &result);
			bool right = next != NULL ? outcome == OUTCOME_OK && str_eq_c(doc_string(result), next)
						  : outcome == OUTCOME_BAD_REQUEST && str_eq_c(doc_string(result), *state);
			if (!right) {
				struct str text = doc_string(result);
				diag("%s in state %s leads to %.*s", targets[i], *state, STR_ARG(text));
			}
			wrong += right ? 0 : 1;
		}
	}
	is_int((long long)n, 30 * 13, "all targets in all states");
	is_int((long long)wrong, 0, "lead where they should, or are refused");
	ok(provision_verb_find(STR("explode")) == NULL && provision_verb_find(STR("delete")) == NULL, "what no client may ask for");
	struct doc *far = parsed(pool, "{\"driver\":\"ipmi\",\"provision_state\":\"enroll\",\"power_interface\":\"ipmitool\"}");
	refuses(provision_node(&registry, &node, provision_verb_find(STR("manage")), NULL, far), OUTCOME_BAD_REQUEST,
		"Driver ipmi does not support power", "an interface that needs hardware");
	registry.stamp_us = 0;
}

static void test_chassis(void)
{
	static const struct type chassis = { .kind = STR_INIT("Chassis"), .singular = STR_INIT("chassis"),
		.rules = &chassis_rules };
	struct address there = { .tenant = STR("acme"), .type = &chassis, .name = STR(UID) };

	draft = (struct draft){ .registry = &registry, .address = &there, .body = parsed(pool, "{}") };
	refuses(type_complete(&draft), OUTCOME_FORBIDDEN, "\"system\" alone", "chassis are the operator's");
	there.tenant = STR("system");
	is_int(chassis_rules.complete(&draft), OUTCOME_OK, "a chassis");
	is_str(written(pool, draft.body), "{\"description\":null,\"extra\":{}}", "in stored form");
	draft.body = parsed(pool, "{\"nodes\":[]}");
	refuses(chassis_rules.complete(&draft), OUTCOME_BAD_DOCUMENT, "Schema error for chassis: ", "no such member");
}

int main(void)
{
	pool = pool_new();
	config = config_new(settings_tables());
	SET(config, baremetal)->drivers = DRIVERS;
	registry = (struct registry){ .problem = &problem, .config = config, .settings = registry_settings(config), .pool = pool };
	test_values();
	test_drivers();
	test_new_node();
	test_members();
	test_lengths();
	test_privileges();
	test_driver_changes();
	test_flags();
	test_properties();
	test_network_data();
	test_instance();
	test_relations();
	test_deletion();
	test_provision_states();
	test_chassis();
	pool_free(&pool);
	return done_testing();
}
