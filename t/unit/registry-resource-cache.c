// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of resources: bounded, forgotten in order, and never told where the database has something else.
// The proof of the last is a comparison: whatever others do, one who remembers reads what one reads who does not.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "registry/log/horizon.h"
#include "registry/trait/catalogue.h"

enum { KIB = 1024, MINUTE_US = 60000000 };

// ---- by itself

static const struct type type_one = { .id = 7 }, type_two = { .id = 8 };

static struct resource thing(uint64_t id, const char *name, struct str body)
{
	return (struct resource){ .id = id, .tenant_id = 1, .tenant = STR("t"), .type = &type_one, .space = STR("s"),
		.name = str_c(name), .live = RESOURCE_COUNTED, .changed = id * 10, .meta = STR("{}"), .body = body };
}

static bool found(struct resource_cache *resource_cache, const struct type *type, const char *space, const char *name,
	int64_t now_us,
	struct resource *resource)
{
	const struct address address = { STR("t"), type, str_c(space), str_c(name) };

	return resource_cache_find_at(resource_cache, here.pool, &address, now_us, resource);
}

static void test_found(void)
{
	struct resource_cache *resource_cache = resource_cache_new(64 * KIB);
	struct resource a = thing(1, "a", STR("{\"a\":1}")), got = { 0 };

	a.traits = STR("[\"T\"]");
	resource_cache_add(resource_cache, &a, 0);
	ok(found(resource_cache, &type_one, "s", "a", 1, &got), "by its address");
	resource_cache_free(&resource_cache);
	ok(str_eq(got.body, a.body) && str_eq(got.name, a.name) && str_eq(got.space, a.space) && str_eq(got.tenant, a.tenant) &&
		str_eq(got.meta, a.meta) && str_eq(got.traits, a.traits) && got.changed == 10 && got.id == 1,
		"whole, and there when the memory is gone");
	resource_cache = resource_cache_new(64 * KIB);
	resource_cache_add(resource_cache, &a, 0);
	ok(!found(resource_cache, &type_two, "s", "a", 1, &got), "not of another type");
	ok(!found(resource_cache, &type_one, "sa", "", 1, &got), "where a namespace ends counts");
	ok(resource_cache_find_id(resource_cache, here.pool, 1, 10, 1, &got) && got.tenant_id == 1, "by id");
	ok(!resource_cache_find_id(resource_cache, here.pool, 1, 11, 1, &got) && !resource_cache_find_id(resource_cache,
		here.pool, 2, 10, 1, &got),
		"not as another change made it, nor another one");
	uint64_t size = resource_cache_size(resource_cache);
	a.changed = 12;
	a.body = STR("{\"a\":2}");
	resource_cache_add(resource_cache, &a, 2);
	ok(found(resource_cache, &type_one, "s", "a", 3, &got) && got.changed == 12 && str_eq(got.body, a.body),
		"the newer in its place");
	ok(resource_cache_size(resource_cache) == size, "and not beside it");
	a.name = STR("b");
	resource_cache_add(resource_cache, &a, 2);
	ok(!found(resource_cache, &type_one, "s", "a", 3, &got) && found(resource_cache, &type_one, "s", "b", 3, &got),
		"nor where it was");
	ok(found(resource_cache, &type_one, "s", "b", 2 + MINUTE_US, &got) && !found(resource_cache, &type_one, "s", "b",
		3 + MINUTE_US, &got),
		"for a minute");
	ok(resource_cache_size(resource_cache) == 0, "what is old goes");
	resource_cache_add(resource_cache, &a, 2);
	resource_cache_remove(resource_cache, 1);
	resource_cache_remove(resource_cache, 1);
	ok(!found(resource_cache, &type_one, "s", "b", 3, &got) && resource_cache_size(resource_cache) == 0, "forgotten");
	resource_cache_free(&resource_cache);
}

static bool found_uid(struct resource_cache *resource_cache, const struct type *type, struct uuid uid, struct resource *resource)
{
	return resource_cache_find_uid(resource_cache, here.pool, type, &uid, 1, resource);
}

