// SPDX-License-Identifier: Apache-2.0
// An endpoint's WADL in a folder of its own: where what it refers to is found.
#include "base/base.h"

#include <sys/stat.h>

#include "wadl-files.h"

#define MODE " t:role='none' t:txn='none'"
#define COMMON HEAD "<resources><resource path='a'><method id='get' name='GET'" MODE "/></resource>" TAIL
#define OTHER HEAD "<resources><resource path='b'><method id='get' name='GET'" MODE "/></resource>" TAIL

static char own[sizeof(dir) + 8];

static const char *in_own(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", own, name);
	return path;
}

static void write_own(const char *name, const char *text)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "own/%s", name);
	write_file(path, text);
}

// Its own folder's end.
static void remove_own(void)
{
	static const char *const names[] = { "service.wadl", "common.wadl", "link.wadl" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)unlink(in_own(names[i]));
	(void)rmdir(own);
}

static bool finds(struct route_table *table, const char *target)
{
	struct pool *pool = pool_new();
	struct route_match match = { .method = NULL };
	struct str detail = STR("");
	bool found = table != NULL &&
		route_find(table, pool, request_for(pool, "GET", target), &match, &detail) == OUTCOME_OK;

	pool_free(&pool);
	return found;
}

static void refused(const char *file, const char *says, const char *what)
{
	char *error = NULL;
	struct route_table *table = wadl_load(dir, file, find_most, NULL, &error);

	ok(table == NULL, "refused: %s", what);
	ok(error != NULL && strstr(error, says) != NULL, "says why: %s", error != NULL ? error : "nothing");
	free(error);
	wadl_free(&table);
}

static void found(void)
{
	struct route_table *table;

	write_file("common.wadl", COMMON);
	write_file("service.wadl", HEAD "<resources><resource path='pristine'><method href='common.wadl#get'/></resource>" TAIL);
	write_own("service.wadl", HEAD "<resources><resource path='a'><method href='common.wadl#get'/></resource>" TAIL);
	table = load(in_own("service.wadl"));
	ok(finds(table, "/a") && !finds(table, "/pristine"), "the file that was named is taken, with what the folder has");
	wadl_free(&table);
	table = load("service.wadl");
	ok(finds(table, "/pristine"), "without a path it is the folder's");
	wadl_free(&table);

	write_own("common.wadl", OTHER);
	write_own("service.wadl", HEAD "<resources><resource path='b'><method href='common.wadl#get'/></resource>" TAIL);
	table = load(in_own("service.wadl"));
	ok(finds(table, "/b"), "a file beside it comes before the folder's");
	wadl_free(&table);
}

static void not_found(void)
{
	refused(in_own("missing.wadl"), "missing.wadl:1: cannot be opened", "a path to nothing");
	refused(in_own("../service.txt"), "NAME.wadl", "another ending");
	refused("own/service.wadl", "absolute", "a relative path");
	refused("../service.wadl", "absolute", "a way out");
	write_own("service.wadl", HEAD "<resources><resource path='b'>\n<method href='../common.wadl#get'/></resource>" TAIL);
	refused(in_own("service.wadl"), "service.wadl:3: \"../common.wadl\" must be NAME.wadl", "a reference with a folder");
	write_own("service.wadl", HEAD "<resources><resource path='b'>\n<method href='/etc/common.wadl#get'/></resource>" TAIL);
	refused(in_own("service.wadl"), "service.wadl:3: \"/etc/common.wadl\" must be NAME.wadl", "a reference with a path");
	if (symlink("nowhere.wadl", in_own("link.wadl")) != 0)
		bail_out("symlink");
	write_file("link.wadl", COMMON);
	write_own("service.wadl", HEAD "<resources><resource path='a'><method href='link.wadl#get'/></resource>" TAIL);
	refused(in_own("service.wadl"), "own/link.wadl:1: cannot be opened", "a dangling link, though the folder has the file");
}

int main(void)
{
	make_dir();
	(void)snprintf(own, sizeof(own), "%s/own", dir);
	if (mkdir(own, 0700) != 0)
		bail_out("mkdir");
	found();
	not_found();
	remove_own();
	remove_dir();
	return done_testing();
}
