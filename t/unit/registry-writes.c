// SPDX-License-Identifier: Apache-2.0
// Writes of single resources, row by row: what making, changing, deleting and bringing back read, write and count, and that
// another tenant's resources of the same names stay as they are; what is refused, and in which words.
#include "base/base.h"

#include "registry-rows.h"
#include "registry/tenant/change_list.h"
#include "registry/watch/change_stream.h"
#include "registry/webhook/delivery.h"

// What the last request wrote into the log, in the log's order: verb, tenant, path, revision, which etags, fields, moves, who;
// and whether the resource's row names that change as its last.
static struct str logged(void)
{
	struct buf hex = buf_new(here.pool, 64);

	buf_add_hex(&hex, uuid_bytes(&here.request_id).p, 16);
	return sql_text(str_cstr(here.pool, str_printf(here.pool,
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', verb, " TENANT("x.from_tenant_id") ", " TENANT("x.tenant_id") ", " PATH("x") ", revision, "
		"IF(etag_before IS NULL, 'from none', 'from one'), IF(etag_after IS NULL, 'to none', IF(etag_before = etag_after, 'to the same', "
		"'to another')), COALESCE(fields, 'NULL'), moves, actor, (SELECT IF(r.changed = x.id AND r.uid = x.uid AND (x.etag_after IS NULL OR "
		"r.etag = x.etag_after), 'last', 'stale') FROM resources r WHERE r.id = x.resource_id)) "
		"ORDER BY x.id SEPARATOR '; ') FROM changes x WHERE request_id = x'%.*s'", STR_ARG(hex))));
}

// A tenant's resources: path, revision, edits, generation, bytes, content, how their times stand to each other.
static struct str rows_of(const char *tenant)
{
	return sql_text(str_cstr(here.pool, str_printf(here.pool,
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', CONCAT(CASE WHEN live IS NULL THEN '-' WHEN live = 2 THEN '*' ELSE '' END, " PATH("r") "), "
		"revision, edits, generation, bytes, IF(locked, 'locked', 'free'), meta, body, IF(updated_at > created_at, 'later', 'at once'), "
		"IF(doomed_at IS NULL, '', 'doomed')) ORDER BY namespace, type_id, r.name, r.id SEPARATOR '; ') "
		"FROM resources r WHERE NOT live <=> 2 AND tenant_id = (SELECT id FROM tenants WHERE name = '%s')", tenant)));
}

static void counted(const char *tenant, long long want)
{
	is_int(sql_number("SELECT resources FROM tenant_counts WHERE tenant_id = " TENANT_ID, tenant), want, "%s has", tenant);
}

