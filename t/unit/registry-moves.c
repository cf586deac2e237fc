// SPDX-License-Identifier: Apache-2.0
// Moves, row by row: what each kind of move counts, lists and finds in its way; which rows it writes, and that it writes no
// others. Three tenants have resources of the same names, some of them deleted (registry-moves.h).
#include "base/base.h"

#include "registry-moves.h"

// ---- the world as text

// A tenant's resources: path, revision, moves; "-" before those deleted, "*" before those that nobody counts.
static struct str owned(const char *tenant)
{
	return sql_text(str_cstr(here.pool, str_printf(here.pool,
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', CONCAT(CASE WHEN live IS NULL THEN '-' WHEN live = 2 THEN '*' ELSE '' END, " PATH("r") "), "
		"revision, moves) ORDER BY namespace, type_id, r.name, r.id SEPARATOR '; ') "
		"FROM resources r WHERE tenant_id = (SELECT id FROM tenants WHERE name = '%s')", tenant)));
}

static struct str forwards(void)
{
	return sql_text("SELECT GROUP_CONCAT(CONCAT(" TENANT("f.tenant_id") ", ' ', " PATH("f") ", ' to ', " TENANT("r.tenant_id")
		", ' ', r.name) ORDER BY 1 SEPARATOR '; ') FROM forwards f JOIN resources r ON r.id = f.resource_id");
}

static struct str counts(void)
{
	return sql_text("SELECT GROUP_CONCAT(CONCAT(t.name, ' ', c.resources) ORDER BY t.name SEPARATOR ', ') FROM tenant_counts c "
		"JOIN tenants t ON t.id = c.tenant_id WHERE t.name IN ('a', 'b', 'c')");
}

// Each change of the last request has one time, which no change before it is later than.
static void is_one_time(const char *what)
{
	struct buf hex = buf_new(here.pool, 64);

	buf_add_hex(&hex, uuid_bytes(&here.request_id).p, 16);
	is_int(sql_number("SELECT COUNT(DISTINCT at) FROM changes WHERE request_id = x'%.*s'", STR_ARG(hex)), 1,
		"%s: one time", what);
	is_int(sql_number("SELECT COUNT(*) FROM changes x JOIN changes y ON y.id < x.id AND y.at > x.at WHERE x.request_id = x'%.*s'",
		STR_ARG(hex)), 0, "%s: none before the log's last", what);
}

static void add_counts(struct buf *text, const char *who, const struct type_counts *of)
{
	buf_addf(text, "%s:", who);
	for (size_t i = 0; i < of->n; i++)
		buf_addf(text, " %.*s %llu", STR_ARG(of->list[i].type), (unsigned long long)of->list[i].resources);
	buf_add(text, STR("\n"));
}

// What the action tells: how many and their bytes, each of them, both tenants' counts, what is in the way.
static struct str told(void)
{
	const struct move_action *action = &here.action;
	struct buf text = buf_new(here.pool, 256);

	buf_addf(&text, "%llu of %llu bytes%s:", (unsigned long long)action->count, (unsigned long long)action->bytes,
		action->listed ? "" : ", not listed");
	for (size_t i = 0; action->items != NULL && i < action->count; i++)
		buf_addf(&text, " %.*s", STR_ARG(action->items[i].path));
	buf_add(&text, STR("\n"));
	add_counts(&text, "source", &action->source_counts);
	add_counts(&text, "dest", &action->dest_counts);
	for (size_t i = 0; i < action->n_blockers; i++)
		buf_addf(&text, "%s %.*s: %.*s\n", action->blockers[i].reason, STR_ARG(action->blockers[i].resource),
			STR_ARG(action->blockers[i].detail));
	return buf_str(&text);
}

#define SHOWS(source, path, dest, want)                                            \
	do {                                                                       \
		is_outcome(DO(PREVIEW, source, path, dest), OUTCOME_OK, "a look"); \
		is_str(told(), want, "%s to %s", source, dest);                    \
	} while (0)