static void test_uid(void)
{
	struct resource_cache *resource_cache = resource_cache_new(64 * KIB);
	struct resource a = thing(1, "a", STR("{\"a\":1}")), b = thing(2, "b", STR("{}")), got = { 0 };
	struct uuid other = { { 9 } };

	a.uid = a.root = (struct uuid){ { 1 } };
	a.has_root = true;
	a.shown = STR("{\"a\":\"******\"}");
	b.uid = (struct uuid){ { 2 } };
	b.shown = b.body;
	resource_cache_add(resource_cache, &a, 0);
	uint64_t size = resource_cache_size(resource_cache);
	resource_cache_add(resource_cache, &b, 0);
	ok(found_uid(resource_cache, &type_one, a.uid, &got) && got.id == 1 && got.has_root, "the root of a tree, by its uid");
	ok(str_eq(got.shown, a.shown) && str_eq(got.body, a.body), "with what is shown of it");
	ok(found_uid(resource_cache, &type_one, b.uid, &got) && got.id == 2 && got.shown.p == got.body.p, "another one");
	ok(resource_cache_size(resource_cache) - size == size - a.body.n - a.shown.n + b.body.n,
		"whose body is kept once, since it is shown as it is");
	ok(!found_uid(resource_cache, &type_two, a.uid, &got), "not of another type");
	ok(!found_uid(resource_cache, &type_one, other, &got), "nor of another uid");
	resource_cache_remove(resource_cache, 1);
	ok(!found_uid(resource_cache, &type_one, a.uid, &got) && found_uid(resource_cache, &type_one, b.uid, &got), "forgotten alone");
	resource_cache_free(&resource_cache);
}

static void test_answer(void)
{
	struct resource_cache *resource_cache = resource_cache_new(256 * KIB);
	struct resource a = thing(1, "a", STR("{\"a\":1}")), newer = a, got = { 0 };
	char large[5 * KIB];

	a.uid = newer.uid = (struct uuid){ { 1 } };
	newer.changed = a.changed + 1;
	resource_cache_add(resource_cache, &a, 0);
	ok(!a.cached && found_uid(resource_cache, &type_one, a.uid, &got) && got.cached && got.answer.p == NULL, "no answer at first");
	got.type = &type_one;
	got.answer = STR("{\"answer\":1}");
	got.answer_for = STR("82 http://here");
	resource_cache_set_answer(resource_cache, &got);
	ok(found_uid(resource_cache, &type_one, a.uid, &got) && str_eq(got.answer, STR("{\"answer\":1}")) &&
		str_eq(got.answer_for, STR("82 http://here")) && str_eq(got.body, a.body), "then the one that it was given");
	ok(resource_cache_find_id(resource_cache, here.pool, 1, a.changed, 1, &got) && got.answer.p == NULL, "but not for a list");
	ok(!resource_cache_find_uid(resource_cache, here.pool, &type_one, &a.uid, RESOURCE_CACHE_MAX_AGE_US + 1, &got),
		"it makes the entry no younger");
	resource_cache_add(resource_cache, &newer, 0);
	a.answer = a.answer_for = STR("old");
	resource_cache_set_answer(resource_cache, &a);
	ok(found_uid(resource_cache, &type_one, a.uid, &got) && got.changed == newer.changed && got.answer.p == NULL,
		"an answer of an older state is not kept");
	memset(large, 'x', sizeof(large));
	newer.answer = str_n(large, sizeof(large));
	newer.answer_for = STR("82");
	resource_cache_set_answer(resource_cache, &newer);
	ok(found_uid(resource_cache, &type_one, a.uid, &got) && got.answer.p == NULL, "nor a large one, but the resource is");
	resource_cache_free(&resource_cache);
}

static void test_not_kept(void)
{
	struct resource_cache *resource_cache = resource_cache_new(64 * KIB), *none = resource_cache_new(0);
	struct resource a = thing(1, "a", STR("{}")), got;
	char large[5 * KIB];

	resource_cache_add(none, &a, 0);
	ok(resource_cache_size(none) == 0 && !found(none, &type_one, "s", "a", 1, &got), "nothing, where there is no room");
	memset(large, 'x', sizeof(large));
	a.body = str_n(large, sizeof(large));
	resource_cache_add(resource_cache, &a, 0);
	ok(resource_cache_size(resource_cache) == 0, "not what is large beside the whole");
	a.body = STR("{}");
	resource_cache_add(resource_cache, &a, 0);
	a.has_root = true;
	a.uid.b[0] = 1;
	resource_cache_add(resource_cache, &a, 0);
	ok(resource_cache_size(resource_cache) == 0, "not what is below the root of a tree, nor what it was before that");
	a = thing(1, "a", STR("{}"));
	a.live = RESOURCE_DELETED;
	resource_cache_add(resource_cache, &a, 0);
	ok(resource_cache_size(resource_cache) == 0, "not what is deleted");
	resource_cache_free(&resource_cache);
	resource_cache_free(&none);
}