#define REFUSED(outcome, want, ...)                                              \
	do {                                                                     \
		is_outcome(DO(__VA_ARGS__), OUTCOME_##outcome, "refused");       \
		is_str(here.registry->problem->detail, want, "in words");         \
		is_changes(&here.request_id, 0, "refused");                      \
	} while (0)

static void fill(void)
{
	static const char *const all[] = { "n1/", "n1/c1", "pv1" };

	EXPECT(CREATED, "a tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	for (size_t i = 0; i < COUNT_OF(all); i++)
		EXPECT(CREATED, all[i], PUT, "b", all[i], .body = "{\"of\":\"b\"}");
}

// Clocks of several hosts differ: a resource's times never go back.
static void times_rise(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "clocks");
	EXPECT(CREATED, "made", PUT, "clocks", "pv1", .body = "{\"x\":1}");
	int64_t made_us = here.resource.updated_us;
	server_sql("UPDATE resources SET updated_at = updated_at + INTERVAL 1 HOUR WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'clocks')\n"
		   "  AND name = 'pv1';\n");
	EXPECT(OK, "changed by a host whose clock is behind", PUT, "clocks", "pv1", .body = "{\"x\":2}");
	ok(here.resource.updated_us >= made_us + INT64_C(3600000000), "not before the change before");
}

static void made_and_changed(void)
{
	EXPECT(CREATED, "made", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":1}}");
	is_str(logged(), "created - a /pe:pv1 1 from none to another NULL 0 tester last", "its change");
	ok(here.resource.created_us == here.resource.updated_us && here.resource.revision == 1 && here.resource.changed > 0, "as it is told");
	counted("a", 1);
	EXPECT(OK, "the same again", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":1}}");
	is_str(logged(), "", "no change");
	EXPECT(OK, "other content", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":2}}");
	is_str(logged(), "updated - a /pe:pv1 2 from one to another [\"/spec/x\"] 0 tester last", "its change");
	EXPECT(OK, "another status", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":2},\"status\":{\"y\":1}}");
	is_str(logged(), "updated - a /pe:pv1 3 from one to another [\"/status\"] 0 tester last", "its change");
	EXPECT(OK, "other labels", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":2},\"status\":{\"y\":1}}", .meta = "{\"labels\":{\"l\":\"1\"}}");
	is_str(logged(), "updated - a /pe:pv1 4 from one to another [\"/metadata/labels\"] 0 tester last", "its change");
	EXPECT(OK, "locked", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":2}}", .locked = true);
	is_str(logged(),
		"updated - a /pe:pv1 5 from one to another [\"/status\",\"/metadata/labels\",\"/metadata/locked\"] 0 "
		"tester last", "its change");
	is_str(rows_of("a"), "/pe:pv1 5 5 2 31 locked {\"locked\":true} {\"spec\":{\"x\":2}} later ", "its row");
	REFUSED(LOCKED, "the resource is locked: set metadata.locked to false before you delete pv1", DELETE, "a", "pv1");
	EXPECT(OK, "not locked", PUT, "a", "pv1", .body = "{\"spec\":{\"x\":2}}");
	EXPECT(OK, "read", GET, "a", "pv1");
	ok(here.resource.revision == 6 && !here.resource.locked && here.resource.updated_us > here.resource.created_us, "as it stands");
	is_str(here.resource.body, "{\"spec\":{\"x\":2}}", "its body");
	is_str(here.resource.meta, "{}", "its metadata");
	EXPECT(CREATED, "a namespace", PUT, "a", "n1/");
	EXPECT(CREATED, "one in it", PUT, "a", "n1/c1");
	is_str(logged(), "created - a n1/co:c1 1 from none to another NULL 0 tester last", "its change");
	counted("a", 3);
	REFUSED(NOT_FOUND, "there is no namespace \"n2\": make it first, by PUT of namespaces/n2", PUT, "a", "n2/c1");
	REFUSED(NOT_FOUND, "there is no tenant \"none\"", PUT, "none", "pv1");
	REFUSED(NOT_FOUND, "there is no tenant \"none\"", PUT, "none", "n1/c1");
	REFUSED(NOT_FOUND, "there is no persistentvolumes/pv2", PATCH, "a", "pv2");
	REFUSED(NOT_FOUND, "there is no persistentvolumes/pv2", GET, "a", "pv2");
	REFUSED(NOT_FOUND, "there is no persistentvolumes/pv2", DELETE, "a", "pv2");
	REFUSED(BAD_PARAMETER,
		"a name is 1 to 255 characters of UTF-8, without \"/\" and NUL, and neither \".\" nor \"..\"", PUT, "a", "..");
	REFUSED(BAD_PARAMETER, "a node is named by its uid: a UUID in lower case", PUT, "a", "aa000000-0000-0000-0000-00000000000A", .type = "nodes");
	REFUSED(BAD_PARAMETER, "a node is named by its uid: a UUID in lower case", PUT, "a", "node", .type = "nodes");
}

static void conditions(void)
{
	uint8_t tag[64], other[64] = { 0 };

	EXPECT(OK, "read", GET, "a", "pv1");
	memcpy(tag, etag_now(), sizeof(tag));
	is_outcome(DO(PUT, "a", "pv1", .body = "{\"n\":1}", .match = other), OUTCOME_STALE, "another tag");
	is_outcome(DO(PUT, "a", "none", .match = tag), OUTCOME_STALE, "of nothing");
	is_outcome(DO(PUT, "a", "pv1", .body = "{\"n\":1}", .match = tag), OUTCOME_OK, "its own");
	is_outcome(DO(PUT, "a", "pv1", .body = "{\"n\":2}", .match = tag), OUTCOME_STALE, "its own of before");
	is_outcome(DO(DELETE, "a", "pv1", .match = tag), OUTCOME_STALE, "nor is it deleted by that");
	SET(server.config, registry)->etag_required = "yes";
	is_outcome(DO(PUT, "a", "pv1", .body = "{\"n\":3}"), OUTCOME_PRECONDITION_REQUIRED, "without a tag where one is asked for");
	is_outcome(DO(PUT, "a", "new"), OUTCOME_CREATED, "not for what is new");
	SET(server.config, registry)->etag_required = "no";
	EXPECT(NO_CONTENT, "it goes", DELETE, "a", "new");
}

// The words of a type's etag: the same for the same edits, another for others; of one's own resources alone.
static void deleted_and_back(void)
{
	struct uuid first, second;

	EXPECT(OK, "read", GET, "a", "pv1");
	first = here.resource.uid;
	EXPECT(NO_CONTENT, "deleted", DELETE, "a", "pv1");
	is_str(logged(), "deleted - a /pe:pv1 7 from one to none NULL 0 tester last", "its change");
	ok(here.resource.deleted_us > 0 && here.resource.purge_us == here.resource.deleted_us + 3600 * INT64_C(1000000), "until it is purged");
	counted("a", 2);
	is_outcome(DO(GET, "a", "pv1"), OUTCOME_GONE, "gone");
	is_outcome(DO(PATCH, "a", "pv1"), OUTCOME_GONE, "not to be changed");
	is_outcome(DO(DELETE, "a", "pv1"), OUTCOME_GONE, "nor deleted");
	EXPECT(CREATED, "another", PUT, "a", "pv1");
	second = here.resource.uid;
	ok(!uuid_eq(first, second), "is another");
	REFUSED(NAME_TAKEN, "another resource has that name by now: delete or move it, then recover", RECOVER, "a", "pv1");
	EXPECT(NO_CONTENT, "deleted", DELETE, "a", "pv1");
	EXPECT(NO_CONTENT, "the last one comes back", RECOVER, "a", "pv1");
	is_str(logged(), "recovered - a /pe:pv1 1 from none to another NULL 0 tester last", "its change");
	EXPECT(OK, "read", GET, "a", "pv1");
	ok(uuid_eq(here.resource.uid, second), "it is that one");
	REFUSED(NAME_TAKEN, "another resource has that name by now: delete or move it, then recover", RECOVER, "a", "pv1");
	EXPECT(NO_CONTENT, "deleted", DELETE, "a", "pv1");
	EXPECT(NO_CONTENT, "the first one comes back", RECOVER, "a", "pv1", .uid = first);
	is_str(logged(), "recovered - a /pe:pv1 7 from none to another NULL 0 tester last", "its change");
	EXPECT(OK, "read", GET, "a", "pv1");
	ok(uuid_eq(here.resource.uid, first), "it is that one");
	REFUSED(NOT_FOUND, "nothing deleted can be recovered there; a list with deleted=true shows what can", RECOVER, "a", "pv9");
	REFUSED(NOT_FOUND, "nothing deleted can be recovered there; a list with deleted=true shows what can", RECOVER, "a", "pv2", .uid = second);
	REFUSED(NOT_FOUND, "nothing deleted can be recovered there; a list with deleted=true shows what can", RECOVER, "b", "pv1", .uid = second);
	EXPECT(CREATED, "one that stays", PUT, "a", "default/c1");
	EXPECT(NO_CONTENT, "a namespace with what is in it", DELETE, "a", "n1/");
	is_str(logged(),
		"deleted - a n1/co:c1 1 from one to none NULL 0 tester last; "
		"deleted - a /na:n1 1 from one to none NULL 0 tester last", "their changes");
	counted("a", 2);
	REFUSED(CONFLICT, "its namespace \"n1\" is gone: recover or make that first", RECOVER, "a", "n1/c1");
	EXPECT(NO_CONTENT, "back", RECOVER, "a", "n1/");
	is_str(logged(),
		"recovered - a /na:n1 1 from none to another NULL 0 tester last; "
		"recovered - a n1/co:c1 1 from none to another NULL 0 tester last", "their changes");
	counted("a", 4);
	EXPECT(NO_CONTENT, "one alone", DELETE, "a", "n1/c1");
	EXPECT(NO_CONTENT, "then the rest", DELETE, "a", "n1/");
	EXPECT(NO_CONTENT, "the rest comes back", RECOVER, "a", "n1/");
	is_outcome(DO(GET, "a", "n1/c1"), OUTCOME_GONE, "without what went before");
	EXPECT(NO_CONTENT, "which comes back alone", RECOVER, "a", "n1/c1");
	server_sql("UPDATE resources SET purge_at = UTC_TIMESTAMP(6) WHERE live IS NULL;");
	REFUSED(NOT_FOUND, "nothing deleted can be recovered there; a list with deleted=true shows what can", RECOVER, "a", "pv1", .uid = second);
	REFUSED(NOT_FOUND, "there is no persistentvolumes/new", GET, "a", "new");
	is_str(rows_of("a"),
		"/na:n1 1 1 1 4 free {} {} at once ; -/pe:new 1 1 1 4 free {} {} at once ; "
		"/pe:pv1 7 7 3 9 free {} {\"n\":1} later ; -/pe:pv1 1 1 1 4 free {} {} at once ; "
		"default/co:c1 1 1 1 4 free {} {} at once ; n1/co:c1 1 1 1 4 free {} {} at once ", "a's rows");
	is_str(rows_of("b"),
		"/na:n1 1 1 1 12 free {} {\"of\":\"b\"} at once ; /pe:pv1 1 1 1 12 free {} {\"of\":\"b\"} at once ; "
		"n1/co:c1 1 1 1 12 free {} {\"of\":\"b\"} at once ", "b's rows");
}

static void quota(void)
{
	EXPECT(CREATED, "a small tenant", PUT_TENANT, "small", .tier = "tiny");
	EXPECT(CREATED, "one", PUT, "small", "n1/");
	EXPECT(CREATED, "two", PUT, "small", "n1/c1");
	EXPECT(CREATED, "three", PUT, "small", "pv1");
	REFUSED(OVER_QUOTA,
		"the tenant's tier allows 3 resources, and the tenant has as many: delete some, or ask for another tier", PUT, "small", "pv2");
	counted("small", 3);
	EXPECT(OK, "changes count nothing", PUT, "small", "pv1", .body = "{\"n\":1}");
	EXPECT(NO_CONTENT, "one goes", DELETE, "small", "n1/");
	counted("small", 1);
	EXPECT(CREATED, "another comes", PUT, "small", "pv2");
	REFUSED(OVER_QUOTA,
		"the tenant's tier allows 3 resources, and has no room for 2 more: delete some, or ask for another tier", RECOVER, "small", "n1/");
	counted("small", 2);
	EXPECT(NO_CONTENT, "it goes", DELETE, "small", "pv2");
	EXPECT(NO_CONTENT, "there is room for both", RECOVER, "small", "n1/");
	counted("small", 3);
	EXPECT(OK, "no limit", PUT_TENANT, "small", .tier = "standard");
	EXPECT(CREATED, "four", PUT, "small", "pv2");
	counted("small", 4);
}

static void tenants(void)
{
	EXPECT(NO_CONTENT, "a tenant goes", DELETE_TENANT, "small");
	is_outcome(DO(PUT, "small", "pv1"), OUTCOME_GONE, "nothing is written there");
	is_outcome(DO(PUT, "small", "pv7"), OUTCOME_GONE, "nor made");
	is_outcome(DO(GET, "small", "pv1"), OUTCOME_GONE, "nor read");
	is_outcome(DO(DELETE, "small", "pv1"), OUTCOME_GONE, "nor deleted");
	server_sql("UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) WHERE name = 'small';");
	REFUSED(NOT_FOUND, "there is no tenant \"small\"", PUT, "small", "pv1");
	REFUSED(NOT_FOUND, "there is no tenant \"small\"", GET, "small", "pv1");
	server_sql("UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE name = 'small';");
	EXPECT(NO_CONTENT, "it comes back", RECOVER_TENANT, "small");
	EXPECT(OK, "with all it had", GET, "small", "pv1");
}

static void elsewhere(void)
{
	EXPECT(CREATED, "one", PUT, "a", "mv");
	EXPECT(SEE_OTHER, "that moves", MOVE, "a", "mv", "b");
	is_outcome(DO(GET, "a", "mv"), OUTCOME_MOVED, "moved");
	is_str(here.resource.tenant, "b", "to b");
	is_outcome(DO(PATCH, "a", "mv"), OUTCOME_MOVED, "not to be changed here");
	is_outcome(DO(DELETE, "a", "mv"), OUTCOME_MOVED, "nor deleted");
	EXPECT(NO_CONTENT, "deleted there", DELETE, "b", "mv");
	is_outcome(DO(GET, "a", "mv"), OUTCOME_GONE, "gone");
	is_str(here.resource.tenant, "b", "from b");
	EXPECT(CREATED, "another here", PUT, "a", "mv");
	EXPECT(OK, "is found", GET, "a", "mv");
	EXPECT(NO_CONTENT, "deleted", DELETE, "a", "mv");
	is_outcome(DO(GET, "a", "mv"), OUTCOME_GONE, "gone");
	is_str(here.resource.tenant, "a", "from here");
}

// What is made at an address takes that address's forward away, and no other one.
static void others_forwards(void)
{
	static const char *const moved[] = { "same/", "same", "other" };

	for (size_t i = 0; i < COUNT_OF(moved); i++) {
		EXPECT(CREATED, moved[i], PUT, "a", moved[i]);
		EXPECT(SEE_OTHER, "moves", MOVE, "a", moved[i], "b");
	}
	EXPECT(SEE_OTHER, "one moves on", MOVE, "b", "other", "small");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE name IN ('same', 'other')"), 4, "their forwards");
	EXPECT(CREATED, "one of a name that two had", PUT, "a", "same");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE name = 'same'"), 1, "leaves that of the other type");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE name = 'other'"), 2, "and those of another name");
	EXPECT(CREATED, "one of the other name", PUT, "a", "other");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE name = 'other' AND tenant_id = " TENANT_ID, "b"), 1, "leaves another tenant's");
	for (size_t i = 0; i < 2; i++) {
		EXPECT(CREATED, "a namespace", PUT, "a", i == 0 ? "f1/" : "f2/");
		EXPECT(CREATED, "another tenant's", PUT, "b", i == 0 ? "f1/" : "f2/");
		EXPECT(CREATED, "one in it", PUT, "a", i == 0 ? "f1/f" : "f2/f");
		EXPECT(SEE_OTHER, "moves", MOVE, "a", i == 0 ? "f1/f" : "f2/f", "b");
	}
	EXPECT(CREATED, "one in one of them", PUT, "a", "f1/f");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE namespace = 'f1'"), 0, "takes its forward");
	is_int(sql_number("SELECT COUNT(*) FROM forwards WHERE namespace = 'f2'"), 1, "and leaves that of the other");
}