#define REFUSES(outcome, source, path, dest, want)                                              \
	do {                                                                                    \
		is_outcome(DO(PREVIEW, source, path, dest), OUTCOME_##outcome, "a look that is refused"); \
		is_str(here.registry->problem->detail, want, "in words");                        \
	} while (0)

#define COUNTS_A "source: configmaps 4 namespaces 2 persistentvolumes 2\n"
#define COUNTS_B "dest: configmaps 1 namespaces 1 persistentvolumes 1\n"

static void previews(void)
{
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "pv1", "b",
		"1 of 12 bytes: persistentvolumes/pv1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "n1/c1", "b",
		"1 of 12 bytes: namespaces/n1/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "n2/", "b",
		"2 of 24 bytes: namespaces/n2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "n2/c1", "b",
		"1 of 12 bytes: namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"namespace-missing namespaces/n2/configmaps/c1: the destination has no such namespace; make it there, or move the whole namespace\n");
	SET(server.config, registry)->move_list_max = 3;
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SET(server.config, registry)->move_list_max = 2;
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes, not listed:\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SET(server.config, registry)->move_list_max = 100;
}

static void refusals(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "left");
	EXPECT(CREATED, "with something", PUT, "left", "pv1");
	EXPECT(NO_CONTENT, "that goes", DELETE_TENANT, "left");
	EXPECT(CREATED, "a tenant without anything", PUT_TENANT, "empty");
	REFUSES(CONFLICT, "a", "default/", "b", "the namespace \"default\" belongs to its tenant and does not move; what is in it does");
	REFUSES(CONFLICT, "a", "pv1", "a", "source and destination are the same tenant: name another one in dest");
	REFUSES(CONFLICT, "a", NULL, "a", "source and destination are the same tenant: name another one in dest");
	REFUSES(NOT_FOUND, "a", NULL, "none", "there is no destination tenant \"none\"");
	REFUSES(NOT_FOUND, "none", NULL, "b", "there is no source tenant \"none\"");
	REFUSES(NOT_FOUND, "none", NULL, "none", "there is no source tenant \"none\"");
	REFUSES(NOT_FOUND, "a", "none", "b", "there is no persistentvolumes/none");
	is_outcome(DO(PREVIEW, "a", "gone", "b"), OUTCOME_GONE, "what was deleted");
	is_outcome(DO(PREVIEW, "a", NULL, "left"), OUTCOME_GONE, "to a tenant that was deleted");
	is_outcome(DO(PREVIEW, "left", NULL, "b"), OUTCOME_GONE, "from one");
	is_outcome(DO(PREVIEW, "left", "pv1", "b"), OUTCOME_GONE, "one of its resources");
	is_outcome(DO(PREVIEW, "a", "pv1", "all"), OUTCOME_BAD_PARAMETER, "to a reserved name");
	is_outcome(DO(MOVE, "a", "pv1", "a"), OUTCOME_CONFLICT, "a move to itself");
	is_outcome(DO(MOVE, "a", "pv1", "none"), OUTCOME_NOT_FOUND, "to nobody");
	is_outcome(DO(MOVE, "none", "pv1", "b"), OUTCOME_NOT_FOUND, "of nobody");
	is_outcome(DO(MOVE, "a", "default/", "b"), OUTCOME_CONFLICT, "of what stays");
	SHOWS("empty", NULL, "b",
		"0 of 0 bytes:\n"
		"source:\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("b", NULL, "empty",
		"3 of 36 bytes: namespaces/n1 persistentvolumes/pv9 namespaces/n1/configmaps/c9\n"
		"source: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"dest:\n");
	SHOWS("a", "pv1", TENANT_SYSTEM,
		"1 of 12 bytes: persistentvolumes/pv1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest:\n");
}

static void taken(void)
{
	EXPECT(CREATED, "a name of a's", PUT, "b", "pv1");
	EXPECT(CREATED, "another", PUT, "b", "n1/c1");
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n"
		"name-taken persistentvolumes/pv1: the destination has a resource of that name; rename, move or delete one of them\n"
		"name-taken namespaces/n1/configmaps/c1: the destination has a resource of that name; rename, move or delete one of them\n");
	SHOWS("a", "pv1", "b",
		"1 of 12 bytes: persistentvolumes/pv1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n"
		"name-taken persistentvolumes/pv1: the destination has a resource of that name; rename, move or delete one of them\n");
	SHOWS("a", "pv2", "b",
		"1 of 12 bytes: persistentvolumes/pv2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n");
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n"
		"name-taken namespaces/n1/configmaps/c1: the destination has a resource of that name; rename, move or delete one of them\n");
	SHOWS("a", "n2/", "b",
		"2 of 24 bytes: namespaces/n2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n");
	SHOWS("a", "n1/c1", "b",
		"1 of 12 bytes: namespaces/n1/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n"
		"name-taken namespaces/n1/configmaps/c1: the destination has a resource of that name; rename, move or delete one of them\n");
	SHOWS("a", "n1/c2", "b",
		"1 of 12 bytes: namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 2 namespaces 1 persistentvolumes 2\n");
	is_outcome(DO(MOVE, "a", "pv1", "b"), OUTCOME_BLOCKED, "nor does it go");
	is_str(here.registry->problem->detail, "nothing was moved: 1 thing stands in the way", "in words");
	is_outcome(DO(MOVE, "a", NULL, "b"), OUTCOME_BLOCKED, "nor do all");
	is_str(here.registry->problem->detail, "nothing was moved: 2 things stand in the way", "in words");
	is_int((long long)here.registry->problem->n_causes, 2, "each is told");
	EXPECT(NO_CONTENT, "it goes", DELETE, "b", "pv1");
	EXPECT(NO_CONTENT, "and the other", DELETE, "b", "n1/c1");
}

