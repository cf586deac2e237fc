// SPDX-License-Identifier: Apache-2.0
// Traits of resources, and the catalogue that workers hold: what each change leaves, two at once, who sees what when.
#include "base/base.h"

#include <glob.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/shared.h"
#include "registry-fixture.h"
#include "registry/resource/traits.h"
#include "registry/trait/catalogue.h"

enum { MOST_NAMES = 8 };

// ---- traits of a resource

struct task {
	enum trait_change change;
	const char *tenant, *path;
	const struct uuid *uid; // then not by path
	const char *names[MOST_NAMES]; // ends with NULL
	size_t most;
	bool makes_custom;
	const uint8_t *match;
	void (*before_commit)(void);
};

struct working {
	struct client *client;
	const struct task *task;
	enum outcome outcome;
};

static enum outcome task_do(struct client *client, const struct task *task)
{
	struct str names[MOST_NAMES];
	struct trait_edit edit = {
		.change = task->change, .names = names, .most = task->most, .makes_custom = task->makes_custom
	};
	struct guard guard = { .check = task->match != NULL ? op_guard : NULL, .arg = (void *)(uintptr_t)task->match };
	struct address address;

	while (edit.n < MOST_NAMES && task->names[edit.n] != NULL) {
		names[edit.n] = str_c(task->names[edit.n]);
		edit.n++;
	}
	op_address(client, &(struct op){ .tenant = task->tenant, .path = task->path }, &address);
	if (task->uid == NULL)
		return resource_change_traits_at(client->registry, &address, &edit, guard, &client->resource);
	struct ident ident = { .type = address.type, .uid = *task->uid };
	return resource_change_traits(client->registry, &ident, &edit, guard, &client->resource);
}

static enum db_verdict task_run(void *arg)
{
	struct working *working = arg;

