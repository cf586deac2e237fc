// SPDX-License-Identifier: Apache-2.0
// Each change is logged with the bytes that the resource counted for before and after it, whatever the change was.
#include "base/base.h"

#include "registry-baremetal.h"
#include "registry-sizes.h"

// The sizes of the last change of a resource of that name: before * 1000 + after.
static long long last_sizes(const char *name)
{
	return sql_number("SELECT CAST(bytes_before AS SIGNED) * 1000 + bytes_after FROM changes WHERE name = '%s' ORDER BY id DESC LIMIT 1",
		name);
}

static void one_resource(void)
{
	EXPECT(CREATED, "a resource", PUT, "a", "default/c1", .body = "{\"x\":1}");
	is_int(last_sizes("c1"), 9, "2 bytes of metadata and 7 of content");
	EXPECT(OK, "longer", PUT, "a", "default/c1", .body = "{\"x\":12345}");
	is_int(last_sizes("c1"), 9013, "before and after");
	EXPECT(SEE_OTHER, "moved", MOVE, "a", "default/c1", .dest = "b");
	is_int(last_sizes("c1"), 13013, "as large there");
	EXPECT(NO_CONTENT, "deleted", DELETE, "b", "default/c1");
	is_int(last_sizes("c1"), 13000, "nothing after it");
	EXPECT(NO_CONTENT, "recovered", RECOVER, "b", "default/c1");
	is_int(last_sizes("c1"), 13, "nothing before it");
	is_sized("one");
}

static void namespaces(void)
{
	EXPECT(CREATED, "a namespace", PUT, "a", "n/");
	EXPECT(CREATED, "with something", PUT, "a", "n/c2");
	EXPECT(CREATED, "another tenant's", PUT, "b", "n/");
	EXPECT(CREATED, "with something else", PUT, "b", "n/c3");
	EXPECT(SEE_OTHER, "merged", MOVE, "a", "n/", .dest = "b");
	is_int(last_sizes("c2"), 4004, "what is in it moves");
	is_sized("merged");
	EXPECT(NO_CONTENT, "deleted with what is in it", DELETE, "b", "n/");
	is_int(last_sizes("c3"), 4000, "nothing after it");
	is_sized("a namespace deleted");
	EXPECT(NO_CONTENT, "recovered", RECOVER, "b", "n/");
	is_sized("a namespace recovered");
	EXPECT(SEE_OTHER, "all of a tenant's", MOVE, "b", .dest = "a");
	is_sized("all moved");
}

static void trees(void)
{
	DEED(CREATED, "a node", MAKE, "a", "nodes", 0x10, "{\"name\":\"n10\"}");
	DEED(CREATED, "its port", MAKE, "a", "ports", 0x11, "{\"node\":\"aa000000-0000-0000-0000-000000000010\",\"address\":\"m11\"}");
	DEED(SEE_OTHER, "moved", MOVE_ONE, "a", "nodes", 0x10, .dest = "b");
	is_sized("a tree moved");
	DEED(OK, "given away", GIVE, NULL, "nodes", 0x10, .dest = "a");
	is_sized("given away");
	DEED(NO_CONTENT, "deleted", REMOVE, "a", "nodes", 0x10);
	is_sized("a tree deleted");
}

int main(void)
{
	fixture_start();
	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE name = 'default' AND (bytes_before <> 0 OR bytes_after <> 0)"), 0,
		"the namespace \"default\" does not count");
	one_resource();
	namespaces();
	trees();
	is_sized("at the end");
	is_int(sql_number("SELECT COUNT(*) FROM changes WHERE resource_id IS NOT NULL AND (bytes_before IS NULL OR bytes_after IS NULL)"), 0,
		"all changes of resources have sizes");
	return fixture_end();
}