struct neighbour {
	const char *tenant, *path, *type, *body;
};

// Addresses that differ in one part each from the first of those with a body.
static const struct neighbour neighbours[] = {
	{ "a", "m1/", NULL, NULL }, { "a", "m2/", NULL, NULL }, { "b", "m1/", NULL, NULL },
	{ "a", "m1/x", NULL, "{\"is\":1}" }, { "a", "m2/x", NULL, "{\"is\":2}" }, { "a", "m1/y", NULL, "{\"is\":3}" },
	{ "a", "m1/x", "services", "{\"is\":4}" }, { "b", "m1/x", NULL, "{\"is\":5}" },
};

// Each has its own body; the one with index other has another one, or NULL: is gone.
static void stand_apart(size_t other, const char *body)
{
	struct client fresh; // one that remembers nothing

	client_open(&fresh);
	for (size_t i = 3; i < COUNT_OF(neighbours); i++) {
		const struct neighbour *one = &neighbours[i];
		enum outcome outcome = client_do(&fresh, &OP(GET, one->tenant, one->path, .type = one->type));
		if (i == other && body == NULL) {
			is_outcome(outcome, OUTCOME_GONE, "the one that was deleted");
			continue;
		}
		is_outcome(outcome, OUTCOME_OK, "read");
		is_str(fresh.resource.body, i == other ? body : one->body, "neighbour %zu", i);
	}
	client_close(&fresh);
}

