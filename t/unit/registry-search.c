// SPDX-License-Identifier: Apache-2.0
// Searching: what is found, in which order, page by page; and that it reads no more than it has to.
#include "base/base.h"

#include "base/budget.h"
#include "registry-baremetal.h"

// What the store is to have: numbers are uids, in order of creation.
struct thing {
	unsigned number;
	const char *tenant, *driver, *rack; // NULL: the member is null
	bool maintenance;
};
enum { N = 40 };
static struct thing things[N];
static const char *const drivers[] = { NULL, "ipmi", "redfish", "IPMI", "ip%mi", "ip_mi", "ip\\mi", "\xc3\xa4", "true" };
static const char *const tenants[] = { "a", "b", "system" };

static void make(struct thing *thing)
{
	struct buf body = buf_new(here.pool, 256);

	buf_addf(&body, "{\"name\":\"n%u\",\"maintenance\":%s,\"extra\":{},\"driver\":", thing->number,
		thing->maintenance ? "true" : "false");
	if (thing->driver == NULL)
		BUF_LIT(&body, "null");
	else
		json_add_string(&body, str_c(thing->driver));
	if (thing->rack != NULL)
		buf_addf(&body, ",\"rack\":\"%s\"", thing->rack);
	BUF_LIT(&body, "}");
	DEED(CREATED, "a node", MAKE, thing->tenant, "nodes", thing->number, str_cstr(here.pool, buf_str(&body)));
}

static void fill(void)
{
	for (unsigned i = 0; i < N; i++) {
		// Uids in another order than that of creation.
		things[i] = (struct thing){ i * 17 % N + 1, tenants[i % 3], drivers[i * 5 % COUNT_OF(drivers)],
			i % 4 == 0 ? "r1" : i % 4 == 1 ? "r10" : NULL, i % 7 == 0 };
		make(&things[i]);
	}
	EXPECT(CREATED, "a tenant that goes", PUT_TENANT, "gone", NULL);
	DEED(CREATED, "with a node", MAKE, "gone", "nodes", 0x100, "{\"name\":\"x\",\"driver\":\"ipmi\"}");
	EXPECT(NO_CONTENT, "it goes", DELETE_TENANT, "gone", NULL);
	DEED(CREATED, "a node", MAKE, "a", "nodes", 0x101, "{\"name\":\"y\",\"driver\":\"ipmi\"}");
	DEED(NO_CONTENT, "that goes", REMOVE, "a", "nodes", 0x101);
}

// ---- what is expected

static const struct resource_search *sorting;

static bool meets(const struct thing *thing, const struct search_condition *condition)
{
	bool driver = strcmp(condition->member, "driver") == 0;
	const char *text = driver ? thing->driver : NULL;

	switch (condition->test) {
	case SEARCH_IS:
		return text != NULL && str_eq_c(condition->value, text);
	case SEARCH_CONTAINS:
		return text != NULL && memmem(text, strlen(text), condition->value.p, condition->value.n) != NULL;
	case SEARCH_TRUE:
		return !driver && thing->maintenance;
	case SEARCH_FALSE:
		return !driver && !thing->maintenance;
	case SEARCH_NULL:
		return driver && text == NULL;
	default:
		return !driver || text != NULL;
	}
}

static bool wanted(const struct resource_search *search, const struct thing *thing)
{
	if (search->tenant.p != NULL && !str_eq_c(search->tenant, thing->tenant))
		return false;
	if (search->key_kind != NULL) {
		struct str key = str_printf(here.pool, "%s %.*s", thing->rack != NULL ? thing->rack : "",
			UUID_ARG(here.pool, uid_of(thing->number)));
		if (thing->rack == NULL || !str_starts(key, search->key_prefix))
			return false;
	}
	if (search->root != NULL && !uuid_eq(*search->root, uid_of(thing->number)))
		return false;
	for (size_t i = 0; i < search->n_conditions; i++)
		if (!meets(thing, &search->conditions[i]))
			return false;
	return true;
}

