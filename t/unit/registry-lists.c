// SPDX-License-Identifier: Apache-2.0
// Lists: every item once and in byte order, whatever the names and the size of pages.
#include "base/base.h"

#include "registry-fixture.h"

// 255 characters of four bytes each.
static char longest[255 * 4 + 1];
static const char *names[] = { " ", "  x", "A", "B", "Z", "a", "a ", "a b", "a%", "ab", "a\xc3\xa4", "b", "z",
	"\xc3\xa4", "\xe2\x88\x91", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80 ", longest, longest + 4 };

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Pages through a list and compares it with what is expected.
static void pages(const char *what, struct resource_query query, const char *const *want, size_t n_want)
{
	size_t seen = 0, n;
	struct resource *list;
	bool more = true, same = true;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	for (int page = 0; more && page < 100; page++) {
		enum outcome outcome = resource_list(here.registry, &query, &list, &n, &more);

		if (outcome != OUTCOME_OK || n > query.limit || (more && n != query.limit)) {
			is_outcome(outcome, OUTCOME_OK, what);
			return;
		}
		for (size_t i = 0; i < n; i++, seen++) {
			struct str name = list[i].name;

			if (query.all_spaces)
				name = str_printf(here.pool, "%.*s/%.*s", STR_ARG(list[i].space), STR_ARG(name));
			same = same && seen < n_want && (query.deleted || str_eq_c(name, want[seen]));
		}
		if (n > 0)
			query.marker = resource_marker(here.pool, &query, &list[n - 1]);
	}
	ok(same && seen == n_want && !more, "%s: each once, in order, by %llu (%zu of %zu)", what,
		(unsigned long long)query.limit, seen, n_want);
}

static void all_sizes(const char *what, struct resource_query query, const char *const *want, size_t n_want)
{
	const uint64_t limits[] = { 1, 2, 7, n_want - 1, n_want, n_want + 1, 1000 };

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		query.limit = limits[i];
		pages(what, query, want, n_want);
	}
}

static void flat(void)
{
	struct resource_query query = { .tenant = STR("t"), .type = type_called(here.registry, "persistentvolumes") };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		EXPECT(CREATED, "made", PUT, "t", names[i]);
	all_sizes("a flat type", query, names, COUNT_OF(names));
	for (size_t i = 0; i < COUNT_OF(names); i++)
		EXPECT(OK, "found by its name", GET, "t", names[i]);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)DO(DELETE, "t", names[i]);
	query.deleted = true;
	all_sizes("the deleted ones", query, names, COUNT_OF(names));
	query.deleted = false;
	pages("nothing", query, NULL, 0);
}

static void spaces(void)
{
	enum { N = 6 };
	const char *const in[N] = { names[1], names[2], names[7], "default", names[15], longest };
	const char *paths[N * N];
	struct resource_query query = { .tenant = STR("u"), .type = type_called(here.registry, "configmaps"), .all_spaces = true };

	for (size_t i = 0; i < N; i++) {
		(void)DO(PUT, "u", str_printf(here.pool, "%s/", in[i]).p);
		for (size_t k = 0; k < N; k++) {
			paths[i * N + k] = str_printf(here.pool, "%s/%s", in[i], in[k]).p;
			(void)DO(PUT, "u", paths[i * N + k]);
		}
	}
	// A blank sorts before the slash: order is that of (namespace, name), not that of the path.
	all_sizes("all namespaces", query, paths, N * N);
	query.all_spaces = false;
	query.space = str_c(in[2]);
	all_sizes("one namespace", query, in, N);
	query.limit = 10;
	query.marker = STR("zzz");
	pages("behind a name that is not there", query, in + 4, 2);
	query.marker = str_c(in[2]);
	pages("behind one that is", query, in + 3, 3);
	query.marker = str_c(longest);
	pages("behind the last", query, NULL, 0);
}

static void refusals(void)
{
	struct resource *list;
	struct tenant_page page;
	size_t n;
	bool more;
	struct resource_query query = { .tenant = STR("u"), .type = type_called(here.registry, "configmaps"), .limit = 5 };

	query.space = STR("none");
	is_outcome(resource_list(here.registry, &query, &list, &n, &more), OUTCOME_NOT_FOUND, "a namespace that is not there");
	query.space = STR("default");
	query.deleted = true;
	query.marker = STR("x");
	is_outcome(resource_list(here.registry, &query, &list, &n, &more), OUTCOME_BAD_PARAMETER, "a marker that is no uid");
	query.tenant = STR("none");
	query.marker = STR_NONE;
	is_outcome(resource_list(here.registry, &query, &list, &n, &more), OUTCOME_NOT_FOUND, "a tenant that is not there");
	(void)DO(DELETE_TENANT, "u");
	query.tenant = STR("u");
	is_outcome(resource_list(here.registry, &query, &list, &n, &more), OUTCOME_GONE, "a deleted tenant");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)DO(PUT_TENANT, names[i]);
	struct str marker = STR_NONE;
	size_t seen = 0;
	do {
		is_outcome(tenant_list(here.registry, here.pool, TENANTS_LIVE, marker, 4, &page), OUTCOME_OK, "a page of tenants");
		for (size_t i = 0; i < page.n; i++)
			seen += seen < COUNT_OF(names) && str_eq_c(page.list[i].name, names[seen]) ? 1 : 0;
		marker = page.n > 0 ? page.list[page.n - 1].name : marker;
	} while (page.more);
	is_int((long long)seen, COUNT_OF(names), "all tenants, in order");
	is_outcome(tenant_list(here.registry, here.pool, TENANTS_DELETED, STR_NONE, 4, &page), OUTCOME_OK, "deleted tenants");
	ok(page.n == 1 && !page.more && str_eq_c(page.list[0].name, "u"), "the one that is");
}

int main(void)
{
	for (size_t i = 0; i < 255; i++)
		memcpy(longest + 4 * i, "\xf0\x9f\x98\x81", 4);
	fixture_start();
	qsort(names, COUNT_OF(names), sizeof(names[0]), by_bytes);
	(void)DO(PUT_TENANT, "t");
	(void)DO(PUT_TENANT, "u");
	flat();
	spaces();
	(void)DO(DELETE_TENANT, "t");
	server_sql("UPDATE tenants SET purge_at = '2000-01-01' WHERE name = 't';");
	refusals();
	is_sound("at the end");
	return fixture_end();
}