static void are_neighbours(void)
{
	for (size_t i = 0; i < COUNT_OF(neighbours); i++)
		EXPECT(CREATED, "a neighbour", PUT, neighbours[i].tenant, neighbours[i].path, .type = neighbours[i].type, .body = neighbours[i].body);
	for (size_t i = 3; i < COUNT_OF(neighbours); i++) {
		const struct neighbour *one = &neighbours[i];
		EXPECT(OK, "changed", PUT, one->tenant, one->path, .type = one->type, .body = "{\"is\":9}");
		stand_apart(i, "{\"is\":9}");
		EXPECT(NO_CONTENT, "deleted", DELETE, one->tenant, one->path, .type = one->type);
		stand_apart(i, NULL);
		EXPECT(NO_CONTENT, "recovered", RECOVER, one->tenant, one->path, .type = one->type);
		EXPECT(OK, "as it was", PUT, one->tenant, one->path, .type = one->type, .body = one->body);
		stand_apart(i, one->body);
	}
}

struct listing {
	const char *tenant;
	uint64_t after, limit;
	enum outcome outcome;
	struct change_page page;
};

static enum db_verdict run_listing(void *arg)
{
	struct listing *listing = arg;

	const struct change_query query = { .tenant = str_c(listing->tenant), .above = listing->after, .below = INT64_MAX,
		.limit = listing->limit, .since_us = CHANGES_SINCE, .until_us = CHANGES_UNTIL };