static const char *key_of(const struct thing *thing)
{
	if (strcmp(sorting->sort, "driver") == 0)
		return thing->driver;
	if (strcmp(sorting->sort, "maintenance") == 0)
		return thing->maintenance ? "1" : "0";
	if (strcmp(sorting->sort, "owner") == 0)
		return strcmp(thing->tenant, "system") == 0 ? NULL : thing->tenant;
	if (strcmp(sorting->sort, "uuid") == 0)
		return str_cstr(here.pool, uuid_str(here.pool, uid_of(thing->number)));
	return NULL; // updated_at: none was changed
}

static int in_order(const void *left, const void *right)
{
	const struct thing *a = *(const struct thing *const *)left, *b = *(const struct thing *const *)right;
	int by_id = a < b ? -1 : 1, turn = sorting->descending ? -1 : 1;

	if (sorting->sort == NULL || strcmp(sorting->sort, "created_at") == 0)
		return by_id * turn;
	const char *x = key_of(a), *y = key_of(b);
	int by_key = x == NULL || y == NULL ? (x != NULL) - (y != NULL) : strcmp(x, y);
	return (by_key != 0 ? by_key : by_id) * turn;
}

static size_t expect(const struct resource_search *search, const struct thing **want)
{
	size_t n = 0;

	for (size_t i = 0; i < N; i++)
		if (wanted(search, &things[i]))
			want[n++] = &things[i];
	sorting = search;
	qsort(want, n, sizeof(*want), in_order);
	return n;
}

// ---- what is found

static void begin(void)
{
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	(void)type_of(&here, "nodes");
}

// A page as a visit collects it: uids and tenants, since the resources are gone behind the visit.
struct page {
	struct {
		struct uuid uid;
		struct str tenant;
	} found[N + 4];
	size_t n;
	size_t most; // the visit ends the page behind so many; 0: it does not
	size_t held; // the most resources that it was given at once
	bool more;
};

static size_t collect(void *arg, const struct resource *list, size_t n)
{
	struct page *page = arg;
	size_t i = 0;

	page->held = n > page->held ? n : page->held;
	for (; i < n && (page->most == 0 || page->n < page->most); i++) {
		page->found[page->n].uid = list[i].uid;
		page->found[page->n++].tenant = str_dup(here.pool, list[i].tenant);
	}
	return i;
}

static enum outcome search_page(const struct resource_search *search, struct page *page)
{
	struct search_visit visit = { collect, page, pool_scratch(here.pool, SIZE_MAX) };

	page->n = page->held = 0;
	return resource_search(here.registry, search, &visit, &page->more);
}

static bool same_page(const struct page *page, const struct thing *const *want, size_t n_want, size_t seen)
{
	bool same = seen + page->n <= n_want;

	for (size_t i = 0; same && i < page->n; i++)
		same = uuid_eq(page->found[i].uid, uid_of(want[seen + i]->number)) &&
		       str_eq_c(page->found[i].tenant, want[seen + i]->tenant);
	return same;
}

static void pages(struct resource_search search, const char *what)
{
	const struct thing *want[N];
	size_t n_want = expect(&search, want), seen = 0;
	struct page found = { .more = true };
	bool same = true;
	struct uuid last;

	begin();
	for (int page = 0; found.more && same && page < 100; page++) {
		enum outcome outcome = search_page(&search, &found);
		if (outcome != OUTCOME_OK)
			is_outcome(outcome, OUTCOME_OK, what);
		same = outcome == OUTCOME_OK && found.n <= search.limit && (!found.more || found.n == search.limit) &&
		       same_page(&found, want, n_want, seen);
		seen += found.n;
		if (found.n > 0)
			last = found.found[found.n - 1].uid;
		search.marker = &last;
	}
	ok(same && !found.more && seen == n_want, "%s, by %llu: each once, in order (%zu of %zu)", what,
		(unsigned long long)search.limit, seen, n_want);
}

