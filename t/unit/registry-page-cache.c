// SPDX-License-Identifier: Apache-2.0
// What a worker remembers of pages: bounded, not asked about where it is of no use, and never told where something has
// changed. registry-resource-cache.c compares one who remembers with one who does not, whatever happens.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/cache/page_cache.h"
#include "registry/log/horizon.h"

// ---- by itself

static struct page_key key_of(const char *tenant, const char *space, const char *marker, uint64_t limit)
{
	return (struct page_key){ .tenant = str_c(tenant), .type_id = 7, .space = str_c(space), .marker = str_c(marker),
		.limit = limit };
}

static const struct page_item items[] = { { 1, 11, 100 }, { 2, 12, 200 }, { 3, 13, 300 } };

static void test_keys(void)
{
	struct page_cache *page_cache = page_cache_new(100000);
	const struct page_key keys[] = { key_of("t", "s", "m", 5), key_of("u", "s", "m", 5), key_of("t", "s2", "m", 5),
		key_of("t", "s", "n", 5), key_of("t", "s", "m", 6), key_of("t", "sm", "", 5),
		{ .tenant = STR("t"), .type_id = 8, .space = STR("s"), .marker = STR("m"), .limit = 5 },
		{ .tenant = STR("t"), .type_id = 7, .all_spaces = true, .space = STR("s"), .marker = STR("m"), .limit = 5 } };

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		page_cache_add(page_cache, &keys[i], &(struct known_page){ i, 100 + i, 3, items }, 0);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const struct known_page *page = page_cache_find(page_cache, &keys[i], 1);
		ok(page != NULL && page->tenant_id == i && page->complete == 100 + i && page->n == 3 &&
			memcmp(page->items, items, sizeof(items)) == 0, "page %zu is found by all of its key", i);
	}
	ok(page_cache_find(page_cache, &keys[0], PAGES_MAX_AGE_US + 1) == NULL, "not when it is old");
	uint64_t size = page_cache_size(page_cache);
	page_cache_add(page_cache, &keys[0], &(struct known_page){ 9, 900, 3, items }, 5);
	ok(page_cache_find(page_cache, &keys[0], 6)->complete == 900 && page_cache_size(page_cache) == size,
		"the newer in its place");
	page_cache_free(&page_cache);
	page_cache = page_cache_new(0);
	page_cache_add(page_cache, &keys[0], &(struct known_page){ 1, 1, 3, items }, 0);
	ok(page_cache_find(page_cache, &keys[0], 0) == NULL && page_cache_size(page_cache) == 0,
		"without memory it remembers nothing");
	page_cache_free(&page_cache);
}

static void test_bound(void)
{
	enum { MAX = 4000 };
	struct page_cache *page_cache = page_cache_new(MAX);
	bool within = true, asked = true;
	const struct page_key first = key_of("t", "first", "", 5);

	page_cache_add(page_cache, &first, &(struct known_page){ 1, 1, 3, items }, 0);
	for (int i = 0; i < 200; i++) {
		const struct page_key key = key_of("t", str_printf(here.pool, "s%d", i).p, "", 5);
		page_cache_add(page_cache, &key, &(struct known_page){ 1, 1, 3, items }, 0);
		within = within && page_cache_size(page_cache) <= MAX;
		asked = asked && page_cache_find(page_cache, &first, 0) != NULL;
	}
	ok(within && page_cache_size(page_cache) > MAX / 2, "as much as it may, and no more");
	ok(asked, "what is asked for stays");
	const struct page_key last = key_of("t", "s199", "", 5), gone = key_of("t", "s100", "", 5);
	ok(page_cache_find(page_cache, &last, 0) != NULL && page_cache_find(page_cache, &gone, 0) == NULL,
		"what is not goes first");
	struct page_item *many = pool_alloc(here.pool, 1000 * sizeof(*many));
	memset(many, 0, 1000 * sizeof(*many));
	page_cache_add(page_cache, &last, &(struct known_page){ 1, 1, 1000, many }, 0);
	ok(page_cache_find(page_cache, &last, 0) == NULL && page_cache_size(page_cache) > 0,
		"one that is too large is not kept, nor what it was");
	page_cache_free(&page_cache);
	page_cache = page_cache_new(UINT64_MAX);
	for (int i = 0; i < 2 * PAGES_MAX; i++) {
		const struct page_key key = key_of("t", str_printf(here.pool, "s%d", i).p, "", 5);
		page_cache_add(page_cache, &key, &(struct known_page){ 1, 1, 3, items }, 0);
	}
	ok(page_cache_find(page_cache, &last, 0) == NULL, "so many pages are enough");
	page_cache_free(&page_cache);
}