	listing->outcome = change_list(here.registry, &query, &listing->page);
	return DB_COMMIT;
}

static struct str changes_told(struct listing listing)
{
	struct buf text = buf_new(here.pool, 256);
	struct uuid id = uuid_new();

	registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	ok(db_txn_run(here.db, DB_WRITE, &id, run_listing, &listing) == DB_OK, "asked for");
	if (listing.outcome != OUTCOME_OK)
		return str_c(outcome_name(listing.outcome));
	for (size_t i = 0; i < listing.page.n; i++)
		buf_addf(&text, "%s%.*s %.*s %llu", i > 0 ? ", " : "", STR_ARG(listing.page.list[i].verb), STR_ARG(listing.page.list[i].name),
			(unsigned long long)listing.page.list[i].revision);
	if (listing.page.more)
		BUF_LIT(&text, " and more");
	return buf_str(&text);
}

// A tenant's own changes, in their order, from one on.
static void changes_listed(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "log");
	EXPECT(CREATED, "one", PUT, "log", "pv1");
	EXPECT(OK, "changed", PUT, "log", "pv1", .body = "{\"n\":1}");
	EXPECT(OK, "another tenant's", PUT, "b", "pv1", .body = "{\"n\":7}");
	EXPECT(NO_CONTENT, "deleted", DELETE, "log", "pv1");
	uint64_t first = (uint64_t)sql_number("SELECT MIN(id) FROM changes WHERE name = 'pv1' AND tenant_id = " TENANT_ID, "log");
	is_str(changes_told((struct listing){ .tenant = "log", .after = first - 1, .limit = 3 }), "created pv1 1, updated pv1 2, deleted pv1 2", "all");
	is_str(changes_told((struct listing){ .tenant = "log", .after = first - 1, .limit = 2 }), "created pv1 1, updated pv1 2 and more", "two of them");
	is_str(changes_told((struct listing){ .tenant = "log", .after = first, .limit = 2 }), "updated pv1 2, deleted pv1 2", "behind the first");
	is_str(changes_told((struct listing){ .tenant = "none", .limit = 2 }), "not-found", "of a tenant that is not there");
}

