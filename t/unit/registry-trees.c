// SPDX-License-Identifier: Apache-2.0
// Trees: what hangs on a resource moves, goes and comes back with it, and never without it.
#include "base/base.h"

#include "registry-baremetal.h"

#define PORT(n, mac) "{\"node\":\"aa000000-0000-0000-0000-0000000000" #n "\",\"address\":\"" mac "\"}"

static long long living(const char *tenant)
{
	return sql_number("SELECT COUNT(*) FROM resources WHERE tenant_id = " TENANT_ID " AND live = 1", tenant);
}

static long long lookup_keys(const char *live)
{
	return sql_number("SELECT COUNT(*) FROM resource_aliases WHERE live %s", live);
}

static void has(struct str text, const char *part, const char *what)
{
	ok(memmem(text.p, text.n, part, strlen(part)) != NULL, "%s: %s (%.*s)", what, part, STR_ARG(text));
}

static void detail_has(const char *part, const char *what)
{
	has(here.registry->problem->detail, part, what);
}

// Two nodes with two ports and one.
static void fill(void)
{
	DEED(CREATED, "a node", MAKE, "a", "nodes", 0x10, "{\"name\":\"n10\"}");
	DEED(CREATED, "its port", MAKE, "a", "ports", 0x11, PORT(10, "m11"));
	DEED(CREATED, "another", MAKE, "a", "ports", 0x12, PORT(10, "m12"));
	DEED(CREATED, "another node", MAKE, "a", "nodes", 0x20, "{\"name\":\"n20\"}");
	DEED(CREATED, "its port", MAKE, "a", "ports", 0x21, PORT(20, "m21"));
	EXPECT(CREATED, "something else", PUT, "a", "pv");
}

static void is_blocked(const char *reason, const char *path, const char *what)
{
	const struct move_action *action = &here.action;

	ok(action->n_blockers == 1 && strcmp(action->blockers[0].reason, reason) == 0 &&
			str_eq_c(action->blockers[0].resource, path),
		"%s: %s %s", what, reason, path);
}

static void moves(void)
{
	char before[MOVE_TAG_HEX + 1];

	DEED(OK, "a look at a node's move", LOOK, "a", "nodes", 0x10, .dest = "b");
	is_int((long long)here.action.count, 3, "the node and its ports");
	ok(here.action.listed && str_eq_c(here.action.items[0].path, "nodes/aa000000-0000-0000-0000-000000000010") &&
			str_eq_c(here.action.items[2].path, "ports/aa000000-0000-0000-0000-000000000012"),
		"each is listed");
	memcpy(before, here.action.etag, sizeof(before));
	DEED(OK, "a port's change", CHANGE, "a", "ports", 0x12, PORT(10, "m12b"));
	DEED(OK, "another look", LOOK, "a", "nodes", 0x10, .dest = "b");
	ok(strcmp(before, here.action.etag) != 0, "has another tag");
	DEED(OK, "a look at a port's move", LOOK, "a", "ports", 0x11, .dest = "b");
	is_blocked("attached", "ports/aa000000-0000-0000-0000-000000000011", "it can't go alone");
	has(here.action.blockers[0].detail, "nodes/aa000000-0000-0000-0000-000000000010", "but with its node");
	DEED(BLOCKED, "nor does it", MOVE_ONE, "a", "ports", 0x11, .dest = "b");
	DEED(OK, "another node's port", LOOK, "a", "ports", 0x21, .dest = "b");
	has(here.action.blockers[0].detail, "nodes/aa000000-0000-0000-0000-000000000020", "with that one");
	DEED(SEE_OTHER, "the node goes", MOVE_ONE, "a", "nodes", 0x10, .dest = "b");
	is_int(living("a"), 3, "what is left");
	is_int(living("b"), 3, "what has come");
	is_changes(&here.request_id, 3, "all of them");
	DEED(OK, "found there", FIND, "b", "ports", 0x11);
	DEED(OK, "by its lookup key", FIND, "b", "nodes", .kind = "name", .value = "n10");
	DEED(NOT_FOUND, "here no more", FIND, "a", "ports", 0x11);
	DEED(MOVED, "the old address", MOVE_ONE, "a", "nodes", 0x10, .dest = "b");
	DEED(BLOCKED, "no room for three", MOVE_ONE, "b", "nodes", 0x10, .dest = "small");
	is_blocked("quota", "", "two of its three places are free");
	DEED(OK, "given away", GIVE, NULL, "nodes", 0x10, .dest = "c");
	is_int(living("c"), 3, "with its ports");
	DEED(SEE_OTHER, "all of a tenant's", MOVE_ALL_THERE, "c", .dest = "a");
	is_int(living("a"), 6, "and back");
	is_sound_here("after moves");
}