static void test_bound(void)
{
	enum { N = 1000, MAX = 64 * KIB };
	struct resource_cache *resource_cache = resource_cache_new(MAX);
	struct resource first = thing(1, "n1", STR("{}")), got;
	bool within = true, asked = true;
	unsigned kept = 0;

	resource_cache_add(resource_cache, &first, 0);
	for (uint64_t i = 2; i <= N; i++) {
		struct resource one = thing(i, str_printf(here.pool, "n%llu", (unsigned long long)i).p, STR("{\"k\":\"v\"}"));
		resource_cache_add(resource_cache, &one, 0);
		within = within && resource_cache_size(resource_cache) <= MAX;
		asked = asked && resource_cache_find_id(resource_cache, here.pool, 1, 10, 1, &got);
	}
	ok(within && resource_cache_size(resource_cache) > MAX / 2, "as much as it may, and no more (%llu bytes)",
		(unsigned long long)resource_cache_size(resource_cache));
	ok(asked, "what is asked for stays");
	for (uint64_t i = 2; i <= N; i++) {
		const struct str name = str_printf(here.pool, "n%llu", (unsigned long long)i);
		bool of_id = resource_cache_find_id(resource_cache, here.pool, i, i * 10, 1, &got), at = found(resource_cache,
			&type_one, "s", name.p, 1, &got);
		kept += of_id && at && str_eq(got.name, name) ? 1 : 0;
		within = within && of_id == at;
	}
	ok(within && kept > 10 && kept < N / 2, "the rest by both ways or by none (%u)", kept);
	ok(found(resource_cache, &type_one, "s", "n1000", 1, &got) && !found(resource_cache, &type_one, "s", "n2", 1, &got),
		"the last ones, not the first");
	resource_cache_free(&resource_cache);
}

// ---- with the database: here remembers, plain does not, other is who changes things

static struct client plain, other;

static void test_get(void)
{
	EXPECT(CREATED, "made", PUT, "t", "default/a", .body = "{\"data\":{\"a\":\"1\"}}");
	EXPECT(OK, "read", GET, "t", "default/a");
	is_outcome(client_do(&other, &OP(PUT, "t", "default/a", .body = "{\"data\":{\"a\":\"2\"}}")), OUTCOME_OK,
		"changed elsewhere");
	EXPECT(OK, "read again", GET, "t", "default/a");
	is_str(here.resource.body, "{\"data\":{\"a\":\"2\"}}", "as it is now");
	is_outcome(client_do(&other, &OP(DELETE, "t", "default/a")), OUTCOME_NO_CONTENT, "deleted elsewhere");
	EXPECT(GONE, "gone", GET, "t", "default/a");
	is_outcome(client_do(&other, &OP(RECOVER, "t", "default/a")), OUTCOME_NO_CONTENT, "brought back");
	EXPECT(OK, "there", GET, "t", "default/a");
	uint64_t changed = here.resource.changed;
	(void)client_do(&other, &OP(DELETE, "t", "default/a"));
	(void)client_do(&other, &OP(RECOVER, "t", "default/a"));
	EXPECT(OK, "deleted and brought back, unseen", GET, "t", "default/a");
	is_int((long long)here.resource.changed, (long long)changed + 2, "is a change, which its etag does not show");
	is_outcome(client_do(&other, &OP(MOVE, "t", "default/a", .dest = "u")), OUTCOME_SEE_OTHER, "moved elsewhere");
	EXPECT(MOVED, "told where to", GET, "t", "default/a");
	EXPECT(OK, "there", GET, "u", "default/a");
	is_outcome(client_do(&other, &OP(DELETE_TENANT, "u")), OUTCOME_NO_CONTENT, "that tenant deleted");
	EXPECT(GONE, "gone with it", GET, "u", "default/a");
	is_outcome(client_do(&other, &OP(RECOVER_TENANT, "u")), OUTCOME_NO_CONTENT, "and brought back");
	EXPECT(OK, "there", GET, "u", "default/a");
	is_outcome(client_do(&other, &OP(DELETE, "u", "default/a")), OUTCOME_NO_CONTENT, "away with it");
}

