// SPDX-License-Identifier: Apache-2.0
// The rules of bare metal on a database: what refers to what, what is one of a kind, what may go, and at what cost.
#include "base/base.h"

#include "documents.h"
#include "registry-fixture.h"
#include "registry/baremetal/settings.h"
#include "registry/resource/secret.h"
#include "registry/type/rules.h"

#define ID(n) "aa000000-0000-0000-0000-0000000000" #n
#define NODE(n) "\"node_uuid\":\"" ID(n) "\""
#define MAC(n) "\"address\":\"52:54:00:00:00:" #n "\""
#define INSTANCE "bb000000-0000-0000-0000-000000000001"

enum what { MAKE, CHANGE, REMOVE };

// patch: of what is there, as a merge patch; of a new one, the body.
struct deed {
	enum what what;
	const char *tenant, *plural, *id, *patch;
	bool operator;
	bool done; // the last one, for DEED
};

struct doing {
	const struct deed *deed;
	enum outcome outcome;
};

static enum outcome apply(void *arg, const struct resource *current, struct content *content)
{
	const struct deed *deed = arg;
	const struct doc *was = current != NULL ? parsed_str(here.pool, resource_shown(here.pool, current)) : NULL;

	*content = (struct content){
		.meta = STR("{}"),
		.document = doc_merge_patch(here.pool, was, parsed(here.pool, deed->patch)),
	};
	return OUTCOME_OK;
}

static enum db_verdict act(void *arg)
{
	struct doing *doing = arg;
	const struct deed *deed = doing->deed;
	struct edit edit = { .apply = apply, .arg = (void *)(uintptr_t)deed, .creates = true };
	const struct type *type = type_called(here.registry, deed->plural);
	struct ident ident = { .type = type, .tenant = str_c(deed->tenant) };
	struct address address = { ident.tenant, type, STR(""), str_c(deed->id) };
	struct guard none = { 0 };

