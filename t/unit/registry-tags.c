// SPDX-License-Identifier: Apache-2.0
// A move action's etag changes with everything that the action tells, both tenants' counts included, and with nothing else.
#include "base/base.h"

#include "registry-fixture.h"

struct tags {
	char tag[MOVE_TAG_HEX + 1], etag[MOVE_TAG_HEX + 1];
};
static struct tags all, one, space; // as they were looked at last

static struct tags look_at(const char *path)
{
	struct tags tags = { "", "" };
	enum outcome outcome = DO(PREVIEW, "a", path, "b");

	if (outcome == OUTCOME_OK)
		memcpy(&tags, &(struct tags){ 0 }, sizeof(tags));
	else
		diag("preview of %s: %s", path != NULL ? path : "all", outcome_name(outcome));
	memcpy(tags.tag, here.action.tag, sizeof(tags.tag));
	memcpy(tags.etag, here.action.etag, sizeof(tags.etag));
	return tags;
}

static void remember(void)
{
	all = look_at(NULL);
	one = look_at("pv");
	space = look_at("n/");
}

enum { ALL = 1, ONE = 2, SPACE = 4 };

// Whose etag and whose tag is another one than before.
static void changed(const char *what, int etags, int tags)
{
	struct tags was[] = { all, one, space };
	int now_etags = 0, now_tags = 0;

	remember();
	const struct tags *now[] = { &all, &one, &space };
	for (int i = 0; i < 3; i++) {
		now_etags |= strcmp(was[i].etag, now[i]->etag) != 0 ? 1 << i : 0;
		now_tags |= strcmp(was[i].tag, now[i]->tag) != 0 ? 1 << i : 0;
	}
	is_int(now_etags, etags, "%s: etags of", what);
	is_int(now_tags, tags, "%s: tags of", what);
}

static void contents(void)
{
	changed("nothing", 0, 0);
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}");
	changed("content", ALL | ONE, ALL | ONE);
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}");
	changed("a write of the same", 0, 0);
	struct tags was = one;
	(void)DO(PUT, "a", "pv", .body = "{\"n\":2}");
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}");
	changed("there and back", ALL | ONE, ALL | ONE);
	ok(strcmp(was.tag, one.tag) != 0, "the same content again has another tag");
	(void)DO(PUT, "a", "n/c", .meta = "{\"labels\":{\"x\":\"1\"}}");
	changed("a label in a namespace", ALL | SPACE, ALL | SPACE);
	(void)DO(PUT, "a", "n/", .meta = "{\"labels\":{\"x\":\"1\"}}");
	changed("a label of the namespace", ALL | SPACE, ALL | SPACE);
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}", .locked = true);
	changed("a lock", ALL | ONE, ALL | ONE);
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}");
	changed("no lock", ALL | ONE, ALL | ONE);
}

static void coming_and_going(void)
{
	(void)DO(PUT, "a", "n/new");
	changed("a new one in a namespace", ALL | ONE | SPACE, ALL | SPACE);
	(void)DO(PUT, "a", "new");
	changed("a new one", ALL | ONE | SPACE, ALL);
	(void)DO(DELETE, "a", "new");
	changed("a deletion", ALL | ONE | SPACE, ALL);
	(void)DO(RECOVER, "a", "new");
	changed("a recovery", ALL | ONE | SPACE, ALL);
	struct tags was = all;
	(void)DO(DELETE, "a", "new");
	(void)DO(PUT, "a", "new");
	changed("another one of that name", ALL, ALL);
	ok(strcmp(was.etag, all.etag) != 0, "is not taken for the old one");
	(void)DO(MOVE, "a", "pv", "c");
	(void)DO(MOVE, "c", "pv", "a");
	changed("moved away and back", ALL | ONE, ALL | ONE);
	(void)DO(MOVE, "a", "n/", "c");
	(void)DO(MOVE, "c", "n/", "a");
	changed("a namespace moved away and back", ALL | SPACE, ALL | SPACE);
	(void)DO(PUT, "a", "default/d");
	changed("a new one in default", ALL | ONE | SPACE, ALL);
	(void)DO(PUT, "a", "default/", .body = "{\"n\":1}");
	changed("the namespace default, which does not move", 0, 0);
}

static void tenants(void)
{
	(void)DO(PUT_TENANT, "a", .meta = "{\"x\":\"1\"}");
	changed("the source's metadata", ALL | ONE | SPACE, 0);
	(void)DO(PUT_TENANT, "b", .meta = "{\"x\":\"1\"}");
	changed("the destination's metadata", ALL | ONE | SPACE, 0);
	(void)DO(PUT_TENANT, "b", .tier = "gold");
	changed("the destination's tier", ALL | ONE | SPACE, 0);
	(void)DO(PUT_TENANT, "b", .tier = "gold");
	changed("the same tier", 0, 0);
	(void)DO(PUT_TENANT, "c", .meta = "{\"x\":\"1\"}");
	(void)DO(PUT, "c", "pv");
	changed("a third tenant", 0, 0);
}

static void destination(void)
{
	(void)DO(PUT, "b", "unrelated");
	changed("an unrelated resource in the destination", ALL | ONE | SPACE, 0);
	(void)DO(DELETE, "b", "unrelated");
	changed("its deletion", ALL | ONE | SPACE, 0);
	(void)DO(PUT, "b", "pv");
	changed("a blocker", ALL | ONE | SPACE, 0);
	(void)DO(PUT, "b", "pv", .body = "{\"n\":3}");
	changed("a change of what blocks", 0, 0);
	(void)DO(DELETE, "b", "pv");
	changed("no blocker", ALL | ONE | SPACE, 0);
	(void)DO(PUT, "b", "n/");
	changed("a namespace to merge with", ALL | ONE | SPACE, 0);
	(void)DO(PUT, "b", "n/", .body = "{\"n\":1}");
	changed("a change of it", 0, 0);
	(void)DO(PUT, "b", "n/elsewhere");
	changed("something else in it", ALL | ONE | SPACE, 0);
	(void)DO(PUT, "b", "n/c");
	changed("a blocker in it", ALL | ONE | SPACE, 0);
	(void)DO(DELETE, "b", "n/");
	changed("neither", ALL | ONE | SPACE, 0);
	(void)DO(PUT_TENANT, "b", .tier = "tiny");
	changed("a tier too small", ALL | ONE | SPACE, 0);
	(void)DO(PUT_TENANT, "b", .tier = "gold");
	remember();
}

static void directions(void)
{
	char first[MOVE_TAG_HEX + 1];

	(void)DO(PREVIEW, "a", NULL, "b");
	memcpy(first, here.action.etag, sizeof(first));
	(void)DO(PREVIEW, "b", NULL, "a");
	ok(strcmp(here.action.etag, first) != 0, "another direction is another action");
	(void)DO(PREVIEW, "a", NULL, "c");
	ok(strcmp(here.action.etag, first) != 0, "another destination is another action");
}

int main(void)
{
	fixture_start();
	(void)DO(PUT_TENANT, "a");
	(void)DO(PUT_TENANT, "b");
	(void)DO(PUT_TENANT, "c");
	(void)DO(PUT, "a", "n/");
	(void)DO(PUT, "a", "n/c");
	(void)DO(PUT, "a", "pv");
	remember();
	contents();
	coming_and_going();
	tenants();
	destination();
	directions();
	is_sound("at the end");
	return fixture_end();
}