// The list of configmaps in t, with the horizon, so that its page is kept.
static struct str bodies_of_t(void)
{
	uint64_t newest, horizon;
	struct resource_query query = { .tenant = STR("t"), .type = type_called(here.registry, "configmaps"), .space = STR("default"),
		.limit = 100, .newest = &newest };
	struct resource *list = NULL;
	size_t n = 0;
	bool more;
	struct uuid id = uuid_new();
	struct buf text = buf_new(here.pool, 100);

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	if (horizon_advance(here.registry, &horizon, NULL) != OUTCOME_OK || resource_list(here.registry, &query, &list, &n, &more) != OUTCOME_OK)
		return STR("no list");
	for (size_t i = 0; i < n; i++)
		buf_add(&text, list[i].body);
	return buf_str(&text);
}

// What the catalogue tells of the only trait.
static struct str told_of_trait(void)
{
	const struct trait_query query = { .prefix = STR("HW_CRASH") };
	const struct trait *list = NULL;
	size_t n = 0;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	return trait_list(here.registry, &query, &list, &n) == OUTCOME_OK && n == 1 ? list[0].description : STR("no trait");
}

// What a server does that crashes, as seen by who had read what it lost: the same ids of changes, and another content. The
// process finds it out by the lost connection.
static void crash_and_set(const char *n)
{
	static const struct test_query q_id = { "SELECT CONNECTION_ID()", "", "u" };
	struct db_rows rows;
	char text[400];

	if (db_run(here.db, here.pool, test_query(&q_id), NULL, &rows) != DB_OK || rows.n != 1)
		bail_out("no connection");
	(void)snprintf(text, sizeof(text), "UPDATE resources SET body = '{\"data\":{\"n\":\"%s\"}}' WHERE name = 'crash'; UPDATE traits SET description = '%s'; KILL %llu", n, n,
		(unsigned long long)db_at(&rows, 0, 0)->u);
	server_sql(text);
}

static void test_crash(void)
{
	server_sql("INSERT INTO traits (name, description, created_at, updated_at) VALUES ('HW_CRASH', '0', NOW(6), NOW(6))");
	is_str(told_of_trait(), "0", "a trait");
	EXPECT(CREATED, "made", PUT, "t", "default/crash", .body = "{\"data\":{\"n\":\"0\"}}");
	EXPECT(OK, "read, and remembered", GET, "t", "default/crash");
	crash_and_set("1");
	EXPECT(OK, "read after a crash", GET, "t", "default/crash");
	is_str(here.resource.body, "{\"data\":{\"n\":\"1\"}}", "as it is now");
	is_str(told_of_trait(), "1", "a trait, likewise");
	for (int i = 0; i < 2; i++)
		is_str(bodies_of_t(), "{\"data\":{\"n\":\"1\"}}", "a list");
	crash_and_set("2");
	is_str(bodies_of_t(), "{\"data\":{\"n\":\"2\"}}", "a list after a crash");
	EXPECT(NO_CONTENT, "away with it", DELETE, "t", "default/crash");
}

static enum db_verdict read_and_write(void *arg)
{
	struct address address = { STR("t"), type_called(here.registry, "configmaps"), STR("default"), STR("never") };
	struct op put = OP(PUT, "t", "default/never");
	struct edit edit = { .apply = op_apply, .arg = &put, .creates = true };
	struct resource_query query = { .tenant = STR("t"), .type = address.type, .space = STR("default"), .limit = 10 };
	struct resource *list;
	size_t n;
	bool more, *same = arg;

	*same = resource_write(here.registry, &address, &edit, (struct guard){ 0 }, &here.resource) == OUTCOME_CREATED &&
		resource_get(here.registry, &address, &here.resource) == OUTCOME_OK &&
		resource_list(here.registry, &query, &list, &n, &more) == OUTCOME_OK && n == 1;
	return DB_ROLLBACK;
}

static void test_never_happened(void)
{
	bool read = false;
	struct uuid id = uuid_new();
	uint64_t size = resource_cache_size(here.registry->store->resource_cache);

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	(void)db_txn_run(here.db, DB_WRITE, &id, read_and_write, &read);
	ok(read, "a transaction reads what it wrote");
	ok(resource_cache_size(here.registry->store->resource_cache) == size, "and nobody remembers it, as it may never happen");
	EXPECT(NOT_FOUND, "it did not", GET, "t", "default/never");
}

// ---- while others are at it

enum { MOVED = 10, MOVES = 150 };