static void all_orders(struct resource_search search, const char *what)
{
	static const char *const sorts[] = { NULL, "driver", "maintenance", "owner", "uuid", "created_at", "updated_at" };
	static const uint64_t limits[] = { 1, 3, N - 1, 1000 };

	search.type = type_of(&here, "nodes");
	for (size_t i = 0; i < COUNT_OF(sorts) * COUNT_OF(limits) * 2; i++) {
		char name[100];
		search.sort = sorts[i / 2 % COUNT_OF(sorts)];
		search.descending = i % 2 == 1;
		search.limit = limits[i / 2 / COUNT_OF(sorts)];
		(void)snprintf(name, sizeof(name), "%s, %s%s", what, search.sort != NULL ? search.sort : "as made",
			search.descending ? ", turned around" : "");
		pages(search, name);
	}
}

static void conditions(void)
{
	static const enum search_test tests[] = { SEARCH_TRUE, SEARCH_FALSE, SEARCH_NULL, SEARCH_NOT_NULL };
	struct resource_search search = { .type = type_of(&here, "nodes"), .limit = 5, .n_conditions = 1 };
	struct search_condition *condition = &search.conditions[0];
	static const char *const values[] = { "ipmi", "IPMI", "ip%mi", "ip_mi", "ip\\mi", "%", "_", "\\", "", "ipm", "mi", "true", "1",
		"null", "{}", "' OR 1 = 1 -- ", "\xc3\xa4", "\"", "ipmi " };

	for (size_t i = 0; i < 2 * COUNT_OF(values); i++) {
		char name[100];
		*condition = (struct search_condition){ "driver", i % 2 == 0 ? SEARCH_IS : SEARCH_CONTAINS, str_c(values[i / 2]) };
		(void)snprintf(name, sizeof(name), "driver %s \"%s\"", i % 2 == 0 ? "is" : "contains", values[i / 2]);
		pages(search, name);
	}
	for (size_t i = 0; i < 2 * COUNT_OF(tests); i++) {
		char name[100];
		*condition = (struct search_condition){ i % 2 == 0 ? "driver" : "maintenance", tests[i / 2], STR("") };
		(void)snprintf(name, sizeof(name), "%s: test %d", condition->member, (int)tests[i / 2]);
		pages(search, name);
	}
	*condition = (struct search_condition){ "maintenance", SEARCH_IS, STR("1") };
	pages(search, "a boolean is no string");
	*condition = (struct search_condition){ "missing", SEARCH_NULL, STR("") };
	begin();
	struct page found = { 0 };
	is_outcome(search_page(&search, &found), OUTCOME_OK, "a member that is not there");
	ok(found.n == 5 && found.more, "is null");
	condition->member = "extra";
	is_outcome(search_page(&search, &found), OUTCOME_OK, "an object");
	ok(found.n == 0 && !found.more, "is not");
}

static void markers(void)
{
	struct uuid nobody = uid_of(0x7777), other = uid_of(things[1].number), gone = uid_of(0x101);
	struct resource_search search = { .type = type_of(&here, "nodes"), .tenant = STR("a"), .limit = 5, .marker = &nobody };
	struct page found = { 0 };

	begin();
	is_outcome(search_page(&search, &found), OUTCOME_NOT_FOUND, "an unknown marker");
	search.marker = &other;
	is_outcome(search_page(&search, &found), OUTCOME_OK, "another tenant's, which was this one's");
	search.marker_tenant = STR("a");
	is_outcome(search_page(&search, &found), OUTCOME_NOT_FOUND, "another tenant's, which must not be seen");
	search.marker = &gone;
	is_outcome(search_page(&search, &found), OUTCOME_OK, "one that was deleted since");
	is_int((long long)found.n, 0, "was the last");
	search.descending = true;
	is_outcome(search_page(&search, &found), OUTCOME_OK, "or the first");
	is_int((long long)found.n, 5, "is followed by others");
}