static void deletions(void)
{
	DEED(OK, "a lock", CHANGE, "a", "ports", 0x12, PORT(10, "m12b"), .locked = true);
	DEED(LOCKED, "what hangs on it is locked", REMOVE, "a", "nodes", 0x10);
	detail_has("belongs to it", "it says so");
	DEED(OK, "unlocked", CHANGE, "a", "ports", 0x12, PORT(10, "m12b"));
	DEED(OK, "protected", CHANGE, "a", "nodes", 0x10, "{\"name\":\"n10\",\"protected\":\"yes\"}");
	DEED(FORBIDDEN, "the type says no", REMOVE, "a", "nodes", 0x10);
	DEED(FORBIDDEN, "by its address, too", DELETE_AT, "a", "nodes", 0x10);
	DEED(OK, "not protected", CHANGE, "a", "nodes", 0x10, "{\"name\":\"n10\"}");
	DEED(NOT_FOUND, "another tenant's", REMOVE, "b", "nodes", 0x10);
	DEED(NO_CONTENT, "a port alone", REMOVE, "a", "ports", 0x11);
	DEED(NO_CONTENT, "the node", REMOVE, NULL, "nodes", 0x10);
	is_changes(&here.request_id, 2, "with the other port");
	is_int(living("a"), 3, "what is left");
	is_int(lookup_keys("IS NULL"), 3, "their lookup keys are free");
	DEED(NOT_FOUND, "not found", FIND, NULL, "nodes", .kind = "name", .value = "n10");
	DEED(NOT_FOUND, "not there", REMOVE, NULL, "nodes", 0x10);
	is_sound_here("deleted");
	DEED(CONFLICT, "a port without its node", RECOVER_AT, "a", "ports", 0x11);
	detail_has("nodes/aa000000-0000-0000-0000-000000000010", "it names the node");
	DEED(CONFLICT, "nor the one deleted with it", RECOVER_AT, "a", "ports", 0x12);
	DEED(NO_CONTENT, "the node", RECOVER_AT, "a", "nodes", 0x10);
	is_changes(&here.request_id, 2, "with what went with it");
	DEED(OK, "found by its name", FIND, NULL, "nodes", .kind = "name", .value = "n10");
	DEED(NOT_FOUND, "the other port stays away", FIND, NULL, "ports", 0x11);
	DEED(NO_CONTENT, "until it is asked for", RECOVER_AT, "a", "ports", 0x11);
	is_int(lookup_keys("IS NULL"), 0, "all lookup keys are in use");
	is_sound_here("recovered");
}

// Whoever names it by a key or by its uid alone, in anybody's space.
static void keys(void)
{
	uint64_t before = db_round_trips(here.db);

	DEED(OK, "by its uid", CHANGE, NULL, "nodes", 0x10, "{\"name\":\"n10\",\"of\":\"uid\"}");
	is_int((long long)(db_round_trips(here.db) - before), 3, "two round trips and COMMIT");
	is_str(registry_concerned(here.registry), "a", "it is about its owner's");
	DEED(OK, "by its name", CHANGE, NULL, "nodes", .body = "{\"name\":\"n10\",\"rack\":\"r1\"}", .kind = "name", .value = "n10");
	DEED(CREATED, "one named as the other's key of another kind", MAKE, "b", "nodes", 0x51,
		"{\"name\":\"r1 aa000000-0000-0000-0000-000000000010\"}");
	DEED(OK, "the key", CHANGE, NULL, "nodes", .body = "{\"name\":\"n10\",\"rack\":\"r1\",\"by\":\"rack\"}", .kind = "rack",
		.value = "r1 aa000000-0000-0000-0000-000000000010");
	ok(here.resource.uid.b[15] == 0x10, "leads to the one");
	DEED(OK, "the name", FIND, NULL, "nodes", .kind = "name", .value = "r1 aa000000-0000-0000-0000-000000000010");
	ok(here.resource.uid.b[15] == 0x51, "to the other");
	DEED(NOT_FOUND, "a name of a port", CHANGE, NULL, "ports", .body = PORT(10, "m"), .kind = "name", .value = "n10");
	// A key that its document does not have any more, as when it is taken away while another request looks it up.
	server_sql("INSERT INTO resource_aliases (resource_id, type_id, kind, value) SELECT id, type_id, 'rack', 'old' FROM resources WHERE name = "
		"'aa000000-0000-0000-0000-000000000051';");
	SET(server.config, db)->retries = 0;
	DEED(UNAVAILABLE, "a key of before leads nowhere", CHANGE, NULL, "nodes", .body = "{}", .kind = "rack", .value = "old");
	SET(server.config, db)->retries = 10;
	server_sql("DELETE FROM resource_aliases WHERE value = 'old';");
	DEED(OK, "the other is called nothing", CHANGE, NULL, "nodes", 0x51, "{}");
	DEED(OK, "as it was", CHANGE, NULL, "nodes", 0x10, "{\"name\":\"n10\"}");
	is_sound_here("keys");
}