// All of them from one tenant to the other and back, one of them changed each time.
static void keep_moving(void)
{
	struct client mover;
	pid_t pid = fork_client(&mover);

	if (pid != 0)
		return;
	for (int i = 0; i < MOVES; i++) {
		const char *from = i % 2 == 0 ? "u" : "v", *to = i % 2 == 0 ? "v" : "u";
		const char *body = str_printf(mover.pool, "{\"data\":{\"n\":\"%d\"}}", i).p;
		if (client_do(&mover, &OP(MOVE, from, .dest = to)) != OUTCOME_SEE_OTHER ||
			client_do(&mover, &OP(PUT, to, "default/m0", .body = body)) != OUTCOME_OK)
			_exit(1);
	}
	_exit(0);
}

// What a list of that tenant has is its own, and all of it or nothing. False: it is not.
static bool is_whole(const char *tenant, unsigned *seen)
{
	uint64_t newest, horizon;
	struct resource_query query = { .tenant = str_c(tenant), .type = type_called(here.registry, "configmaps"),
		.space = STR("default"), .limit = 100, .newest = &newest };
	struct resource *list;
	size_t n;
	bool more;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	if (horizon_advance(here.registry, &horizon, NULL) != OUTCOME_OK ||
		resource_list(here.registry, &query, &list, &n, &more) != OUTCOME_OK || (n != 0 && n != MOVED)) {
		diag("%zu of %d", n, MOVED);
		return false;
	}
	*seen += n > 0 ? 1 : 0;
	for (size_t i = 0; i < n; i++) {
		if (list[i].tenant_id != list[0].tenant_id || !str_eq(list[i].tenant, query.tenant))
			return false;
	}
	return n == 0 || sql_number("SELECT id FROM tenants WHERE name = '%s'", tenant) == (long long)list[0].tenant_id;
}

static void test_moving(void)
{
	unsigned seen = 0;
	bool whole = true;
	int status = 0;

	for (int i = 0; i < MOVED; i++)
		(void)DO(PUT, "u", str_printf(here.pool, "default/m%d", i).p);
	keep_moving();
	while (waitpid(-1, &status, WNOHANG) == 0) {
		whole = whole && is_whole("u", &seen) && is_whole("v", &seen);
		pool_clear(here.pool);
	}
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d moves there and back, with a change each", MOVES);
	ok(whole && seen > 0, "no list shows half of one, nor what is another's (%u lists with something)", seen);
	for (int i = 0; i < MOVED; i++)
		(void)DO(DELETE, "u", str_printf(here.pool, "default/m%d", i).p);
}

// ---- one who remembers, one who does not

static const char *const tenants[] = { "t", "u", "v" };
static const char *const spaces[] = { "default", "s1", "s2" };
static uint32_t dice = 20261121;

static uint32_t roll(uint32_t n)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 8) % n;
}

static const char *some(const char *const *words, size_t n)
{
	return words[roll((uint32_t)n)];
}

static const char *some_path(void)
{
	return str_printf(here.pool, "%s/n%u", some(spaces, COUNT_OF(spaces)), roll(12)).p;
}

// Something happens, sometimes much at once.
static void change_something(void)
{
	const char *tenant = some(tenants, COUNT_OF(tenants)), *to = some(tenants, COUNT_OF(tenants)), *path = some_path();
	const char *body = str_printf(here.pool, "{\"data\":{\"n\":\"%u\"}}", roll(1000)).p;
	const char *whole = str_printf(here.pool, "%s/", some(spaces, COUNT_OF(spaces))).p;
	const struct op ops[] = {
		OP(PUT, tenant, path, .body = body), OP(PUT, tenant, path, .body = body), OP(PUT, tenant, path, .body = body),
		OP(PATCH, tenant, path, .body = body), OP(DELETE, tenant, path), OP(RECOVER, tenant, path),
		OP(MOVE, tenant, path, .dest = to), OP(MOVE, tenant, .dest = to), OP(PUT, tenant, whole),
		OP(DELETE, tenant, whole), OP(RECOVER, tenant, whole), OP(DELETE_TENANT, tenant), OP(RECOVER_TENANT, tenant),
		OP(RECOVER_TENANT, tenant), OP(PUT, tenant, "pv1", .body = body),
	};

	(void)client_do(&other, &ops[roll(COUNT_OF(ops))]);
}

static struct str told(struct client *client, const struct resource *resource)
{
	return str_printf(client->pool, "%llu %llu %.*s %.*s %.*s %.*s %.*s %d %llu %llu %llu %.*s\n",
		(unsigned long long)resource->id, (unsigned long long)resource->tenant_id, STR_ARG(resource->tenant),
		STR_ARG(resource->type->plural), STR_ARG(resource->space), STR_ARG(resource->name), STR_ARG(resource->body),
		(int)resource->live, (unsigned long long)resource->revision, (unsigned long long)resource->changed,
		(unsigned long long)resource->generation, UUID_ARG(client->pool, resource->uid));
}