static void ways(void)
{
	struct resource_search search = { 0 };
	struct uuid root = uid_of(things[6].number);

	all_orders(search, "all");
	search.conditions[search.n_conditions++] = (struct search_condition){ "maintenance", SEARCH_FALSE, STR("") };
	search.conditions[search.n_conditions++] = (struct search_condition){ "driver", SEARCH_CONTAINS, STR("mi") };
	all_orders(search, "two conditions");
	search.tenant = STR("b");
	all_orders(search, "two of a tenant's");
	search.n_conditions = 0;
	all_orders(search, "a tenant's");
	search.key_kind = "rack";
	search.key_prefix = STR("r1 ");
	all_orders(search, "a tenant's in a rack");
	search.tenant = STR_NONE;
	all_orders(search, "in a rack");
	search.key_prefix = STR("r%");
	all_orders(search, "in none");
	search.key_kind = NULL;
	search.root = &root;
	all_orders(search, "of a tree");
	search.tenant = STR("b");
	all_orders(search, "of another's tree");
	search.key_kind = "rack";
	search.key_prefix = STR("");
	all_orders(search, "of a tree in a rack");
}

// ---- large documents

static size_t collect_slowly(void *arg, const struct resource *list, size_t n)
{
	while (!budget_is_half_used())
		budget_work(1000);
	return collect(arg, list, n);
}

struct slow_search {
	const struct resource_search *search;
	struct page *page;
	enum outcome outcome;
};

// Uses half of the CPU time at the first piece.
static void run_slowly(void *arg)
{
	struct slow_search *slow = arg;
	struct search_visit visit = { collect_slowly, slow->page, pool_scratch(here.pool, SIZE_MAX) };

	slow->page->n = 0;
	slow->outcome = resource_search(here.registry, slow->search, &visit, &slow->page->more);
}

// Pretends that each node has 3 MiB.
static void large(void)
{
	struct resource_search search = { .type = type_of(&here, "nodes"), .limit = 20, .sort = "uuid" };
	struct page found = { .most = 7 };

	server_sql("UPDATE resources SET bytes = 3 << 20 WHERE live = 1");
	begin();
	is_outcome(search_page(&search, &found), OUTCOME_OK, "a page of large documents");
	ok(found.n == 7 && found.more, "its reader ends it where it wants: behind %zu", found.n);
	found.most = 0;
	is_outcome(search_page(&search, &found), OUTCOME_OK, "a page that its reader does not end");
	ok(found.n == 20 && found.more, "has as many as were asked for: %zu", found.n);
	is_int((long long)found.held, 1, "though one is held at a time");
	struct slow_search slow = { &search, &found, OUTCOME_INTERNAL };
	search.limit = 1000;
	budget_grant(0, 1000 * 1000);
	ok(budget_guard(run_slowly, &slow) == BUDGET_KEPT, "a page that takes too long");
	budget_end();
	is_outcome(slow.outcome, OUTCOME_OK, "is answered");
	ok(found.n == 1 && found.more, "and ends early: behind %zu", found.n);
	search.marker = &found.found[0].uid;
	is_outcome(search_page(&search, &found), OUTCOME_OK, "the next page");
	ok(found.n == N - 1 && !found.more, "has the rest: %zu", found.n);
}

// ---- how much is read

static long long status(const char *names)
{
	char text[512];
	static struct test_query queries[2];
	static char texts[2][512];
	struct db_rows rows;

	(void)snprintf(text, sizeof(text), "SELECT CAST(SUM(variable_value) AS INT) FROM information_schema.session_status "
					   "WHERE variable_name IN (%s)", names);
	size_t i = texts[0][0] == '\0' || strcmp(texts[0], text) == 0 ? 0 : 1; // a query's address is its key
	memcpy(texts[i], text, sizeof(text));
	queries[i].sql = texts[i];
	queries[i].in = "";
	queries[i].out = "i";
	return db_run(here.db, here.pool, test_query(&queries[i]), NULL, &rows) == DB_OK ? db_at(&rows, 0, 0)->i : -1;
}