static void locked(void)
{
	EXPECT(OK, "a lock", PUT, "a", "pv2", .body = "{\"of\":\"a\"}", .locked = true);
	EXPECT(OK, "a second", PUT, "a", "n1/c2", .body = "{\"of\":\"a\"}", .locked = true);
	EXPECT(OK, "another's", PUT, "c", "n1/c1", .locked = true);
	SHOWS("a", NULL, "b",
		"8 of 122 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"locked persistentvolumes/pv2: set metadata.locked to false first\n"
		"locked namespaces/n1/configmaps/c2: set metadata.locked to false first\n");
	SHOWS("a", "pv1", "b",
		"1 of 12 bytes: persistentvolumes/pv1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "pv2", "b",
		"1 of 25 bytes: persistentvolumes/pv2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"locked persistentvolumes/pv2: set metadata.locked to false first\n");
	SHOWS("a", "n1/", "b",
		"3 of 49 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"locked namespaces/n1/configmaps/c2: set metadata.locked to false first\n");
	SHOWS("a", "n2/", "b",
		"2 of 24 bytes: namespaces/n2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	SHOWS("a", "n1/c1", "b",
		"1 of 12 bytes: namespaces/n1/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	EXPECT(OK, "unlocked", PUT, "a", "pv2", .body = "{\"of\":\"a\"}");
	EXPECT(OK, "and the second", PUT, "a", "n1/c2", .body = "{\"of\":\"a\"}");
	EXPECT(OK, "another's", PUT, "c", "n1/c1");
}

#define FINALIZERS "{\"finalizers\":[\"example.com/clean\"]}"

static void ending(void)
{
	EXPECT(CREATED, "a namespace", PUT, "b", "n2/", .meta = FINALIZERS);
	EXPECT(ACCEPTED, "that is to go", DELETE, "b", "n2/");
	EXPECT(OK, "one of a third tenant", PUT, "c", "n1/", .meta = FINALIZERS);
	EXPECT(ACCEPTED, "that is to go", DELETE, "c", "n1/");
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 2 persistentvolumes 1\n"
		"namespace-terminating namespaces/n2: the destination's namespace of that name is being deleted, with all that is in it: wait until it is gone\n");
	SHOWS("a", "n2/", "b",
		"2 of 24 bytes: namespaces/n2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 2 persistentvolumes 1\n"
		"namespace-terminating namespaces/n2: the destination's namespace of that name is being deleted, with all that is in it: wait until it is gone\n");
	SHOWS("a", "n2/c1", "b",
		"1 of 12 bytes: namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 2 persistentvolumes 1\n"
		"namespace-terminating namespaces/n2/configmaps/c1: the destination's namespace of that name is being deleted, with all that is in it: wait until it is gone\n");
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 2 persistentvolumes 1\n");
	SHOWS("a", "n1/c1", "b",
		"1 of 12 bytes: namespaces/n1/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 2 persistentvolumes 1\n");
	EXPECT(OK, "it goes", PUT, "b", "n2/");
	EXPECT(OK, "and the other", PUT, "c", "n1/");
	EXPECT(NO_CONTENT, "and is back", RECOVER, "c", "n1/");
}

// The namespaces that both have are more than are read at a time. All may have finalizers by their texts; those of the last two
// count.
static void merging(void)
{
	static const char kubernetes[] = "{\"spec\":{\"finalizers\":[\"kubernetes\"]}}";
	char path[16];

	EXPECT(CREATED, "one", PUT_TENANT, "from");
	EXPECT(CREATED, "another", PUT_TENANT, "into");
	for (int i = 10; i < 40; i++) {
		(void)snprintf(path, sizeof(path), "m%d/", i);
		if (DO(PUT, "from", path, .body = kubernetes) != OUTCOME_CREATED || DO(PUT, "into", path, .meta = FINALIZERS) != OUTCOME_CREATED)
			bail_out(path);
	}
	EXPECT(CREATED, "one that is not merged", PUT, "from", "only/", .meta = FINALIZERS);
	EXPECT(OK, "a look", PREVIEW, "from", NULL, "into");
	is_int((long long)here.action.n_blockers, 0, "that of Kubernetes, and those of the destination's, do not count");
	EXPECT(OK, "one of its own", PUT, "from", "m38/", .meta = FINALIZERS);
	EXPECT(OK, "and one in spec", PUT, "from", "m39/", .body = "{\"spec\":{\"finalizers\":[\"example.com/clean\"]}}");
	EXPECT(ACCEPTED, "which is to go", DELETE, "from", "m39/");
	EXPECT(BLOCKED, "so nothing moves", MOVE, "from", NULL, "into");
	is_int((long long)here.action.n_blockers, 2, "for two reasons");
	is_str(here.action.blockers[0].resource, "namespaces/m38", "the first");
	is_str(str_c(here.action.blockers[0].reason), "waits", "would have to wait");
	is_str(here.action.blockers[1].resource, "namespaces/m39", "the second");
	is_str(str_c(here.action.blockers[1].reason), "namespace-terminating", "waits");
	EXPECT(OK, "what is not merged", PREVIEW, "from", "only/", "into");
	is_int((long long)here.action.n_blockers, 0, "moves as it is");
	is_sound("merging");
}

static void quotas(void)
{
	EXPECT(OK, "room for ten", PUT_TENANT, "b", .tier = "ten");
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	EXPECT(OK, "for nine", PUT_TENANT, "b", .tier = "nine");
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"quota : the destination's tier allows 9 resources; it has 3, and 7 would come\n");
	EXPECT(OK, "for three", PUT_TENANT, "b", .tier = "tiny");
	SHOWS("a", NULL, "b",
		"8 of 96 bytes: namespaces/n1 namespaces/n2 persistentvolumes/pv1 persistentvolumes/pv2 namespaces/default/configmaps/d1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2 namespaces/n2/configmaps/c1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"quota : the destination's tier allows 3 resources; it has 3, and 7 would come\n");
	SHOWS("a", "n1/", "b",
		"3 of 36 bytes: namespaces/n1 namespaces/n1/configmaps/c1 namespaces/n1/configmaps/c2\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"quota : the destination's tier allows 3 resources; it has 3, and 2 would come\n");
	SHOWS("a", "pv1", "b",
		"1 of 12 bytes: persistentvolumes/pv1\n"
		"source: configmaps 4 namespaces 2 persistentvolumes 2\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n"
		"quota : the destination's tier allows 3 resources; it has 3, and 1 would come\n");
	SHOWS("empty", NULL, "b",
		"0 of 0 bytes:\n"
		"source:\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	is_outcome(DO(MOVE, "a", "pv1", "b"), OUTCOME_BLOCKED, "full");
	server_sql("INSERT INTO tiers (name, max_resources) VALUES ('two', 2);");
	EXPECT(OK, "for fewer than it has", PUT_TENANT, "b", .tier = "two");
	SHOWS("empty", NULL, "b",
		"0 of 0 bytes:\n"
		"source:\n"
		"dest: configmaps 1 namespaces 1 persistentvolumes 1\n");
	EXPECT(OK, "for all", PUT_TENANT, "b", .tier = "standard");
}

// ---- carrying out

static void carried_out(void)
{
	EXPECT(SEE_OTHER, "one", MOVE, "a", "pv1", "b");
	is_str(log_of_last(), "moved a b /pe:pv1 2 same 1 tester last", "its change");
	is_str(recorded(), "a b pv1 done plain 2 tester 1 at once  ", "its record");
	is_one_time("one");
	is_str(forwards(), "a /pe:pv1 to b pv1", "the way to it");
	is_str(counts(), "a 7, b 4, c 7", "counts");
	EXPECT(CREATED, "another of the name", PUT, "a", "pv1", .body = "{\"of\":\"a\"}");
	is_str(forwards(), "", "whom its address means now");
	EXPECT(BLOCKED, "that is in its way back", MOVE, "b", "pv1", "a");
	EXPECT(NO_CONTENT, "until it goes", DELETE, "a", "pv1");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv1", "a");
	is_str(log_of_last(), "moved b a /pe:pv1 3 same 2 tester last", "its change");
	is_str(forwards(), "b /pe:pv1 to a pv1", "the way to it");

	EXPECT(SEE_OTHER, "one in a namespace", MOVE, "a", "n1/c1", "b");
	is_str(log_of_last(), "moved a b n1/co:c1 2 same 1 tester last", "its change");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "n1/c1", "a");
	EXPECT(SEE_OTHER, "a namespace", MOVE, "a", "n2/", "b");
	is_str(log_of_last(), "moved a b /na:n2 2 same 1 tester last; moved a b n2/co:c1 2 same 1 tester last", "its changes");
	is_str(recorded(), "a b n2 done plain 2 tester 2 at once  ", "its record");
	is_one_time("a namespace");
	is_str(counts(), "a 6, b 5, c 7", "counts");
	EXPECT(SEE_OTHER, "one that is merged", MOVE, "a", "n1/", "b");
	is_str(log_of_last(),
		"deleted - a /na:n1 1 none 0 tester last; moved a b n1/co:c1 4 same 3 tester last; "
		"moved a b n1/co:c2 4 same 1 tester last", "its changes");
	is_one_time("a merged one");
	is_str(recorded(), "a b n1 done plain 2 tester 3 at once  ", "its record");
	is_str(counts(), "a 3, b 7, c 7", "counts");
	is_str(forwards(),
		"a /na:n1 to b n1; a /na:n2 to b n2; a n1/co:c1 to b c1; a n1/co:c2 to b c2; a n2/co:c1 to b c1; "
		"b /pe:pv1 to a pv1", "the ways");
	is_int(sql_number("SELECT COUNT(*) FROM resources WHERE tenant_id = " TENANT_ID " AND name = 'n1' AND live IS NULL AND "
		"deleted_at = (SELECT MAX(at) FROM changes) AND purge_at = deleted_at + INTERVAL 3600 SECOND AND deletion = "
		"(SELECT request_id FROM changes ORDER BY id DESC LIMIT 1)", "a"), 1, "the source's own is deleted, by that request");
	EXPECT(SEE_OTHER, "all", MOVE, "b", NULL, "a");
	is_str(log_of_last(),
		"moved b a /na:n1 2 same 1 tester last; moved b a /na:n2 3 same 2 tester last; "
		"moved b a /pe:pv9 2 same 1 tester last; moved b a n1/co:c1 5 same 4 tester last; "
		"moved b a n1/co:c2 5 same 2 tester last; moved b a n1/co:c9 2 same 1 tester last; "
		"moved b a n2/co:c1 3 same 2 tester last", "its changes");
	is_one_time("all");
	is_str(recorded(), "b a all done plain 2 tester 7 at once  ", "its record");
	is_str(owned("a"),
		"*/na:default 1 0; /na:n1 2 1; -/na:n1 1 0; /na:n2 3 2; -/pe:gone 1 0; /pe:pv1 3 2; -/pe:pv1 1 0; "
		"/pe:pv2 3 0; /pe:pv9 2 1; default/co:d1 1 0; n1/co:c1 5 4; n1/co:c2 5 2; n1/co:c9 2 1; n2/co:c1 3 2", "a");
	is_str(owned("b"),
		"*/na:default 1 0; -/na:n2 1 0; -/na:n2 3 0; -/pe:pv1 1 0; -/pe:pv1 1 0; -n1/co:c1 1 0; "
		"-n1/co:c1 1 0", "b");
	is_str(owned("c"),
		"*/na:default 1 0; /na:n1 4 0; /na:n2 1 0; /pe:pv1 1 0; /pe:pv2 1 0; default/co:d1 1 0; "
		"n1/co:c1 3 0; n2/co:c1 1 0", "c");
	is_str(counts(), "a 10, b 0, c 7", "counts");
	is_str(forwards(),
		"b /na:n1 to a n1; b /na:n2 to a n2; b /pe:pv1 to a pv1; b /pe:pv9 to a pv9; b n1/co:c1 to a c1; "
		"b n1/co:c2 to a c2; b n1/co:c9 to a c9; b n2/co:c1 to a c1", "the ways");
	EXPECT(SEE_OTHER, "nothing", MOVE, "empty", NULL, "b");
	is_str(log_of_last(), "", "no change");
	is_str(recorded(), "", "no record");
	is_sound("carried out");
}

// What was changed a moment later than it is now, by another host's clock, does not move before that.
static void later(void)
{
	static const char *const moved[] = { "pv2", "n1/", NULL };

	for (size_t i = 0; i < COUNT_OF(moved); i++) {
		server_sql(moved[i] == NULL ? "UPDATE changes x JOIN resources r ON r.changed = x.id SET x.at = UTC_TIMESTAMP(6) + INTERVAL 3 HOUR WHERE r.name = 'pv1';" :
			moved[i][2] == '/' ? "UPDATE changes x JOIN resources r ON r.changed = x.id SET x.at = UTC_TIMESTAMP(6) + INTERVAL 2 HOUR WHERE r.name = 'c2';" :
			"UPDATE changes x JOIN resources r ON r.changed = x.id SET x.at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE r.name = 'pv2';");
		EXPECT(SEE_OTHER, "a move", MOVE, "a", moved[i], "b");
		is_one_time("what is later");
	}
	server_sql("UPDATE changes SET at = LEAST(at, UTC_TIMESTAMP(6));");
	EXPECT(SEE_OTHER, "back", MOVE, "b", NULL, "a");
}

static void conditional(void)
{
	char tag[MOVE_TAG_HEX + 1];

	EXPECT(OK, "a look", PREVIEW, "a", "pv1", "b");
	memcpy(tag, here.action.etag, sizeof(tag));
	is_outcome(DO(MOVE, "a", "pv2", "b", .match_action = tag), OUTCOME_STALE, "another's tag");
	is_str(here.registry->problem->detail,
		"something changed since the preview with that tag was shown: look at it again", "in words");
	EXPECT(OK, "a change", PUT, "a", "pv1", .body = "{\"of\":\"aa\"}");
	is_outcome(DO(MOVE, "a", "pv1", "b", .match_action = tag), OUTCOME_STALE, "its tag of before");
	EXPECT(OK, "a look", PREVIEW, "a", "pv1", "b");
	memcpy(tag, here.action.etag, sizeof(tag));
	is_outcome(DO(MOVE, "a", "pv1", "b", .match_action = tag), OUTCOME_SEE_OTHER, "its own");
	is_str(recorded(), "a b pv1 done conditional 2 tester 1 at once  ", "its record");
	EXPECT(SEE_OTHER, "back", MOVE, "b", "pv1", "a");
}

int main(void)
{
	fixture_start();
	fill();
	previews();
	refusals();
	taken();
	locked();
	ending();
	merging();
	quotas();
	carried_out();
	later();
	conditional();
	return fixture_end();
}