static struct str told_page(struct client *client, const struct resource_query *query)
{
	struct resource *list;
	struct uuid id = uuid_new();
	struct buf text = buf_new(client->pool, 0);
	uint64_t newest = 0, horizon;
	size_t n;
	bool more;

	(void)registry_begin(client->registry, client->pool, &id, STR("tester"), &client->problem);
	// As a reader does who wants to go on from there: without it no page is remembered.
	if (horizon_advance(client->registry, &horizon, NULL) != OUTCOME_OK)
		return STR("no horizon");
	struct resource_query own = *query;
	own.type = type_called(client->registry, query->type->plural.p);
	own.newest = &newest;
	enum outcome outcome = resource_list(client->registry, &own, &list, &n, &more);
	buf_addf(&text, "%s %d %llu\n", outcome_name(outcome), more, (unsigned long long)newest);
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++)
		buf_add(&text, told(client, &list[i]));
	return buf_str(&text);
}

static struct str told_get(struct client *client, const char *tenant, const char *path)
{
	enum outcome outcome = client_do(client, &OP(GET, tenant, path));

	return outcome == OUTCOME_OK ? told(client, &client->resource) : str_c(outcome_name(outcome));
}

static bool same_page(void)
{
	struct resource_query query = {
		.tenant = str_c(some(tenants, COUNT_OF(tenants))),
		.all_tenants = roll(8) == 0,
		.type = type_called(here.registry, roll(5) == 0 ? "namespaces" : "configmaps"),
		.all_spaces = roll(2) == 0,
		.space = str_c(some(spaces, COUNT_OF(spaces))),
		.deleted = roll(8) == 0,
		.limit = roll(3) == 0 ? 1 + roll(5) : 100,
	};

	if (!query.type->namespaced) {
		query.space = STR("");
		query.all_spaces = false;
	}
	if (query.all_tenants)
		query.deleted = false;
	struct str mine = told_page(&here, &query), theirs = told_page(&plain, &query);
	if (!str_eq(mine, theirs))
		diag("remembered:\n%.*sread:\n%.*s", STR_ARG(mine), STR_ARG(theirs));
	return str_eq(mine, theirs);
}

static bool same_get(void)
{
	const char *tenant = some(tenants, COUNT_OF(tenants)), *path = roll(10) == 0 ? "pv1" : some_path();
	struct str mine = told_get(&here, tenant, path), theirs = told_get(&plain, tenant, path);

	if (!str_eq(mine, theirs))
		diag("%s %s\nremembered: %.*sread: %.*s", tenant, path, STR_ARG(mine), STR_ARG(theirs));
	return str_eq(mine, theirs);
}

static void test_same(void)
{
	enum { ROUNDS = 800 };
	bool same = true;
	unsigned round;

	for (round = 0; same && round < ROUNDS; round++) {
		if (roll(3) != 0)
			change_something();
		for (int i = 0; same && i < 3; i++)
			same = roll(2) == 0 ? same_get() : same_page();
		pool_clear(here.pool);
		pool_clear(plain.pool);
		pool_clear(other.pool);
	}
	ok(same, "after %u changes and three times as many readings both read the same", round);
	ok(resource_cache_size(here.registry->store->resource_cache) > 0 &&
		resource_cache_size(plain.registry->store->resource_cache) == 0, "one of them from memory");
	ok(page_cache_size(here.registry->store->page_cache) > 0 && page_cache_size(plain.registry->store->page_cache) == 0,
		"and what pages had");
}

int main(void)
{
	fixture_start();
	test_found();
	test_uid();
	test_answer();
	test_not_kept();
	test_bound();
	client_open(&other);
	uint64_t bytes = SET(server.config, registry)->resource_cache;
	SET(server.config, registry)->resource_cache = 0;
	client_open(&plain);
	SET(server.config, registry)->resource_cache = bytes;
	for (size_t i = 0; i < COUNT_OF(tenants); i++)
		(void)DO(PUT_TENANT, tenants[i]);
	test_get();
	test_crash();
	test_never_happened();
	test_moving();
	test_same();
	client_close(&plain);
	client_close(&other);
	return fixture_end();
}