	uuid_parse(address.name, &ident.uid);
	if (deed->what == MAKE)
		doing->outcome = resource_write(here.registry, &address, &edit, none, &here.resource);
	else if (deed->what == CHANGE)
		doing->outcome = resource_change(here.registry, &ident, &edit, none, &here.resource);
	else
		doing->outcome = resource_remove(here.registry, &ident, none, &here.resource);
	return outcome_commits(doing->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome deed_do(const struct deed *deed)
{
	struct doing doing = { deed, OUTCOME_INTERNAL };

	here.request_id = uuid_new();
	enum outcome outcome = registry_begin(here.registry, here.pool, &here.request_id, STR("tester"), &here.problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	here.registry->privileged = deed->operator;
	return db_txn_run(here.db, DB_WRITE, &here.request_id, act, &doing) == DB_OK ? doing.outcome : OUTCOME_UNAVAILABLE;
}

#define DEED(want, name, ...) is_outcome(deed_do(&(struct deed){ __VA_ARGS__, .done = false }), OUTCOME_##want, name)

static void said(const char *part)
{
	struct str detail = here.registry->problem->detail;

	ok(memmem(detail.p, detail.n, part, strlen(part)) != NULL, "it says: %s", part);
}

static void has(const char *part)
{
	struct str body = here.resource.body;

	ok(memmem(body.p, body.n, part, strlen(part)) != NULL, "it has %s", part);
}

static void nodes(void)
{
	DEED(CREATED, "a node", MAKE, "a", "nodes", ID(01), "{\"driver\":\"fake-hardware\",\"name\":\"n1\"}");
	has("\"boot_interface\":\"fake\"");
	DEED(NAME_TAKEN, "its name again, elsewhere", MAKE, "b", "nodes", ID(02), "{\"driver\":\"ipmi\",\"name\":\"n1\"}");
	said("A node with name n1 already exists.");
	DEED(NAME_TAKEN, "its UUID", MAKE, "b", "nodes", ID(01), "{\"driver\":\"ipmi\"}");
	said("A node with UUID " ID(01) " already exists.");
	DEED(CREATED, "another's", MAKE, "b", "nodes", ID(02), "{\"driver\":\"ipmi\",\"instance_uuid\":\"" INSTANCE "\"}");
	DEED(NAME_TAKEN, "an instance has one node", CHANGE, "a", "nodes", ID(01), "{\"instance_uuid\":\"" INSTANCE "\"}");
	said("cannot be associated with this other node " ID(01));
	DEED(CONFLICT, "a node that is in use", REMOVE, "b", "nodes", ID(02));
	said("is associated with instance " INSTANCE);
	DEED(OK, "frees it", CHANGE, "b", "nodes", ID(02), "{\"instance_uuid\":null}");
	DEED(BAD_DOCUMENT, "no such driver", CHANGE, "b", "nodes", ID(02), "{\"driver\":\"ilo\"}");
	said("No valid host was found");
	is_sound("nodes");
}

static void secrets(void)
{
	DEED(OK, "a password", CHANGE, "a", "nodes", ID(01), "{\"driver_info\":{\"ipmi_password\":\"hush\"}}");
	ok(str_find(resource_shown(here.pool, &here.resource), '*', 0) < here.resource.body.n, "is not shown");
	DEED(OK, "a patch of the body as it is shown", CHANGE, "a", "nodes", ID(01), "{\"extra\":{\"a\":1}}");
	has("\"ipmi_password\":\"hush\"");
	DEED(BAD_DOCUMENT, "a mask elsewhere", CHANGE, "a", "nodes", ID(01),
		"{\"driver_info\":{\"x_password\":\"******\"}}");
}

static void ports(void)
{
	DEED(CREATED, "a port", MAKE, "a", "ports", ID(11), "{" NODE(01) "," MAC(0A) ",\"pxe_enabled\":\"false\"}");
	has("\"address\":\"52:54:00:00:00:0a\"");
	has("\"pxe_enabled\":false");
	ok(here.resource.has_root && here.resource.root.b[15] == 1, "hangs on its node");
	DEED(NAME_TAKEN, "its address again", MAKE, "b", "ports", ID(12), "{" NODE(02) "," MAC(0a) "}");
	said("A port with MAC address 52:54:00:00:00:0a already exists.");
	DEED(BAD_DOCUMENT, "no address", MAKE, "a", "ports", ID(12), "{" NODE(01) "}");
	said("Schema error for port: 'address' is a required property");
	DEED(BAD_DOCUMENT, "no node", MAKE, "a", "ports", ID(12), "{" MAC(0b) "}");
	said("'node_uuid' is a required property");
	DEED(BAD_DOCUMENT, "no MAC address", MAKE, "a", "ports", ID(12),
		"{" NODE(01) ",\"address\":\"52-54-00-00-00-01\"}");
	said("Expected valid MAC address");
	DEED(BAD_DOCUMENT, "an unknown node", MAKE, "a", "ports", ID(12), "{" NODE(77) "," MAC(0b) "}");
	said("Node " ID(77) " could not be found.");
	DEED(BAD_DOCUMENT, "another tenant's node", MAKE, "a", "ports", ID(12), "{" NODE(02) "," MAC(0b) "}");
	said("Node " ID(02) " could not be found.");
	DEED(OK, "another address", CHANGE, "a", "ports", ID(11), "{" MAC(0c) "}");
	DEED(OK, "an instance on the node", CHANGE, "a", "nodes", ID(01), "{\"instance_uuid\":\"" INSTANCE "\"}");
	DEED(CONFLICT, "no other address then", CHANGE, "a", "ports", ID(11), "{" MAC(0d) "}");
	said("is active or has instance UUID assigned");
	DEED(OK, "but anything else", CHANGE, "a", "ports", ID(11), "{\"extra\":{\"a\":1}}");
	DEED(OK, "the instance goes", CHANGE, "a", "nodes", ID(01), "{\"instance_uuid\":null}");
	DEED(FORBIDDEN, "what the service sets", CHANGE, "a", "ports", ID(11), "{\"internal_info\":{\"a\":1}}");
	DEED(OK, "an operator may", CHANGE, "a", "ports", ID(11), "{\"internal_info\":{\"a\":1}}", true);
	is_sound("ports");
}

static void links(void)
{
	static const struct {
		const char *link;
		enum outcome outcome;
	} tries[] = {
		{ "{\"port_id\":\"p\",\"switch_id\":\"0A:1b:2c:3d:4e:5f\"}", OUTCOME_OK },
		{ "{\"port_id\":\"p\",\"switch_id\":\"0123456789ABCDEF\"}", OUTCOME_OK },
		{ "{\"port_id\":\"p\",\"hostname\":\"h\",\"switch_id\":null}", OUTCOME_OK },
		{ "{\"network_type\":\"unmanaged\",\"port_id\":null,\"hostname\":null}", OUTCOME_OK },
		{ "{\"network_type\":\"managed\"}", OUTCOME_BAD_DOCUMENT },
		{ "{\"network_type\":\"free\"}", OUTCOME_BAD_DOCUMENT },
		{ "{\"network_type\":\"unmanaged\",\"frob\":\"x\"}", OUTCOME_BAD_DOCUMENT },
		{ "{\"network_type\":null,\"port_id\":\"p\"}", OUTCOME_BAD_DOCUMENT },
		{ "{\"port_id\":1}", OUTCOME_BAD_DOCUMENT },
		{ "{\"switch_id\":\"left\",\"port_id\":\"p\"}", OUTCOME_BAD_DOCUMENT },
		{ "null", OUTCOME_OK },
	};

	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		struct str patch = str_printf(here.pool, "{\"local_link_connection\":%s}", tries[i].link);
		struct deed deed = { CHANGE, "a", "ports", ID(11), str_cstr(here.pool, patch), .done = false };
		is_outcome(deed_do(&deed), tries[i].outcome, tries[i].link);
		if (i == 0)
			has("\"switch_id\":\"0a:1b:2c:3d:4e:5f\"");
	}
	has("\"local_link_connection\":{}");
}

static void portgroups(void)
{
	DEED(CREATED, "a port group", MAKE, "a", "portgroups", ID(21), "{" NODE(01) ",\"name\":\"g1\"}");
	has("\"mode\":\"active-backup\"");
	has("\"standalone_ports_supported\":true");
	DEED(NAME_TAKEN, "its name again", MAKE, "b", "portgroups", ID(22), "{" NODE(02) ",\"name\":\"g1\"}");
	said("A portgroup with name g1 already exists.");
	DEED(CREATED, "another node's", MAKE, "b", "portgroups", ID(22), "{" NODE(02) ",\"name\":\"g2\"}");
	DEED(OK, "a port joins", CHANGE, "a", "ports", ID(11), "{\"portgroup_uuid\":\"" ID(21) "\"}");
	DEED(BAD_DOCUMENT, "not one of another tenant's", CHANGE, "a", "ports", ID(11),
		"{\"portgroup_uuid\":\"" ID(22) "\"}");
	said("Portgroup " ID(22) " could not be found.");
	DEED(CREATED, "a second node", MAKE, "a", "nodes", ID(03), "{\"driver\":\"redfish\"}");
	DEED(BAD_DOCUMENT, "a port leaves its group's node", CHANGE, "a", "ports", ID(11), "{" NODE(03) "}");
	said("is another node's");
	DEED(BAD_REQUEST, "a group leaves its ports' node", CHANGE, "a", "portgroups", ID(21), "{" NODE(03) "}");
	said("because there are ports associated with this portgroup");
	DEED(BAD_REQUEST, "a group with ports goes", REMOVE, "a", "portgroups", ID(21));
	said("contains ports");
	DEED(OK, "the port leaves", CHANGE, "a", "ports", ID(11), "{\"portgroup_uuid\":null}");
	DEED(OK, "the group may go elsewhere", CHANGE, "a", "portgroups", ID(21), "{" NODE(03) "}");
	ok(here.resource.root.b[15] == 3, "and hangs there");
	DEED(NO_CONTENT, "and away", REMOVE, "a", "portgroups", ID(21));
	is_sound("port groups");
}

// ---- two that make one at once

static bool other_came;

// The node is made by another request between this one's locks and its INSERT.
static enum outcome apply_late(void *arg, const struct resource *current, struct content *content)
{
	struct client other;

	if (!other_came) {
		other_came = true;
		client_open(&other);
		is_outcome(client_do(&other, &OP(PUT, "a", ID(41), .type = "nodes", .body = "{\"driver\":\"ipmi\"}")), OUTCOME_CREATED, "another was quicker");
		client_close(&other);
	}
	return apply(arg, current, content);
}

static enum db_verdict act_late(void *arg)
{
	struct doing *doing = arg;
	struct edit edit = { .apply = apply_late, .arg = (void *)(uintptr_t)doing->deed, .creates = true };
	struct address address = { STR("a"), type_called(here.registry, "nodes"), STR(""), STR(ID(41)) };

	doing->outcome = resource_write(here.registry, &address, &edit, (struct guard){ 0 }, &here.resource);
	return outcome_commits(doing->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static void at_once(void)
{
	const struct deed deed = { MAKE, "a", "nodes", ID(41), "{\"driver\":\"ipmi\",\"description\":\"late\"}", .done = false };
	struct doing doing = { &deed, OUTCOME_INTERNAL };

	// Another tenant has that uid, in another type: it has nothing to do with this.
	EXPECT(CREATED, "another tenant's", PUT, "b", "pv41");
	server_sql("UPDATE resources SET uid = x'aa000000000000000000000000000041' WHERE name = 'pv41';");
	here.request_id = uuid_new();
	registry_begin(here.registry, here.pool, &here.request_id, STR("tester"), &here.problem);
	ok(db_txn_run(here.db, DB_WRITE, &here.request_id, act_late, &doing) == DB_OK, "done");
	is_outcome(doing.outcome, OUTCOME_OK, "it changes what the other one made");
	has("\"driver\":\"ipmi\"");
	has("\"description\":\"late\"");
	is_int((long long)here.resource.revision, 2, "once");
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE name = '" ID(41) "'"), 1, "which is there once");
	server_sql("UPDATE resources r JOIN changes x ON x.resource_id = r.id SET r.uid = x.uid WHERE r.name = 'pv41';");
	is_sound("at once");
}

static void chassis(void)
{
	DEED(FORBIDDEN, "a tenant's chassis", MAKE, "a", "chassis", ID(31), "{}");
	DEED(CREATED, "a chassis", MAKE, "system", "chassis", ID(31), "{\"description\":\"row 5\"}", true);
	DEED(FORBIDDEN, "a tenant does not choose it", CHANGE, "a", "nodes", ID(01), "{\"chassis_uuid\":\"" ID(31) "\"}");
	DEED(BAD_DOCUMENT, "an unknown one", CHANGE, "a", "nodes", ID(01), "{\"chassis_uuid\":\"" ID(32) "\"}", true);
	said("Chassis " ID(32) " could not be found.");
	DEED(OK, "an operator does", CHANGE, "a", "nodes", ID(01), "{\"chassis_uuid\":\"" ID(31) "\"}", true);
	DEED(OK, "and the tenant's patches leave it", CHANGE, "a", "nodes", ID(01), "{\"extra\":{\"a\":2}}");
	DEED(BAD_REQUEST, "a chassis with nodes", REMOVE, "system", "chassis", ID(31), NULL, true);
	said("contains nodes");
	DEED(OK, "the node leaves", CHANGE, "a", "nodes", ID(01), "{\"chassis_uuid\":null}", true);
	DEED(NO_CONTENT, "an empty one goes", REMOVE, "system", "chassis", ID(31), NULL, true);
	DEED(BAD_DOCUMENT, "a deleted one", CHANGE, "a", "nodes", ID(01), "{\"chassis_uuid\":\"" ID(31) "\"}", true);
	is_sound("chassis");
}

static void cost(void)
{
	uint64_t before = db_round_trips(here.db);

	DEED(OK, "a patch of a node", CHANGE, "a", "nodes", ID(01), "{\"extra\":{\"cost\":1}}");
	is_int((long long)(db_round_trips(here.db) - before), 3, "two round trips and COMMIT");
	DEED(OK, "its port's", CHANGE, "a", "ports", ID(11), "{\"extra\":{\"cost\":1}}");
	is_int((long long)(db_round_trips(here.db) - before), 6, "and as many for its port");
	DEED(NO_CONTENT, "a node goes", REMOVE, "a", "nodes", ID(01));
	DEED(NOT_FOUND, "with its port", CHANGE, "a", "ports", ID(11), "{}");
	is_sound("in the end");
}

int main(void)
{
	fixture_start();
	SET(server.config, baremetal)->drivers = "fake-hardware,ipmi,redfish";
	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	EXPECT(CREATED, "the operator's", PUT_TENANT, "system");
	nodes();
	secrets();
	ports();
	links();
	portgroups();
	chassis();
	at_once();
	cost();
	return fixture_end();
}