	coherence_begin(working->client->registry);
	working->outcome = task_do(working->client, working->task);
	if (working->task->before_commit != NULL)
		working->task->before_commit();
	return outcome_commits(working->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome client_task(struct client *client, const struct task *task)
{
	struct working working = { client, task, OUTCOME_INTERNAL };

	client->request_id = uuid_new();
	enum outcome outcome = registry_begin(client->registry, client->pool, &client->request_id, STR("tester"), &client->problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (db_txn_run(client->db, DB_WRITE, &client->request_id, task_run, &working) != DB_OK)
		return OUTCOME_UNAVAILABLE;
	if (outcome_commits(working.outcome))
		coherence_committed(client->registry);
	return working.outcome;
}

#define TASK(want, what, ...) \
	is_outcome(client_task(&here, &(struct task){ __VA_ARGS__, .before_commit = NULL }), OUTCOME_##want, what)

static bool said(const char *text)
{
	struct str detail = here.registry->problem->detail;

	return memmem(detail.p, detail.n, text, strlen(text)) != NULL;
}

// The row, what came back, and the table that is searched say the same.
static void has_traits(const char *path, const char *want, const char *what)
{
	struct str traits = here.resource.traits;

	is_int(sql_number("SELECT COALESCE(traits, '') = '%s' FROM resources WHERE name = '%s' AND live = 1", want, path), 1,
		"%s: in the row", what);
	ok(str_eq_c(traits, want), "%s: in the answer, %.*s", what, STR_ARG(traits));
	is_int(sql_number("SELECT COALESCE(CONCAT('[\"', GROUP_CONCAT(t.name ORDER BY t.name SEPARATOR '\",\"'), '\"]'), '') "
			  "= '%s' "
			  "FROM resource_traits rt JOIN traits t ON t.id = rt.trait_id JOIN resources r ON r.id = rt.resource_id "
			  "WHERE r.name = '%s' AND r.live = 1",
		       want, path),
		1, "%s: in the table", what);
}

static void changing(void)
{
	uint8_t first[64], second[64];

	(void)DO(PUT_TENANT, "a");
	(void)DO(PUT, "a", "pv", .body = "{\"n\":1}");
	memcpy(first, etag_now(), sizeof(first));
	TASK(OK, "two of the catalogue", TRAITS_SET, "a", "pv", .names = { "HW_B", "HW_A", "HW_B" });
	has_traits("pv", "[\"HW_A\",\"HW_B\"]", "set");
	is_changes(&here.request_id, 1, "set");
	is_int(sql_number("SELECT fields = '[\"/metadata/traits\"]' FROM changes ORDER BY id DESC LIMIT 1"), 1,
		"and its field");
	ok(memcmp(first, etag_now(), 64) != 0, "another etag");
	is_int((long long)here.resource.revision, 2, "another revision");
	memcpy(second, etag_now(), sizeof(second));
	TASK(OK, "the same", TRAITS_SET, "a", "pv", .names = { "HW_A", "HW_B" });
	ok(memcmp(second, etag_now(), 64) == 0, "keeps the etag");
	is_changes(&here.request_id, 0, "the same");
	TASK(OK, "one more", TRAITS_ADD, "a", "pv", .names = { "HW_C", "HW_A" });
	has_traits("pv", "[\"HW_A\",\"HW_B\",\"HW_C\"]", "add");
	TASK(OK, "one less", TRAITS_REMOVE, "a", "pv", .names = { "HW_B" });
	has_traits("pv", "[\"HW_A\",\"HW_C\"]", "remove");
	TASK(NOT_FOUND, "one that is not there", TRAITS_REMOVE, "a", "pv", .names = { "HW_B", "HW_C" });
	ok(said("HW_B") && !said("HW_C"), "is named");
	TASK(STALE, "an old etag", TRAITS_CLEAR, "a", "pv", .match = second);
	memcpy(second, etag_now(), sizeof(second));
	TASK(OK, "all away", TRAITS_CLEAR, "a", "pv", .match = second);
	has_traits("pv", "", "clear");
	TASK(OK, "none to clear", TRAITS_CLEAR, "a", "pv");
	is_changes(&here.request_id, 0, "none to clear");
	is_sound("traits that changed");
}

static void bad_names(void)
{
	TASK(BAD_PARAMETER, "unknown ones", TRAITS_SET, "a", "pv", .names = { "HW_A", "HW_Z", "HW_Y", "CUSTOM_NONE" });
	ok(said("CUSTOM_NONE, HW_Y, HW_Z") && !said("HW_A"), "are named, and no others");
	is_changes(&here.request_id, 0, "nothing");
	(void)DO(GET, "a", "pv");
	has_traits("pv", "", "nothing of it happened");
	TASK(BAD_PARAMETER, "no name of a trait", TRAITS_ADD, "a", "pv", .names = { "hw_a" }, .makes_custom = true);
	TASK(BAD_PARAMETER, "an unknown standard one", TRAITS_ADD, "a", "pv", .names = { "HW_Z" }, .makes_custom = true);
	TASK(BAD_PARAMETER, "a quote", TRAITS_ADD, "a", "pv", .names = { "CUSTOM_\"]" }, .makes_custom = true);
	TASK(BAD_PARAMETER, "more than it may have", TRAITS_SET, "a", "pv", .names = { "HW_A", "HW_B", "HW_C" }, .most = 2);
	TASK(OK, "as many as it may", TRAITS_SET, "a", "pv", .names = { "HW_A", "HW_B" }, .most = 2);
	TASK(OK, "less", TRAITS_REMOVE, "a", "pv", .names = { "HW_A" });
	TASK(NOT_FOUND, "no such resource", TRAITS_SET, "a", "nothing", .names = { "HW_A" });
	TASK(NOT_FOUND, "no such tenant", TRAITS_SET, "nobody", "pv", .names = { "HW_A" });
}

static void elsewhere(void)
{
	struct uuid uid;

	(void)DO(PUT_TENANT, "b");
	(void)DO(PUT, "a", "default/c");
	uid = here.resource.uid;
	TASK(OK, "in a namespace", TRAITS_ADD, "a", "default/c", .names = { "HW_A" });
	TASK(OK, "by uid", TRAITS_ADD, "a", "default/c", .uid = &uid, .names = { "HW_B" });
	has_traits("c", "[\"HW_A\",\"HW_B\"]", "both");
	TASK(OK, "of a namespace", TRAITS_ADD, "a", "default/", .names = { "HW_A" });
	EXPECT(SEE_OTHER, "moved", MOVE, "a", "default/c", "b");
	TASK(MOVED, "at the old address", TRAITS_CLEAR, "a", "default/c");
	EXPECT(OK, "at the new one", GET, "b", "default/c");
	has_traits("c", "[\"HW_A\",\"HW_B\"]", "moved along");
	uint8_t etag[64];
	memcpy(etag, etag_now(), sizeof(etag));
	EXPECT(NO_CONTENT, "deleted", DELETE, "b", "default/c");
	TASK(GONE, "of a deleted one", TRAITS_CLEAR, "b", "default/c");
	EXPECT(NO_CONTENT, "recovered", RECOVER, "b", "default/c");
	EXPECT(OK, "there", GET, "b", "default/c");
	has_traits("c", "[\"HW_A\",\"HW_B\"]", "recovered");
	ok(memcmp(etag, etag_now(), 64) == 0, "with its etag");
	EXPECT(OK, "another content", PUT, "b", "default/c", .body = "{\"n\":9}");
	has_traits("c", "[\"HW_A\",\"HW_B\"]", "a write keeps them");
	is_sound("traits elsewhere");
}

static void custom(void)
{
	TASK(OK, "made on the way", TRAITS_SET, "a", "pv", .names = { "CUSTOM_NEW", "HW_A" }, .makes_custom = true);
	has_traits("pv", "[\"CUSTOM_NEW\",\"HW_A\"]", "made");
	is_int(sql_number("SELECT COUNT(*) FROM traits WHERE name = 'CUSTOM_NEW'"), 1, "in the catalogue");
	TASK(BAD_PARAMETER, "all or none", TRAITS_SET, "a", "pv", .names = { "CUSTOM_OTHER", "HW_Z" }, .makes_custom = true);
	is_int(sql_number("SELECT COUNT(*) FROM traits WHERE name = 'CUSTOM_OTHER'"), 0, "none");
}

// ---- two at once

static struct task other;
static pid_t other_pid;
static bool started, waited;

static void let_other_run(void)
{
	if (!started) {
		struct client client;
		other_pid = fork_client(&client);
		if (other_pid == 0)
			_exit((int)client_task(&client, &other));
	}
	started = true;
	waited = waited || waits_for_lock(other_pid);
}

static void race(const char *what, struct task one, enum outcome want_one, struct task two, enum outcome want_two)
{
	char text[160];

	other = two;
	started = waited = false;
	one.before_commit = let_other_run;
	(void)snprintf(text, sizeof(text), "%s: the first", what);
	is_outcome(client_task(&here, &one), want_one, text);
	(void)snprintf(text, sizeof(text), "%s: the second", what);
	is_outcome(end_op(other_pid), want_two, text);
	is_sound(what);
}

static void racing(void)
{
	(void)DO(PUT, "a", "p1");
	(void)DO(PUT, "a", "p2");
	uint8_t etag[64];
	race("two make a trait",
		(struct task){ TRAITS_SET, "a", "p1", .names = { "CUSTOM_RACE" }, .makes_custom = true }, OUTCOME_OK,
		(struct task){ TRAITS_SET, "a", "p2", .names = { "CUSTOM_RACE", "CUSTOM_RACE2" }, .makes_custom = true },
		OUTCOME_OK);
	is_int(sql_number("SELECT COUNT(*) FROM traits WHERE name LIKE 'CUSTOM\\_RACE%%'"), 2, "each once");
	is_int(sql_number("SELECT COUNT(*) FROM resource_traits rt JOIN traits t ON t.id = rt.trait_id "
			  "WHERE t.name = 'CUSTOM_RACE'"),
		2, "both have it");
	(void)DO(GET, "a", "p1");
	memcpy(etag, etag_now(), sizeof(etag));
	race("two change one's traits", (struct task){ TRAITS_SET, "a", "p1", .names = { "HW_A" }, .match = etag }, OUTCOME_OK,
		(struct task){ TRAITS_SET, "a", "p1", .names = { "HW_B" }, .match = etag }, OUTCOME_STALE);
	race("two add to one", (struct task){ TRAITS_ADD, "a", "p1", .names = { "HW_B" } }, OUTCOME_OK,
		(struct task){ TRAITS_ADD, "a", "p1", .names = { "HW_C" } }, OUTCOME_OK);
	EXPECT(OK, "both are there", GET, "a", "p1");
	has_traits("p1", "[\"HW_A\",\"HW_B\",\"HW_C\"]", "both");
}

// ---- the catalogue

struct errand {
	struct client *client;
	enum { GET_TRAIT, PUT_TRAIT, DELETE_TRAIT, DESCRIBE_TRAIT, COUNT_TRAITS, GIVE_UP } what;
	const char *name;
	struct trait_about about;
	struct trait trait;
	size_t n;
	enum outcome outcome;
	bool in_snapshot;
};

static enum outcome errand_do(struct errand *errand)
{
	struct registry *registry = errand->client->registry;
	struct str name = str_c(errand->name);
	const struct trait_query query = { .prefix = name };
	const struct trait *list;
	const struct type *user;

	switch (errand->what) {
	case GET_TRAIT:
		return trait_get(registry, name, &errand->trait);
	case PUT_TRAIT:
		return trait_put(registry, name);
	case DELETE_TRAIT:
		return trait_delete(registry, name, &user);
	case DESCRIBE_TRAIT:
		return trait_describe(registry, name, &errand->about, &errand->trait);
	case COUNT_TRAITS:
		return trait_list(registry, &query, &list, &errand->n);
	case GIVE_UP:
		(void)trait_put(registry, name);
		errand->outcome = trait_get(registry, name, &errand->trait);
		is_outcome(errand->outcome, OUTCOME_OK, "who made it sees it");
		return OUTCOME_CONFLICT;
	}
	return OUTCOME_INTERNAL;
}

static enum db_verdict errand_run(void *arg)
{
	struct errand *errand = arg;

	coherence_begin(errand->client->registry);
	errand->outcome = errand_do(errand);
	return outcome_commits(errand->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome run_errand(struct errand *errand)
{
	struct client *client = errand->client;
	bool reads = errand->what == GET_TRAIT || errand->what == COUNT_TRAITS;
	enum db_mode mode = errand->in_snapshot ? DB_SNAPSHOT : reads ? DB_AUTOCOMMIT : DB_WRITE;
	struct uuid id = uuid_new();
	enum outcome outcome = registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (db_txn_run(client->db, mode, &id, errand_run, errand) != DB_OK)
		return OUTCOME_UNAVAILABLE;
	if (outcome_commits(errand->outcome))
		coherence_committed(client->registry);
	return errand->outcome;
}

#define ERRAND(want, text, client, what, name) \
	is_outcome(run_errand(&(struct errand){ client, what, name, .n = 0 }), OUTCOME_##want, text)
#define DESCRIBE(want, text, name, ...) \
	is_outcome(describe(&(struct errand){ &here, DESCRIBE_TRAIT, name, .about = { __VA_ARGS__ } }), OUTCOME_##want, text)

static size_t count_traits(struct client *client, const char *prefix)
{
	struct errand errand = { client, COUNT_TRAITS, prefix, .n = 0 };

	return run_errand(&errand) == OUTCOME_OK ? errand.n : SIZE_MAX;
}

// How many looks at what is held may have asked since then whether it is stale, if the first one did: twice a second one asks.
static uint64_t asked_since(int64_t begun_us)
{
	return (uint64_t)(clock_tick_us() - begun_us) / 500000;
}

static uint64_t round_trips(struct client *client, const char *name)
{
	uint64_t before = db_round_trips(client->db);
	struct errand errand = { client, GET_TRAIT, name, .n = 0 };

	(void)run_errand(&errand);
	return db_round_trips(client->db) - before;
}

// ... and gives here the trait that was returned, to be looked at.
static struct trait told;

static enum outcome describe(struct errand *errand)
{
	enum outcome outcome = run_errand(errand);

	told = errand->trait;
	return outcome;
}

static void describing(void)
{
	static char long_text[TRAIT_MAX_DESCRIPTION + 1];

	memset(long_text, 'x', sizeof(long_text));
	DESCRIBE(OK, "a description alone", "HW_B", .sets_description = true, .description = STR("told"));
	ok(str_eq_c(told.description, "told") && !told.deprecated, "is set");
	DESCRIBE(OK, "the other member alone", "HW_B", .sets_deprecated = true, .deprecated = true);
	ok(str_eq_c(told.description, "told") && told.deprecated, "leaves the description");
	int64_t at = told.updated_us;
	DESCRIBE(OK, "the same again", "HW_B", .sets_description = true, .description = STR("told"));
	is_int((long long)told.updated_us, (long long)at, "changes nothing");
	DESCRIBE(OK, "nothing at all", "HW_B", .sets_description = false);
	is_int((long long)told.updated_us, (long long)at, "changes nothing");
	DESCRIBE(OK, "none", "HW_B", .sets_description = true, .description = STR(""));
	ok(told.description.n == 0 && told.deprecated && told.updated_us > at, "takes it away");
	DESCRIBE(BAD_PARAMETER, "too long a text", "HW_B", .sets_description = true, .description = str_n(long_text, sizeof(long_text)));
	DESCRIBE(NOT_FOUND, "no trait", "HW_NONE", .sets_deprecated = true);
}

static void catalogue(void)
{
	struct errand errand = { &here, GET_TRAIT, "CUSTOM_ONE", .n = 0 };

	ERRAND(CREATED, "a custom trait", &here, PUT_TRAIT, "CUSTOM_ONE");
	ERRAND(OK, "again", &here, PUT_TRAIT, "CUSTOM_ONE");
	ERRAND(BAD_PARAMETER, "a standard one", &here, PUT_TRAIT, "HW_NEW");
	ERRAND(BAD_PARAMETER, "the prefix alone", &here, PUT_TRAIT, "CUSTOM_");
	ERRAND(BAD_PARAMETER, "lower case", &here, PUT_TRAIT, "CUSTOM_a");
	DESCRIBE(OK, "is told of", "CUSTOM_ONE", .sets_description = true, .sets_deprecated = true, .description = STR("told"), .deprecated = true);
	is_outcome(run_errand(&errand), OUTCOME_OK, "there");
	ok(str_eq_c(errand.trait.description, "told") && errand.trait.deprecated, "with what was told");
	ERRAND(NOT_FOUND, "case counts", &here, GET_TRAIT, "CUSTOM_one");
	ERRAND(NOT_FOUND, "to the last byte", &here, GET_TRAIT, "CUSTOM_ONE ");
	ERRAND(NO_CONTENT, "deleted", &here, DELETE_TRAIT, "CUSTOM_ONE");
	ERRAND(NOT_FOUND, "once", &here, DELETE_TRAIT, "CUSTOM_ONE");
	ERRAND(NOT_FOUND, "gone", &here, GET_TRAIT, "CUSTOM_ONE");
	ERRAND(BAD_PARAMETER, "a standard one stays", &here, DELETE_TRAIT, "HW_A");
	ERRAND(CONFLICT, "so does one in use", &here, DELETE_TRAIT, "CUSTOM_NEW");
	is_int((long long)count_traits(&here, "HW_"), 3, "a prefix");
	is_int((long long)count_traits(&here, "H%"), 0, "is no pattern");
	ERRAND(CONFLICT, "a transaction that ends without COMMIT", &here, GIVE_UP, "CUSTOM_NEVER");
	ERRAND(NOT_FOUND, "leaves nothing", &here, GET_TRAIT, "CUSTOM_NEVER");
}

static void remove_dir(const char *dir)
{
	glob_t found;
	char pattern[128];

	(void)snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	(void)rmdir(dir);
}

// Reads the revisions in a snapshot that began before a deletion by another process of the host.
static enum db_verdict look_back(void *arg)
{
	struct client *near = arg;
	const struct timespec pause = { .tv_nsec = 600000000 }; // longer than an answer of the database counts
	struct db_rows rows;

	is_int(db_run(near->db, near->pool, TEST_QUERY("SELECT 1", "i"), NULL, &rows), DB_OK, "a snapshot begins");
	ERRAND(NO_CONTENT, "a trait is deleted meanwhile", &here, DELETE_TRAIT, "CUSTOM_FOUR");
	(void)nanosleep(&pause, NULL);
	is_outcome(coherence_ask(near->registry), OUTCOME_OK, "the snapshot asks for the revisions");
	return DB_COMMIT;
}

static void snapshots(struct client *near, struct client *far)
{
	struct errand errand = { near, COUNT_TRAITS, "CUSTOM_FIVE", .in_snapshot = true };
	const struct timespec second = { .tv_sec = 1 };
	struct uuid id = uuid_new();

	ERRAND(CREATED, "a trait", &here, PUT_TRAIT, "CUSTOM_FOUR");
	ERRAND(OK, "near knows it", near, GET_TRAIT, "CUSTOM_FOUR");
	(void)registry_begin(near->registry, near->pool, &id, STR("tester"), &near->problem);
	is_int(db_txn_run(near->db, DB_SNAPSHOT, &id, look_back, near), DB_OK, "and ends");
	ERRAND(NOT_FOUND, "what it read is not taken for the newest", near, GET_TRAIT, "CUSTOM_FOUR");
	ERRAND(CREATED, "far makes one", far, PUT_TRAIT, "CUSTOM_FIVE");
	(void)nanosleep(&second, NULL);
	is_outcome(run_errand(&errand), OUTCOME_OK, "a list in a snapshot");
	is_int((long long)errand.n, 1, "has it within a second");
	is_int((long long)round_trips(near, "HW_A"), 1, "but the next reader asks for itself");
	ERRAND(NO_CONTENT, "far deletes it", far, DELETE_TRAIT, "CUSTOM_FIVE");
}

// The answer to COMMIT is lost. The other processes see the change at once nevertheless.
static void lost_commits(struct client *near, const struct shared *shared)
{
	static const struct {
		const char *what;
		int errand;
		enum outcome want, seen;
	} cases[] = { { "a lost creation", PUT_TRAIT, OUTCOME_CREATED, OUTCOME_OK },
		{ "a lost deletion", DELETE_TRAIT, OUTCOME_NO_CONTENT, OUTCOME_NOT_FOUND } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct client faulty;

		(void)setenv("TENURE_FAULT", "after-commit:1:conn", 1);
		client_open(&faulty);
		(void)unsetenv("TENURE_FAULT");
		coherence_join(faulty.store, shared);
		ERRAND(OK, "near reads the catalogue", near, GET_TRAIT, "HW_A");
		is_outcome(run_errand(&(struct errand){ &faulty, cases[i].errand, "CUSTOM_LOST", .n = 0 }), cases[i].want, cases[i].what);
		is_int(db_txn_tries(faulty.db), 2, "%s: runs", cases[i].what);
		is_outcome(run_errand(&(struct errand){ near, GET_TRAIT, "CUSTOM_LOST", .n = 0 }), cases[i].seen, "near sees it at once");
		client_close(&faulty);
	}
}

// here and near share, far is another host's.
static void coherence(void)
{
	char dir[] = "/tmp/tenure-shared-XXXXXX";
	struct shared *shared = mkdtemp(dir) != NULL ? shared_open(dir, STR("a database")) : NULL;
	struct client near, far;
	struct timespec second = { .tv_sec = 1 };

	client_open(&near);
	client_open(&far);
	coherence_join(here.store, shared);
	coherence_join(near.store, shared);
	ERRAND(OK, "far knows the catalogue", &far, GET_TRAIT, "HW_A");
	coherence_invalidate(near.registry); // so that near's look asks, and the next ones of near and here do not
	int64_t begun_us = clock_tick_us();
	ERRAND(OK, "near, too", &near, GET_TRAIT, "HW_A");
	ERRAND(CREATED, "a new one", &here, PUT_TRAIT, "CUSTOM_TWO");
	size_t all = count_traits(&here, "");
	is_int((long long)count_traits(&near, ""), (long long)all, "near sees it at once");
	ok(round_trips(&near, "CUSTOM_TWO") <= asked_since(begun_us), "what is held costs no query");
	ERRAND(OK, "far finds it at once", &far, GET_TRAIT, "CUSTOM_TWO");
	ERRAND(NO_CONTENT, "deleted", &here, DELETE_TRAIT, "CUSTOM_TWO");
	ERRAND(NOT_FOUND, "near sees that at once", &near, GET_TRAIT, "CUSTOM_TWO");
	(void)nanosleep(&second, NULL);
	ERRAND(NOT_FOUND, "far within a second", &far, GET_TRAIT, "CUSTOM_TWO");
	snapshots(&near, &far);
	lost_commits(&near, shared);
	// A file that somebody has written into, or replaced, is corrected by what the database answers.
	memset(shared_area(shared, SHARED_COHERENCE, 64), 0x7e, 64);
	ERRAND(CREATED, "another, while the file is damaged", &far, PUT_TRAIT, "CUSTOM_THREE");
	(void)nanosleep(&second, NULL);
	ERRAND(OK, "is found", &near, GET_TRAIT, "CUSTOM_THREE");
	ERRAND(NO_CONTENT, "deleted", &here, DELETE_TRAIT, "CUSTOM_THREE");
	ERRAND(NOT_FOUND, "near sees that at once", &near, GET_TRAIT, "CUSTOM_THREE");
	server_sql("UPDATE catalogues SET revision = 1;\nDELETE FROM traits WHERE name = 'HW_C';\n"
		   "DELETE FROM resource_traits WHERE trait_id NOT IN (SELECT id FROM traits);\n");
	(void)nanosleep(&second, NULL);
	begun_us = clock_tick_us();
	is_int((long long)count_traits(&near, "HW_"), 2, "a database that went back is noticed");
	is_int((long long)count_traits(&here, "HW_"), 2, "by all");
	ok(round_trips(&near, "HW_A") <= asked_since(begun_us), "and held");
	client_close(&near);
	client_close(&far);
	coherence_join(here.store, NULL);
	client_close(&here);
	client_open(&here);
	shared_close(&shared);
	remove_dir(dir);
}

static void deleting_and_attaching(void)
{
	ERRAND(CREATED, "a trait", &here, PUT_TRAIT, "CUSTOM_LATE");
	struct errand errand = { &here, DELETE_TRAIT, "CUSTOM_LATE", .n = 0 };
	(void)DO(PUT, "b", "pv");
	TASK(OK, "on a resource", TRAITS_ADD, "b", "pv", .names = { "CUSTOM_LATE" });
	is_outcome(run_errand(&errand), OUTCOME_CONFLICT, "is not deleted");
	(void)DO(DELETE, "b", "pv");
	is_outcome(run_errand(&errand), OUTCOME_NO_CONTENT, "unless nobody sees that");
	(void)DO(RECOVER, "b", "pv");
	ERRAND(OK, "it comes back with it", &here, GET_TRAIT, "CUSTOM_LATE");
}

int main(void)
{
	fixture_start();
	server_sql("INSERT INTO traits (name, created_at, updated_at) VALUES ('HW_A', NOW(6), NOW(6)), "
		   "('HW_B', NOW(6), NOW(6)), ('HW_C', NOW(6), NOW(6));\n");
	changing();
	bad_names();
	elsewhere();
	custom();
	racing();
	describing();
	catalogue();
	deleting_and_attaching();
	coherence();
	return fixture_end();
}