// How often it is found in that many lists, each of which finds that it has changed.
static int found_in_vain(struct page_cache *page_cache, const struct page_key *key, int lists)
{
	int n = 0;

	for (int i = 0; i < lists; i++) {
		if (page_cache_find(page_cache, key, 0) != NULL) {
			page_cache_note_use(page_cache, false);
			n++;
		}
		page_cache_add(page_cache, key, &(struct known_page){ 1, 1, 3, items }, 0);
	}
	return n;
}

static void test_doubt(void)
{
	struct page_cache *page_cache = page_cache_new(100000);
	const struct page_key key = key_of("t", "s", "", 5);

	page_cache_add(page_cache, &key, &(struct known_page){ 1, 1, 3, items }, 0);
	int n = found_in_vain(page_cache, &key, 320);
	ok(n >= 10 && n <= 16, "where it always changes it is seldom asked: %d times", n);
	while (page_cache_find(page_cache, &key, 0) == NULL)
		continue;
	page_cache_note_use(page_cache, true);
	ok(page_cache_find(page_cache, &key, 0) != NULL, "once it has not, it is asked each time");
	page_cache_note_use(page_cache, true);
	ok(page_cache_find(page_cache, &key, 0) != NULL, "again");
	page_cache_free(&page_cache);
}

// ---- with the database

enum { OBJECTS = 40 };

static struct client other;

