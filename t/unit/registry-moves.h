// SPDX-License-Identifier: Apache-2.0
// What the tests of moves share: three tenants with resources, and rows that a move writes, as text.
#ifndef TENURE_T_UNIT_REGISTRY_MOVES_H
#define TENURE_T_UNIT_REGISTRY_MOVES_H

#include "registry-rows.h"

// What the last request wrote into the log, ordered by path: within one statement the database chooses the order.
static struct str log_of_last(void)
{
	struct buf hex = buf_new(here.pool, 64);

	buf_add_hex(&hex, uuid_bytes(&here.request_id).p, 16);
	return sql_text(str_cstr(here.pool, str_printf(here.pool,
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', verb, " TENANT("x.from_tenant_id") ", " TENANT("x.tenant_id") ", " PATH("x") ", revision, "
		"IF(etag_after IS NULL, 'none', IF(etag_before = etag_after, 'same', 'other')), moves, actor, "
		"(SELECT IF(r.changed = x.id AND r.uid = x.uid, 'last', 'stale') FROM resources r WHERE r.id = x.resource_id)) "
		"ORDER BY " PATH("x") ", x.id SEPARATOR '; ') FROM changes x WHERE request_id = x'%.*s'", STR_ARG(hex))));
}

// The last move's record.
static struct str recorded(void)
{
	struct buf hex = buf_new(here.pool, 64);

	buf_add_hex(&hex, uuid_bytes(&here.request_id).p, 16);
	return sql_text(str_cstr(here.pool, str_printf(here.pool,
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', " TENANT("m.source_id") ", " TENANT("m.dest_id") ", "
		"COALESCE((SELECT r.name FROM resources r WHERE r.id = m.resource_id), 'all'), state, "
		"IF(if_match IS NULL, 'plain', 'conditional'), words, actor, resources, IF(finished_at IS NULL, 'open', "
		"IF(finished_at = created_at, 'at once', 'later')), outcome, detail)) FROM moves m WHERE uid = x'%.*s'", STR_ARG(hex))));
}

// Tenants a, b and c have resources of the same names, some of them deleted.
static void fill(void)
{
	static const char *const of_a[] = { "n1/", "n1/c1", "n1/c2", "n2/", "n2/c1", "default/d1", "pv1", "pv2" };
	static const char *const of_b[] = { "n1/", "n1/c9", "pv9" };
	static const char *const of_c[] = { "n1/", "n1/c1", "n2/", "n2/c1", "default/d1", "pv1", "pv2" };
	static const char *const gone[] = { "n2/", "n1/c1", "pv1" };

	server_sql("INSERT INTO tiers (name, max_resources) VALUES ('nine', 9), ('ten', 10);");
	EXPECT(CREATED, "a", PUT_TENANT, "a");
	EXPECT(CREATED, "b", PUT_TENANT, "b");
	EXPECT(CREATED, "c", PUT_TENANT, "c");
	for (size_t i = 0; i < COUNT_OF(of_c); i++)
		EXPECT(CREATED, of_c[i], PUT, "c", of_c[i], .body = "{\"of\":\"c\"}");
	for (size_t i = 0; i < COUNT_OF(of_b); i++)
		EXPECT(CREATED, of_b[i], PUT, "b", of_b[i], .body = "{\"of\":\"b\"}");
	for (size_t i = 0; i < COUNT_OF(gone); i++) {
		EXPECT(CREATED, gone[i], PUT, "b", gone[i]);
		EXPECT(NO_CONTENT, gone[i], DELETE, "b", gone[i]);
	}
	for (size_t i = 0; i < COUNT_OF(of_a); i++)
		EXPECT(CREATED, of_a[i], PUT, "a", of_a[i], .body = "{\"of\":\"a\"}");
	EXPECT(CREATED, "something", PUT, "a", "gone");
	EXPECT(NO_CONTENT, "that is deleted", DELETE, "a", "gone");
}

#endif