// A change of a type that is not cached, and can't be read: who watches, or has a webhook, is not told that it is one of the
// tenant itself.
static void changes_without_types(void)
{
	struct client fresh;
	struct uuid id = uuid_new();
	struct streamed_change *streamed;
	struct change *told;
	size_t n;

	EXPECT(CREATED, "one", PUT, "a", "typed");
	uint64_t newest = (uint64_t)sql_number("SELECT MAX(id) FROM changes");
	const struct change_range range = { .after = newest - 1, .up_to = newest, .limit = 10 };
	server_sql("INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) "
		"VALUES ('example.com', 'v1', 'Late', 'lates', 'late', 0, 0); "
		"UPDATE changes SET type_id = (SELECT id FROM types WHERE plural = 'lates') WHERE name = 'typed';");
	client_open(&fresh);
	is_outcome(registry_begin(fresh.registry, fresh.pool, &id, STR("tester"), &fresh.problem), OUTCOME_OK, "built-in types are read");
	server_sql("RENAME TABLE types TO types_away;");
	ok(change_stream_read(fresh.registry, range, &streamed, &n) != OUTCOME_OK, "a watch reads it again");
	ok(webhook_changes(fresh.registry, 0, range, &told, &n) != OUTCOME_OK, "so does what sends to webhooks");
	server_sql("RENAME TABLE types_away TO types;");
	is_outcome(change_stream_read(fresh.registry, range, &streamed, &n), OUTCOME_OK, "later");
	ok(n == 1 && streamed[0].resource.type != NULL && str_eq_c(streamed[0].resource.type->plural, "lates"), "it has its type");
	is_outcome(webhook_changes(fresh.registry, 0, range, &told, &n), OUTCOME_OK, "later");
	ok(n == 1 && told[0].type != NULL && str_eq_c(told[0].type->plural, "lates"), "likewise");
	client_close(&fresh);
	server_sql("UPDATE changes c JOIN resources r ON r.id = c.resource_id SET c.type_id = r.type_id WHERE c.name = 'typed';");
}