static long long rows_read(void)
{
	return status("'handler_read_key', 'handler_read_next', 'handler_read_prev', 'handler_read_rnd', 'handler_read_rnd_next'");
}

static void reads(struct resource_search search, long long most, long long most_sorted, const char *what)
{
	struct page found = { 0 };

	search.type = type_of(&here, "nodes");
	search.limit = 10;
	for (int i = 0; i < 2; i++) {
		search.descending = i == 1;
		begin();
		(void)search_page(&search, &found); // prepares
		long long sorted = status("'sort_rows'");
		long long asking = rows_read(), before = rows_read();
		asking = before - asking;
		is_outcome(search_page(&search, &found), OUTCOME_OK, what);
		long long read = rows_read() - before - asking;
		sorted = status("'sort_rows'") - sorted;
		is_int((long long)found.n, 10, "%s: a page", what);
		ok(read <= most && sorted <= most_sorted, "%s%s reads %lld rows and sorts %lld (at most %lld, %lld)", what,
			i == 1 ? ", turned around," : "", read, sorted, most, most_sorted);
	}
}

// 40 tenants and 600 racks with 40,000 nodes; as much of other types.
static void fill_much(void)
{
	server_sql("SET @n = (SELECT id FROM types WHERE plural = 'nodes' AND group_name <> '');\n"
		   "SET @p = (SELECT id FROM types WHERE plural = 'ports');\n"
		   "INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) SELECT "
		   "CONCAT('t', seq), UNHEX(MD5(CONCAT('t', seq))), 1, '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) "
		   "FROM seq_1_to_40;\n"
		   "INSERT INTO tenant_counts (tenant_id, resources) SELECT id, 0 FROM tenants WHERE name LIKE 't%';\n"
		   "INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, "
		   "meta, body, created_at, updated_at, root) SELECT UNHEX(MD5(seq)), (SELECT id FROM tenants WHERE name = CONCAT('t', "
		   "1 + seq DIV 4 % 40)), IF(seq % 2 = 0, @n, @p), '', LOWER(MD5(seq)), 1, 40, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', "
		   "CONCAT('{\"driver\":\"', IF(seq % 10 < 8, 'ipmi', 'redfish'), '\"}'), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), "
		   "CONCAT(UNHEX(LPAD(HEX(@n), 8, '0')), UNHEX(MD5(seq DIV 1000))) FROM seq_0_to_79999;\n"
		   "INSERT INTO resource_aliases (resource_id, kind, type_id, value) SELECT id, 'rack', @n, CONCAT('k', id % 600, ' ', name) "
		   "FROM resources WHERE type_id = @n AND bytes = 40;\n"
		   "ANALYZE TABLE tenants, tenant_counts, resources, resource_aliases;");
}

static void much(void)
{
	struct resource_search search = { 0 };
	struct uuid root;

	(void)uuid_parse(STR("c4ca4238-a0b9-2382-0dcc-509a6f75849b"), &root); // MD5 of 1
	reads(search, 60, 0, "all");
	search.n_conditions = 1;
	search.conditions[0] = (struct search_condition){ "driver", SEARCH_IS, STR("ipmi") };
	reads(search, 90, 0, "a condition that most meet");
	search.tenant = STR("t7");
	reads(search, 70, 0, "of a tenant");
	search.n_conditions = 0;
	reads(search, 50, 0, "all of a tenant");
	search.tenant = STR_NONE;
	search.root = &root;
	reads(search, 90, 0, "of a tree");
	search.root = NULL;
	search.key_kind = "rack";
	search.key_prefix = STR("k7 ");
	reads(search, 250, 140, "in a rack"); // 134 are in it
}

int main(void)
{
	fixture_start();
	for (size_t i = 0; i < COUNT_OF(tenants); i++)
		EXPECT(CREATED, "a tenant", PUT_TENANT, tenants[i], NULL);
	fill();
	ways();
	conditions();
	markers();
	large();
	fill_much();
	much();
	return fixture_end();
}