// Names and contents of the page; "?" in front when it was gone through.
static const char *page(const char *tenant)
{
	static const struct test_query rows_read = {
		"SELECT CAST(VARIABLE_VALUE AS UNSIGNED) FROM information_schema.SESSION_STATUS "
		"WHERE VARIABLE_NAME = 'HANDLER_READ_NEXT'", "", "u"
	};
	uint64_t horizon, newest = 0;
	struct resource_query query = { .tenant = str_c(tenant), .type = type_called(here.registry, "configmaps"),
		.space = STR("default"), .limit = 100, .newest = &newest };
	struct buf text = buf_new(here.pool, 0);
	struct db_rows before, after;
	struct resource *list;
	struct uuid id = uuid_new();
	size_t n = 0;
	bool more;

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	if (horizon_advance(here.registry, &horizon, NULL) != OUTCOME_OK ||
		db_run(here.db, here.pool, test_query(&rows_read), NULL, &before) != DB_OK)
		bail_out("no horizon");
	enum outcome outcome = resource_list(here.registry, &query, &list, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome_name(outcome);
	if (db_run(here.db, here.pool, test_query(&rows_read), NULL, &after) != DB_OK)
		bail_out("no status");
	if (db_at(&after, 0, 0)->u - db_at(&before, 0, 0)->u >= n / 2)
		buf_addc(&text, '?');
	for (size_t i = 0; i < n; i++) {
		if (str_eq(list[i].name, str_printf(here.pool, "c%02zu", i)) && str_eq(list[i].body, STR("{}")))
			continue;
		buf_addf(&text, " %.*s=%.*s", STR_ARG(list[i].name), STR_ARG(list[i].body));
	}
	buf_addf(&text, " (%zu)", n);
	return str_cstr(here.pool, buf_str(&text));
}

static void is_page(const char *tenant, const char *want, const char *what)
{
	is_str(str_c(page(tenant)), want, "%s", what);
}

// As often as it takes to believe in a page that has changed.
static void read_often(const char *tenant)
{
	for (int i = 0; i < 70; i++)
		(void)page(tenant);
}

// Until it is remembered.
static void settle(const char *tenant)
{
	for (int i = 0; page(tenant)[0] == '?' && i < 100; i++)
		pool_clear(here.pool);
}

#define ELSEWHERE(want, what, ...) is_outcome(client_do(&other, &OP(__VA_ARGS__)), OUTCOME_##want, what)

static void test_changes(void)
{
	for (int i = 0; i < OBJECTS; i++)
		(void)DO(PUT, "p", str_printf(here.pool, "default/c%02d", i).p);
	is_page("p", "? (40)", "read");
	settle("p");
	is_page("p", " (40)", "remembered");
	ELSEWHERE(CREATED, "something in another tenant", PUT, "q", "default/c00");
	is_page("p", " (40)", "is nothing here");
	ELSEWHERE(OK, "changed", PUT, "p", "default/c07", .body = "{\"data\":{}}");
	is_page("p", "? c07={\"data\":{}} (40)", "told");
	settle("p");
	is_page("p", " c07={\"data\":{}} (40)", "and remembered");
	ELSEWHERE(NO_CONTENT, "deleted", DELETE, "p", "default/c39");
	is_page("p", "? c07={\"data\":{}} (39)", "not there");
	settle("p");
	ELSEWHERE(NO_CONTENT, "brought back", RECOVER, "p", "default/c39");
	is_page("p", "? c07={\"data\":{}} (40)", "there");
	settle("p");
	ELSEWHERE(SEE_OTHER, "moved away", MOVE, "p", "default/c39", .dest = "q");
	is_page("p", "? c07={\"data\":{}} (39)", "not there, though the change is the other's");
	settle("p");
	ELSEWHERE(SEE_OTHER, "moved back", MOVE, "q", "default/c39", .dest = "p");
	is_page("p", "? c07={\"data\":{}} (40)", "there");
	settle("p");
	ELSEWHERE(NO_CONTENT, "its tenant deleted", DELETE_TENANT, "p");
	is_page("p", "gone", "gone with it");
	ELSEWHERE(NO_CONTENT, "brought back", RECOVER_TENANT, "p");
	is_page("p", "? c07={\"data\":{}} (40)", "there");
	settle("p");
	is_page("p", " c07={\"data\":{}} (40)", "and remembered");
}

static void test_log_emptied(void)
{
	settle("p");
	server_sql("DELETE FROM changes");
	is_page("p", "? c07={\"data\":{}} (40)", "where the log was emptied it is gone through");
	ELSEWHERE(OK, "the log goes on", PUT, "p", "default/c07");
	is_page("p", "? (40)", "told");
	settle("p");
	is_page("p", " (40)", "and remembered");
	ELSEWHERE(OK, "a change", PUT, "p", "default/c07", .body = "{\"data\":{}}");
	server_sql("DELETE FROM changes");
	ELSEWHERE(OK, "and another tenant's", PUT, "q", "default/c00", .body = "{\"data\":{}}");
	is_page("p", "? c07={\"data\":{}} (40)", "the log has more, but not all");
	ELSEWHERE(OK, "back", PUT, "p", "default/c07");
}

// One of the same name has nothing of what the other had.
static void test_purged(void)
{
	settle("p");
	is_page("p", " c00={\"data\":{\"n\":\"1\"}} c01={\"data\":{\"n\":\"2\"}} (40)", "remembered");
	server_sql("UPDATE tenants SET live = NULL WHERE name = 'p'");
	is_outcome(DO(PUT_TENANT, "p"), OUTCOME_CREATED, "a tenant of that name");
	is_page("p", "? (0)", "has none");
}

// While a change with a smaller number is not yet committed, another is, and the page is read.
static void read_meanwhile(void)
{
	is_outcome(DO(PUT, "p", "default/c01", .body = "{\"data\":{\"n\":\"2\"}}"), OUTCOME_OK, "changed meanwhile");
	read_often("p");
	is_page("p", "? c01={\"data\":{\"n\":\"2\"}} (40)", "what may still come to light keeps it from being remembered");
}

static void test_open(void)
{
	struct op put = OP(PUT, "p", "default/c00", .body = "{\"data\":{\"n\":\"1\"}}");

	put.before_commit = read_meanwhile;
	settle("p");
	is_outcome(client_do(&other, &put), OUTCOME_OK, "changed");
	is_page("p", "? c00={\"data\":{\"n\":\"1\"}} c01={\"data\":{\"n\":\"2\"}} (40)",
		"and told, though its number is smaller");
}

int main(void)
{
	fixture_start();
	test_keys();
	test_bound();
	test_doubt();
	client_open(&other);
	(void)DO(PUT_TENANT, "p");
	(void)DO(PUT_TENANT, "q");
	test_changes();
	test_log_emptied();
	test_open();
	test_purged();
	client_close(&other);
	return fixture_end();
}