// Text of that many levels: an object in an object …
static char *nested(unsigned levels, const char *outer)
{
	char *text = pool_alloc(here.pool, 16 + 6 * (size_t)levels + strlen(outer));
	char *end = stpcpy(stpcpy(text, "{\""), outer);

	end = stpcpy(end, "\":");
	for (unsigned i = 1; i < levels; i++)
		end = stpcpy(end, i + 1 < levels ? "{\"a\":" : "{}");
	for (unsigned i = 1; i + 1 < levels; i++)
		end = stpcpy(end, "}");
	(void)stpcpy(end, "}");
	return text;
}

static void depths(void)
{
	for (unsigned levels = REGISTRY_DEPTH_MAX - 1; levels <= REGISTRY_DEPTH_MAX + 1; levels++) {
		char body[1024], meta[1024];
		(void)snprintf(body, sizeof(body), "%s", nested(levels, "b"));
		(void)snprintf(meta, sizeof(meta), "%s", nested(levels, "m"));
		bool fits = levels <= REGISTRY_DEPTH_MAX;
		is_outcome(DO(PUT, "a", "deep", .body = body), fits ? levels == REGISTRY_DEPTH_MAX ? OUTCOME_OK : OUTCOME_CREATED : OUTCOME_BAD_DOCUMENT, "a body");
		is_outcome(DO(PUT, "a", "deep-meta", .meta = meta), fits ? levels == REGISTRY_DEPTH_MAX ? OUTCOME_OK : OUTCOME_CREATED : OUTCOME_BAD_DOCUMENT, "metadata");
	}
	// What is deeper from before there was a limit is not written again, but with what it has.
	server_sql("UPDATE resources SET body = CONCAT(REPEAT('{\"a\":', 40), '1', REPEAT('}', 40)) WHERE name = 'deep';");
	struct buf text = buf_new(here.pool, 512);
	char deep[512];
	for (int i = 0; i < 40; i++)
		buf_add(&text, STR("{\"a\":"));
	buf_addc(&text, '1');
	for (int i = 0; i < 40; i++)
		buf_addc(&text, '}');
	(void)snprintf(deep, sizeof(deep), "%.*s", STR_ARG(text));
	struct client fresh;
	client_open(&fresh);
	is_outcome(client_do(&fresh, &OP(PUT, "a", "deep", .body = deep)), OUTCOME_OK, "the same again");
	is_outcome(client_do(&fresh, &OP(PUT, "a", "deep", .body = deep, .meta = "{\"labels\":{}}")), OUTCOME_BAD_DOCUMENT, "with other metadata");
	client_close(&fresh);
}

int main(void)
{
	fixture_start();
	fill();
	made_and_changed();
	conditions();
	deleted_and_back();
	quota();
	tenants();
	elsewhere();
	others_forwards();
	are_neighbours();
	changes_listed();
	changes_without_types();
	depths();
	times_rise();
	return fixture_end();
}