// Nova's provider has the uid of its node: types share uids, and what is done to the one is not done to the other.
static void shared_uid(void)
{
	DEED(CREATED, "a node", MAKE, "b", "nodes", 0x61, "{}");
	long long last = sql_number("SELECT changed FROM resources WHERE name = 'aa000000-0000-0000-0000-000000000061'");

	DEED(CREATED, "a port with its uid", MAKE, "a", "ports", 0x61, "{\"node\":\"aa000000-0000-0000-0000-000000000010\"}");
	is_int(sql_number("SELECT r.changed FROM resources r JOIN types t ON t.id = r.type_id AND t.plural = 'nodes' WHERE r.name = "
		"'aa000000-0000-0000-0000-000000000061'"), last, "is no change of the node");
	is_sound_here("a shared uid");
	DEED(NO_CONTENT, "the port goes", REMOVE, NULL, "ports", 0x61);
	DEED(OK, "the node stays", FIND, "b", "nodes", 0x61);
	DEED(NO_CONTENT, "and goes", REMOVE, NULL, "nodes", 0x61);
	is_sound_here("without it");
}

static void elsewhere(void)
{
	DEED(NO_CONTENT, "a port goes", REMOVE, "a", "ports", 0x21);
	DEED(SEE_OTHER, "its node leaves", MOVE_ONE, "a", "nodes", 0x20, .dest = "b");
	DEED(CONFLICT, "it does not come back without", RECOVER_AT, "a", "ports", 0x21);
	DEED(SEE_OTHER, "the node comes back", MOVE_ONE, "b", "nodes", 0x20, .dest = "a");
	DEED(NO_CONTENT, "and then the port", RECOVER_AT, "a", "ports", 0x21);
	DEED(NO_CONTENT, "deleted with its tree", REMOVE, "a", "nodes", 0x20);
	is_sound_here("elsewhere");
}

static void successors(void)
{
	DEED(CREATED, "a successor of the name", MAKE, "b", "nodes", 0x30, "{\"name\":\"n20\"}");
	DEED(NAME_TAKEN, "the old one can't come back", RECOVER_AT, "a", "nodes", 0x20);
	detail_has("name n20 is taken", "in the words of its type");
	DEED(OK, "renamed", CHANGE, NULL, "nodes", 0x30, "{\"name\":\"n30\"}");
	DEED(CREATED, "a successor of the port's address", MAKE, "b", "ports", 0x31, PORT(30, "m21"));
	DEED(NAME_TAKEN, "nor is that overlooked", RECOVER_AT, "a", "nodes", 0x20);
	detail_has("address m21 is taken", "it says what");
	DEED(OK, "another address", CHANGE, NULL, "ports", 0x31, PORT(30, "m31"));
	DEED(CREATED, "a successor of the port's uid", MAKE, "b", "ports", 0x21, PORT(30, "m32"));
	DEED(NAME_TAKEN, "nor is that", RECOVER_AT, "a", "nodes", 0x20);
	detail_has("uid aa000000-0000-0000-0000-000000000021 is taken", "it says which");
	is_int(lookup_keys("IS NULL"), 2, "nothing has come back by half");
	DEED(NO_CONTENT, "it goes", REMOVE, NULL, "ports", 0x21);
	DEED(NO_CONTENT, "all is free", RECOVER_AT, "a", "nodes", 0x20);
	is_sound_here("successors");
}

// A tenant's deletion leaves its lookup keys taken: it may come back.
static void tenants(void)
{
	EXPECT(NO_CONTENT, "a tenant goes", DELETE_TENANT, "a", NULL);
	DEED(NOT_FOUND, "what it has is not found", FIND, NULL, "nodes", 0x10);
	DEED(NOT_FOUND, "by lookup key", FIND, NULL, "nodes", .kind = "name", .value = "n10");
	DEED(NAME_TAKEN, "its names stay taken", MAKE, "b", "nodes", 0x40, "{\"name\":\"n10\"}");
	DEED(NAME_TAKEN, "its uids, too", MAKE, "b", "nodes", 0x10, "{}");
	EXPECT(NO_CONTENT, "it comes back", RECOVER_TENANT, "a", NULL);
	DEED(OK, "with all it had", FIND, "a", "nodes", .kind = "name", .value = "n10");
	is_sound_here("tenants");
}

int main(void)
{
	fixture_start();
	EXPECT(CREATED, "a tenant", PUT_TENANT, "a", NULL);
	EXPECT(CREATED, "another", PUT_TENANT, "b", NULL);
	EXPECT(CREATED, "a small one", PUT_TENANT, "small", NULL, .tier = "tiny");
	EXPECT(CREATED, "with something", PUT, "small", "pv");
	fill();
	moves();
	deletions();
	keys();
	shared_uid();
	elsewhere();
	successors();
	tenants();
	return fixture_end();
}
