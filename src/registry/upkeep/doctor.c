// SPDX-License-Identifier: Apache-2.0
// The invariants, each as one statement that finds what breaks it; those that concern keyed hashes are computed here.
#include "base/base.h"

#include "registry/upkeep/doctor.h"

#include "base/pool.h"
#include "registry/core/internal.h"
#include "registry/tags/etag.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"

enum { ROWS_AT_ONCE = 500 };

#define RESOURCE_NAME "CONCAT('resource ', LOWER(HEX(r.uid)))"
#define TENANT_NAME "CONCAT('tenant ', t.name)"
#define FINDS(example, tables) { "SELECT COUNT(*), COALESCE(MIN(" example "), '') FROM " tables, "", "us" }
#define MENDS(sql) { sql, "", "" }
#define NOTHING { NULL, NULL, NULL }

// A live resource stands where this forward leads away from.
#define COVERED                                                                                               \
	"resources r ON r.tenant_id = f.tenant_id AND r.type_id = f.type_id AND r.namespace = f.namespace AND " \
	"r.name = f.name AND r.live IS NOT NULL"

// The names in a resource's list of traits (j).
#define LISTED                                                                                                   \
	"JSON_TABLE(IF(JSON_VALID(r.traits), r.traits, '[]'), '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 " \
	"COLLATE utf8mb4_nopad_bin PATH '$')) j"
// A row of resource_traits (x) that no resource's list tells of; a listed name without such a row.
#define UNLISTED                                                                                               \
	"resource_traits x LEFT JOIN resources r ON r.id = x.resource_id LEFT JOIN traits n ON n.id = x.trait_id " \
	"WHERE NOT COALESCE(JSON_VALID(r.traits) AND JSON_CONTAINS(r.traits, JSON_QUOTE(n.name)), 0)"
#define UNSTORED(join)                                                                                           \
	"resources r JOIN " LISTED " " join " traits n ON n.name = j.name LEFT JOIN resource_traits x ON x.resource_id = r.id " \
	"AND x.trait_id = n.id WHERE r.traits IS NOT NULL AND x.trait_id IS NULL"
// An alias of no resource.
// Rows that belong to providers, and to nobody.
#define LOST_OF(table) table " x LEFT JOIN resources r ON r.id = x.resource_id WHERE r.id IS NULL"
#define LOST_CHECK(name, table)                                                                                       \
	{ name, FINDS("CONCAT('" table " of resource ', x.resource_id)", LOST_OF(table)), MENDS("DELETE x FROM " LOST_OF(table)) }
// A provider that is not in its parent's tree.
#define STRAYS                                                                                                        \
	"resource_aliases a JOIN types y ON y.id = a.type_id AND y.plural = 'resourceproviders' AND "                  \
	"y.group_name = 'placement.openstack.org' JOIN resources r ON r.id = a.resource_id AND r.live = 1 "            \
	"LEFT JOIN resources o ON o.uid = UNHEX(REPLACE(LEFT(a.value, 36), '-', '')) AND o.type_id = a.type_id AND "   \
	"o.live = 1 WHERE a.kind = 'parent' AND a.live = 1 AND "
#define USED "COALESCE((SELECT SUM(a.used) FROM allocations a WHERE a.resource_id = i.resource_id AND a.class_id = i.class_id), 0)"
#define CAPACITY                                                                                                      \
	"CAST(LEAST(FLOOR((CAST(i.total AS SIGNED) - CAST(i.reserved AS SIGNED)) * i.allocation_ratio), "              \
	"9000000000000000000) AS SIGNED)"
#define INVENTORY_NAME "CONCAT('inventory ', i.class_id, ' of resource ', i.resource_id)"
#define BARE_CONSUMERS "consumers c LEFT JOIN allocations a ON a.consumer_id = c.id WHERE a.consumer_id IS NULL"

// Hidden (catalogue.h), although one that is seen has it.
#define HIDDEN(table, of, id)                                                                                         \
	table " k WHERE k.live IS NULL AND (SELECT r.id FROM " of " x STRAIGHT_JOIN " SEEN_OF_X " WHERE x." id " = k.id " \
	      "LIMIT 1) > 0"
#define HIDDEN_CHECK(name, table, of, id)                                                                             \
	{ name, FINDS("k.name", HIDDEN(table, of, id)),                                                                \
		MENDS("UPDATE " table " SET live = 1 WHERE id IN (SELECT k.id FROM " HIDDEN(table, of, id) ")") }

#define LOST_ALIASES "resource_aliases a LEFT JOIN resources r ON r.id = a.resource_id WHERE r.id IS NULL"

static const struct check {
	const char *name;
	struct db_query find, mend;
} checks[] = {
	{ "each resource's tenant exists",
		FINDS(RESOURCE_NAME, "resources r LEFT JOIN tenants t ON t.id = r.tenant_id WHERE t.id IS NULL"), NOTHING },
	{ "each change's fields are JSON",
		FINDS("CONCAT('change ', c.id)",
			"changes c WHERE NOT JSON_VALID(COALESCE(c.fields, '[]')) OR NOT JSON_VALID(COALESCE(NULLIF(c.selectable_before, ''), '{}'))"),
		NOTHING },
	{ "each resource's type exists",
		FINDS(RESOURCE_NAME, "resources r LEFT JOIN types y ON y.id = r.type_id WHERE y.id IS NULL"), NOTHING },
	{ "each tenant's tier exists",
		FINDS(TENANT_NAME, "tenants t LEFT JOIN tiers i ON i.id = t.tier_id WHERE i.id IS NULL"), NOTHING },
	{ "no tenant has a reserved name",
		FINDS(TENANT_NAME, "tenants t WHERE t.live = 1 AND t.name = '" REALM_WORD_ALL "'"), NOTHING },
	{ "no token is of a tenant of a reserved name",
		FINDS("CONCAT('token ', k.id, ' of ', t.name)",
			"tokens k JOIN tenants t ON t.id = k.tenant_id WHERE t.live = 1 AND "
			"t.name IN ('" REALM_WORD_ALL "', '" REALM_WORD_SYSTEM "') AND k.revoked_at IS NULL"),
		NOTHING },
	{ "each tenant has its namespace default",
		FINDS(TENANT_NAME, "tenants t LEFT JOIN resources r ON r.tenant_id = t.id AND r.live = 2 AND r.name = 'default' "
				   "WHERE t.live = 1 AND r.id IS NULL"),
		NOTHING },
	{ "the system space is there",
		FINDS("'`tenure-manage db upgrade` makes it'",
			"(SELECT COUNT(*) AS n FROM tenants t WHERE t.name = '" REALM_WORD_SYSTEM "' AND t.live = 1) s WHERE s.n = 0"),
		NOTHING },
	{ "each resource in a namespace has that namespace",
		FINDS(RESOURCE_NAME, "resources r JOIN types y ON y.id = r.type_id AND y.namespaced LEFT JOIN resources s ON "
				     "s.tenant_id = r.tenant_id AND s.type_id = (SELECT id FROM types WHERE group_name = '' AND "
				     "plural = 'namespaces') AND s.namespace = '' AND s.name = r.namespace AND s.live IS NOT NULL "
				     "WHERE r.live = 1 AND s.id IS NULL"),
		NOTHING },
	{ "what is deleted has a purge time, what lives has none",
		FINDS(RESOURCE_NAME, "resources r WHERE (r.live IS NULL) <> (r.deleted_at IS NOT NULL) OR "
				     "(r.deleted_at IS NULL) <> (r.purge_at IS NULL)"),
		NOTHING },
	{ "a resource is locked when its metadata says so",
		FINDS(RESOURCE_NAME, "resources r WHERE r.locked <> COALESCE(JSON_VALUE(r.meta, '$.locked') IN ('1', 'true'), 0)"),
		MENDS("UPDATE resources r SET r.locked = COALESCE(JSON_VALUE(r.meta, '$.locked') IN ('1', 'true'), 0) "
		      "WHERE r.locked <> COALESCE(JSON_VALUE(r.meta, '$.locked') IN ('1', 'true'), 0)") },
	{ "each forward leads to a resource",
		FINDS("CONCAT('forward of ', f.name)",
			"forwards f LEFT JOIN resources r ON r.id = f.resource_id WHERE r.id IS NULL"),
		MENDS("DELETE f FROM forwards f LEFT JOIN resources r ON r.id = f.resource_id WHERE r.id IS NULL") },
	{ "no forward stands at a live resource's address", FINDS("CONCAT('forward of ', f.name)", "forwards f JOIN " COVERED),
		MENDS("DELETE f FROM forwards f JOIN " COVERED) },
	{ "each resource's revision is that of its last change",
		FINDS(RESOURCE_NAME, "resources r JOIN (SELECT resource_id, MAX(revision) AS last FROM changes "
				     "WHERE resource_id IS NOT NULL GROUP BY resource_id) c ON c.resource_id = r.id "
				     "WHERE r.revision <> c.last"),
		NOTHING },
	{ "each resource knows its last change",
		FINDS(RESOURCE_NAME, "resources r WHERE r.changed <> COALESCE(" LAST_CHANGE ", r.changed)"),
		MENDS("UPDATE resources r SET r.changed = COALESCE(" LAST_CHANGE ", r.changed) "
		      "WHERE r.changed <> COALESCE(" LAST_CHANGE ", r.changed)") },
	{ "the change log's horizon is known",
		FINDS("'table log_horizon has no row'", "(SELECT COUNT(*) AS n FROM log_horizon) h WHERE h.n <> 1"),
		MENDS("INSERT IGNORE INTO log_horizon (id, published, commits) VALUES (1, 0, 0)") },
	{ "the change log's horizon is below the ids to come",
		FINDS("CONCAT('published: ', h.published, ', next id: ', t.AUTO_INCREMENT)",
			"log_horizon h JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = DATABASE() AND "
			"t.TABLE_NAME = 'changes' WHERE h.published >= t.AUTO_INCREMENT"),
		NOTHING },
	{ "all who write the change log can see each other",
		FINDS("CONCAT('user ', w.name, ' has no privilege PROCESS')",
			"log_writers w WHERE (SELECT COUNT(*) FROM log_writers) > 1 AND (SELECT COUNT(*) FROM "
			"information_schema.USER_PRIVILEGES p WHERE p.PRIVILEGE_TYPE IN ('PROCESS', 'SUPER') AND "
			"p.GRANTEE LIKE CONCAT('''', REPLACE(w.name, '_', '\\_'), '''@%')) = 0"),
		NOTHING },
	{ "each definition's type exists",
		FINDS(RESOURCE_NAME, "resources r JOIN types d ON d.id = r.type_id AND d.group_name = '" CRD_GROUP "' AND "
				     "d.plural = '" CRD_PLURAL "' LEFT JOIN types y ON y.group_name = JSON_VALUE(r.body, "
				     "'$.spec.group') AND y.plural = JSON_VALUE(r.body, '$.spec.names.plural') AND y.namespaced = "
				     "(JSON_VALUE(r.body, '$.spec.scope') = 'Namespaced') WHERE y.id IS NULL"),
		NOTHING },
	{ "what waits for its finalizers has some",
		FINDS(RESOURCE_NAME, "resources r WHERE r.live IS NOT NULL AND r.doomed_at IS NOT NULL AND "
				     "COALESCE(JSON_LENGTH(r.meta, '$.finalizers'), 0) = 0 AND NOT (r.namespace = '' AND "
				     "COALESCE(JSON_LENGTH(r.body, '$.spec.finalizers'), 0) > 0 AND r.type_id = (SELECT id FROM "
				     "types WHERE group_name = '' AND plural = 'namespaces'))"),
		NOTHING },
	{ "each alias is that of a resource", FINDS("CONCAT('alias ', a.kind, ' ', a.value)", LOST_ALIASES),
		MENDS("DELETE a FROM " LOST_ALIASES) },
	{ "each list of traits is in order",
		FINDS(RESOURCE_NAME, "resources r WHERE r.traits IS NOT NULL AND NOT (r.traits <=> (SELECT "
				     "JSON_ARRAYAGG(DISTINCT j.name ORDER BY j.name) FROM " LISTED "))"),
		NOTHING },
	{ "each trait that is stored is listed",
		FINDS("CONCAT('trait ', x.trait_id, ' of resource ', COALESCE(LOWER(HEX(r.uid)), x.resource_id))", UNLISTED),
		MENDS("DELETE x FROM " UNLISTED) },
	{ "each trait that is listed is stored", FINDS(RESOURCE_NAME, UNSTORED("LEFT JOIN")),
		MENDS("INSERT INTO resource_traits (resource_id, trait_id) SELECT r.id, n.id FROM " UNSTORED("JOIN")) },
	{ "each provider stands in its parent's tree",
		FINDS(RESOURCE_NAME, STRAYS "(o.id IS NULL OR o.tenant_id <> r.tenant_id OR NOT (o.root <=> r.root))"),
		MENDS("UPDATE resources r JOIN (SELECT r.id, o.root FROM " STRAYS "o.tenant_id = r.tenant_id AND o.root <> r.root) x "
		      "ON x.id = r.id SET r.root = x.root") },
	LOST_CHECK("each generation is that of a resource", "providers"),
	LOST_CHECK("each inventory is that of a resource", "inventories"),
	LOST_CHECK("each aggregate is one of a resource", "provider_aggregates"),
	{ "each inventory's class exists",
		FINDS(INVENTORY_NAME, "inventories i LEFT JOIN resource_classes c ON c.id = i.class_id WHERE c.id IS NULL"), NOTHING },
	{ "each inventory's capacity is that of its numbers", FINDS(INVENTORY_NAME, "inventories i WHERE i.capacity <> " CAPACITY),
		MENDS("UPDATE inventories i SET i.capacity = " CAPACITY " WHERE i.capacity <> " CAPACITY) },
	{ "what is used of each inventory is the sum of its allocations",
		FINDS(INVENTORY_NAME, "inventories i WHERE i.used <> " USED),
		MENDS("UPDATE inventories i SET i.used = " USED " WHERE i.used <> " USED) },
	HIDDEN_CHECK("no class is hidden that a live provider has", "resource_classes", "inventories", "class_id"),
	{ "each allocation is of an inventory",
		FINDS("CONCAT('allocation of consumer ', a.consumer_id)",
			"allocations a LEFT JOIN inventories i ON i.resource_id = a.resource_id AND i.class_id = a.class_id "
			"WHERE i.resource_id IS NULL"),
		NOTHING },
	{ "each allocation has a consumer",
		FINDS("CONCAT('allocation of consumer ', a.consumer_id)",
			"allocations a LEFT JOIN consumers c ON c.id = a.consumer_id WHERE c.id IS NULL"),
		NOTHING },
	{ "each consumer has allocations", FINDS("CONCAT('consumer ', LOWER(HEX(c.uid)))", BARE_CONSUMERS),
		MENDS("DELETE c FROM " BARE_CONSUMERS) },
	{ "each waiting move's tenants exist",
		FINDS("CONCAT('move ', LOWER(HEX(m.uid)))",
			"moves m LEFT JOIN tenants s ON s.id = m.source_id LEFT JOIN tenants t ON t.id = m.dest_id "
			"WHERE m.state = 'queued' AND (s.id IS NULL OR t.id IS NULL)"),
		NOTHING },
};

static const struct check hidden_traits =
	HIDDEN_CHECK("no trait is hidden that a live resource has", "traits", "resource_traits", "trait_id");

// ---- counts: mended tenant by tenant, under the lock that keeps its writers out

#define WRONG_COUNTS                                                                                            \
	"tenants t LEFT JOIN tenant_counts c ON c.tenant_id = t.id LEFT JOIN (SELECT tenant_id, COUNT(*) AS n " \
	"FROM resources WHERE live = 1 GROUP BY tenant_id) x ON x.tenant_id = t.id "                            \
	"WHERE t.live = 1 AND (c.resources IS NULL OR c.resources <> COALESCE(x.n, 0))"
static const char counts_name[] = "each tenant's count is that of its resources";
static const struct db_query q_find_counts = FINDS(TENANT_NAME, WRONG_COUNTS);
static const struct db_query q_wrong_counts = { "SELECT t.id FROM " WRONG_COUNTS, "", "u" };
static const struct db_query q_hold = { "SELECT id FROM tenants WHERE id = ? FOR UPDATE", "u", "u" };
static const struct db_query q_recount = {
	"INSERT INTO tenant_counts (tenant_id, resources) "
	"SELECT ?, COUNT(*) FROM resources WHERE tenant_id = ? AND live = 1 "
	"ON DUPLICATE KEY UPDATE resources = VALUES(resources)",
	"uu", ""
};

// ---- documents

// The database's JSON functions give up behind 31 levels, and call what is deeper invalid: we look for ourselves.
static const struct db_query q_suspects = {
	"SELECT " RESOURCE_COLUMNS " FROM resources r WHERE r.id > ? AND NOT COALESCE(JSON_VALID(r.meta) AND JSON_VALID(r.body) AND "
	"JSON_TYPE(r.meta) = 'OBJECT' AND JSON_TYPE(r.body) = 'OBJECT', FALSE) ORDER BY r.id LIMIT ?",
	"uu", RESOURCE_OUT
};
static const char documents_name[] = "each resource's document is JSON objects";
static const char tenant_documents_name[] = "each tenant's metadata and object are JSON objects";
static const char depth_name[] = "what the database searches stands before what is nested too deep for it";
static const struct db_query q_mend_depth = {
	"UPDATE resources SET meta = ?, body = ?, bytes = ?, etag = ? WHERE id = ? AND revision = ?", "ssubuu", ""
};

// ---- hashes

static const char etags_name[] = "each resource's etag, size and lanes are those of its content";
static const struct db_query q_resources = {
	"SELECT " RESOURCE_COLUMNS ", r.bytes, r.h0, r.h1, r.h2, r.h3 FROM resources r WHERE r.id > ? ORDER BY r.id LIMIT ?",
	"uu", RESOURCE_OUT "uuuuu"
};
// Only what is still as it was read: a writer that came between has computed it anew.
static const struct db_query q_mend_resource = {
	"UPDATE resources SET etag = ?, bytes = ?, h0 = ?, h1 = ?, h2 = ?, h3 = ? WHERE id = ? AND revision = ?", "buuuuuuu", ""
};
static const char tenant_etags_name[] = "each tenant's etag is that of its content";
static const struct db_query q_tenants = {
	"SELECT " TENANT_COLUMNS " FROM " TENANT_TABLES " WHERE t.live = 1 AND t.id > ? ORDER BY t.id LIMIT ?", "uu", TENANT_OUT
};
static const struct db_query q_mend_tenant = { "UPDATE tenants SET etag = ? WHERE id = ? AND revision = ?", "buu", "" };

// ---- aliases and roots: what a type's rules say of a body

static const char aliases_name[] = "each resource has the aliases and the place in a tree that its document says";
// Types with rules belong to a group.
static const struct db_query q_related = {
	"SELECT " RESOURCE_COLUMNS ", (SELECT JSON_ARRAYAGG(JSON_ARRAY(a.kind, a.value, a.type_id, a.live)) "
	"FROM resource_aliases a WHERE a.resource_id = r.id) FROM resources r WHERE r.id > ? AND (r.root IS NOT NULL OR "
	"r.type_id IN (SELECT id FROM types WHERE group_name <> '') OR r.id IN (SELECT resource_id FROM resource_aliases)) "
	"ORDER BY r.id LIMIT ?",
	"uu", RESOURCE_OUT "s"
};
static const struct db_query q_hold_resource = {
	"SELECT id FROM resources WHERE id = ? AND revision = ? AND live <=> ? FOR UPDATE", "uuu", "u"
};
static const struct db_query q_mend_root = { "UPDATE resources SET root = ? WHERE id = ?", "bu", "" };
static const struct db_query q_drop_aliases = { "DELETE FROM resource_aliases WHERE resource_id = ?", "u", "" };
static const struct db_query q_add_alias = {
	"INSERT INTO resource_aliases (resource_id, kind, type_id, value, live) VALUES (?, ?, ?, ?, ?)", "ususu", ""
};

// Looked at when roots are mended.
static const struct check check_trees = {
	"each tree lives under its top, in one tenant",
	FINDS(RESOURCE_NAME, "resources r LEFT JOIN resources o ON o.uid = RIGHT(r.root, 16) AND o.live = 1 AND "
			     "o.type_id = CONV(HEX(LEFT(r.root, 4)), 16, 10) WHERE r.live = 1 AND "
			     "r.root IS NOT NULL AND (o.id IS NULL OR o.tenant_id <> r.tenant_id)"),
	NOTHING
};

struct examination {
	struct registry *registry;
	bool fix;
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example);
	void *arg;
	uint64_t found, fixed;
	const char *example;
	uint64_t tenant_id; // recount_one's
	const struct resource *resource; // mend_relations'
	const struct relations *relations;
	enum outcome outcome;
};

static void tell(struct examination *examination, const char *check)
{
	examination->report(examination->arg, check, examination->found, examination->fixed,
		examination->example != NULL ? examination->example : "");
	examination->found = examination->fixed = 0;
	examination->example = NULL;
}

static enum outcome find(struct examination *examination, const struct db_query *query)
{
	struct registry *registry = examination->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, query, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	examination->found = db_at(&rows, 0, 0)->u;
	examination->example = str_cstr(registry->pool, db_at(&rows, 0, 1)->s);
	return OUTCOME_OK;
}

static enum outcome run_check(struct examination *examination, const struct check *check)
{
	struct registry *registry = examination->registry;
	struct db_rows rows;
	enum outcome outcome = find(examination, &check->find);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (examination->fix && examination->found > 0 && check->mend.sql != NULL) {
		enum db_result result = db_run(registry->db, registry->pool, &check->mend, NULL, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		examination->fixed = rows.affected;
	}
	tell(examination, check->name);
	return OUTCOME_OK;
}

static enum outcome check_hidden_traits(struct examination *examination)
{
	enum outcome outcome = run_check(examination, &hidden_traits);

	// At worst workers read for nothing what they hold.
	return outcome == OUTCOME_OK && examination->fix ? catalogue_raise(examination->registry, CATALOGUE_TRAITS) : outcome;
}

static enum db_verdict recount_one(void *arg)
{
	struct examination *examination = arg;
	struct registry *registry = examination->registry;
	struct db_value id = db_u(examination->tenant_id);
	struct db_call calls[] = {
		{ .query = &q_hold, .in = DB_IN(id) },
		{ .query = &q_recount, .in = DB_IN(id, id) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	examination->outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	return result == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome mend_counts(struct examination *examination)
{
	struct registry *registry = examination->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_wrong_counts, NULL, &rows);

	for (size_t i = 0; result == DB_OK && i < rows.n; i++) {
		struct uuid uid = uuid_new();
		examination->tenant_id = db_at(&rows, i, 0)->u;
		result = db_txn_run(registry->db, DB_WRITE, &uid, recount_one, examination);
		if (result == DB_OK && examination->outcome == OUTCOME_OK)
			examination->fixed++;
	}
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome check_counts(struct examination *examination)
{
	enum outcome outcome = find(examination, &q_find_counts);

	if (outcome == OUTCOME_OK && examination->fix && examination->found > 0)
		outcome = mend_counts(examination);
	if (outcome == OUTCOME_OK)
		tell(examination, counts_name);
	return outcome;
}

static void note_found(struct examination *examination, const char *kind, const struct uuid *uid, char *keep, size_t room)
{
	examination->found++;
	if (examination->example != NULL)
		return;
	snprintf(keep, room, "%s %.*s", kind, STR_ARG(uuid_str(examination->registry->pool, *uid)));
	examination->example = keep;
}

static enum outcome mend_resource(struct examination *examination, const struct resource *resource, uint64_t bytes,
	const uint64_t lanes[4])
{
	struct registry *registry = examination->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_mend_resource,
		DB_IN(db_b(str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag))), db_u(bytes), db_u(lanes[0]),
			db_u(lanes[1]), db_u(lanes[2]), db_u(lanes[3]), db_u(resource->id), db_u(resource->revision)),
		&rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += rows.affected;
	return OUTCOME_OK;
}

static bool read_object(struct pool *pool, struct str text, struct doc **object)
{
	struct str error;

	return stored_read(pool, text, object, &error) && doc_kind(*object) == DOC_OBJECT;
}

static bool read_list(struct pool *pool, struct str text, struct doc **list)
{
	struct str error;

	return stored_read(pool, text, list, &error) && doc_kind(*list) == DOC_ARRAY;
}

// What a request could not read either (registry/resource/stored.h): the database's JSON_VALID() takes more than a request does.
static bool is_readable(struct pool *pool, const struct resource *resource)
{
	struct doc *doc;

	return read_object(pool, resource->meta, &doc) && read_object(pool, resource->body, &doc) &&
		(resource->traits.n == 0 || read_list(pool, resource->traits, &doc));
}

static enum outcome check_resource(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct registry *registry = examination->registry;
	struct resource stored, right;
	uint64_t lanes[4];

	resource_from_row(registry, &stored, rows, row, 0);
	if (!is_readable(registry->pool, &stored)) // another check's matter; nothing is mended by what could be read of it
		return OUTCOME_OK;
	right = stored;
	etag_of_resource(registry, &right);
	state_lanes(registry, right.type, &right.uid, lanes);
	bool same = memcmp(stored.stored_etag, right.stored_etag, sizeof(right.stored_etag)) == 0 &&
		    db_at(rows, row, RESOURCE_N_COLUMNS)->u == stored.meta.n + stored.body.n;
	for (size_t i = 0; i < 4; i++)
		same = same && db_at(rows, row, RESOURCE_N_COLUMNS + 1 + i)->u == lanes[i];
	if (same)
		return OUTCOME_OK;
	note_found(examination, "resource", &stored.uid, keep, room);
	return examination->fix ? mend_resource(examination, &right, stored.meta.n + stored.body.n, lanes) : OUTCOME_OK;
}

static enum outcome check_document(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct resource stored;

	resource_from_row(examination->registry, &stored, rows, row, 0);
	if (!is_readable(examination->registry->pool, &stored))
		note_found(examination, "resource", &stored.uid, keep, room);
	return OUTCOME_OK;
}

static enum outcome check_tenant_document(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct pool *pool = examination->registry->pool;
	struct tenant stored;
	struct doc *doc;

	tenant_from_row(&stored, rows, row);
	if (!read_object(pool, stored.metadata, &doc) || (stored.object.n > 0 && !read_object(pool, stored.object, &doc)))
		note_found(examination, "tenant", &stored.uid, keep, room);
	return OUTCOME_OK;
}

static struct str shallow_first(struct pool *pool, struct str stored)
{
	struct buf text = buf_new(pool, stored.n);
	struct doc *doc;

	if (!read_object(pool, stored, &doc))
		return stored;
	doc_write_json(doc_shallow_first(pool, doc, REGISTRY_DEPTH_MAX), &text);
	return buf_str(&text);
}

// From before there was a limit. Nothing of it is lost: its members change places, and with its text its etag.
static enum outcome check_depth(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct registry *registry = examination->registry;
	struct resource stored, right;
	struct db_rows mended;

	resource_from_row(registry, &stored, rows, row, 0);
	right = stored;
	right.meta = shallow_first(registry->pool, stored.meta);
	right.body = shallow_first(registry->pool, stored.body);
	if (str_eq(right.meta, stored.meta) && str_eq(right.body, stored.body))
		return OUTCOME_OK;
	note_found(examination, "resource", &stored.uid, keep, room);
	if (!examination->fix)
		return OUTCOME_OK;
	etag_of_resource(registry, &right);
	enum db_result result = db_run(registry->db, registry->pool, &q_mend_depth,
		DB_IN(db_s(right.meta), db_s(right.body), db_u(right.meta.n + right.body.n),
			db_b(str_n((const char *)right.stored_etag, sizeof(right.stored_etag))), db_u(right.id), db_u(right.revision)),
		&mended);
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += mended.affected;
	return OUTCOME_OK;
}

static enum outcome check_tenant(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct registry *registry = examination->registry;
	struct tenant stored, right;
	struct db_rows mended;

	tenant_from_row(&stored, rows, row);
	right = stored;
	etag_of_tenant(registry, &right);
	if (memcmp(stored.etag, right.etag, sizeof(right.etag)) == 0)
		return OUTCOME_OK;
	note_found(examination, "tenant", &stored.uid, keep, room);
	if (!examination->fix)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_mend_tenant,
		DB_IN(db_b(str_n((const char *)right.etag, sizeof(right.etag))), db_u(right.id), db_u(right.revision)), &mended);
	examination->fixed += result == DB_OK ? mended.affected : 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static struct db_value live_value(const struct resource *resource)
{
	return resource->live == RESOURCE_DELETED ? db_null('u') : db_u((uint64_t)resource->live);
}

// Is this row, [kind, value, type, live], the one for the alias?
static bool is_row_of(const struct doc *row, const struct resource *resource, const struct alias *alias)
{
	uint64_t type_id, live = 0;

	if (!str_eq_c(doc_string(doc_at(row, 0)), alias->kind) || !str_eq(doc_string(doc_at(row, 1)), alias->value))
		return false;
	if (doc_kind(doc_at(row, 3)) == DOC_NUMBER && !doc_u64(doc_at(row, 3), &live))
		return false;
	return doc_u64(doc_at(row, 2), &type_id) && type_id == resource->type->id && live == (uint64_t)resource->live;
}

static bool relations_right(const struct resource *resource, const struct relations *relations, const struct doc *rows)
{
	if (resource->has_root != relations->has_root || doc_length(rows) != relations->n_aliases)
		return false;
	if (resource->has_root && !relations->root_elsewhere && !uuid_eq(resource->root, relations->root))
		return false;
	for (size_t i = 0; i < relations->n_aliases; i++) {
		bool found = false;
		for (size_t j = 0; !found && j < relations->n_aliases; j++)
			found = is_row_of(doc_at(rows, j), resource, &relations->aliases[i]);
		if (!found)
			return false;
	}
	return true;
}

// Only of what is still as it was read. An alias that another resource has by now stays that one's: nothing is mended then.
static enum db_verdict mend_relations(void *arg)
{
	struct examination *examination = arg;
	struct registry *registry = examination->registry;
	const struct resource *resource = examination->resource;
	const struct relations *relations = examination->relations;
	struct db_value id = db_u(resource->id);
	struct db_call calls[3 + ALIASES_MAX] = {
		{ .query = &q_hold_resource, .in = DB_IN(id, db_u(resource->revision), live_value(resource)) },
		{ .query = &q_drop_aliases, .in = DB_IN(id) },
		{ .query = &q_mend_root,
			.in = DB_IN(relations->has_root ? db_b(tree_value(registry, resource->type, &relations->root)) : db_null('b'), id) },
	};
	size_t n = 3;

	for (size_t i = 0; i < relations->n_aliases; i++)
		calls[n++] = (struct db_call){
			.query = &q_add_alias,
			.in = CALL_VALUES(registry->pool, id, db_s(str_c(relations->aliases[i].kind)), db_u(resource->type->id),
				db_s(relations->aliases[i].value), live_value(resource)),
		};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	examination->outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
	bool done = result == DB_OK && calls[0].rows.n > 0;
	for (size_t i = 3; done && i < n; i++)
		done = calls[i].result == DB_OK;
	if (result == DB_OK && !done)
		examination->outcome = OUTCOME_CONFLICT;
	return done ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome check_relations(struct examination *examination, const struct db_rows *rows, size_t row, char *keep,
	size_t room)
{
	struct registry *registry = examination->registry;
	struct resource resource;
	struct relations relations = { 0 };
	struct uuid uid = uuid_new();

	struct doc *listed;
	resource_from_row(registry, &resource, rows, row, 0);
	if (resource.type == NULL || !is_readable(registry->pool, &resource))
		return OUTCOME_OK; // another check's matter
	if (resource.type->rules != NULL)
		resource.type->rules->relate(registry->pool, resource_body_doc(registry->pool, &resource), &resource.uid,
			&relations);
	if (relations.root_elsewhere) // another check's matter
		relations.root = resource.root;
	const struct db_value *stored = db_at(rows, row, RESOURCE_N_COLUMNS);
	if (!read_list(registry->pool, stored->null ? STR("[]") : stored->s, &listed))
		return OUTCOME_INTERNAL; // the database's own writing
	if (relations_right(&resource, &relations, listed))
		return OUTCOME_OK;
	note_found(examination, "resource", &resource.uid, keep, room);
	if (!examination->fix)
		return OUTCOME_OK;
	examination->resource = &resource;
	examination->relations = &relations;
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &uid, mend_relations, examination);
	if (result != DB_OK)
		return registry_db_failed(result);
	examination->fixed += examination->outcome == OUTCOME_OK ? 1 : 0;
	return OUTCOME_OK;
}

// Walks a table by id, a page at a time, so that memory stays flat and no read lasts long.
static enum outcome walk(struct examination *examination, const struct db_query *query, const char *name,
	enum outcome (*each)(struct examination *, const struct db_rows *, size_t, char *, size_t))
{
	struct registry *registry = examination->registry;
	struct pool_mark mark = pool_mark(registry->pool);
	char keep[80];
	uint64_t after = 0;
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		pool_rewind(registry->pool, mark);
		enum db_result result =
			db_run(registry->db, registry->pool, query, DB_IN(db_u(after), db_u(ROWS_AT_ONCE)), &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; outcome == OUTCOME_OK && i < rows.n; i++) {
			after = db_at(&rows, i, 0)->u;
			outcome = each(examination, &rows, i, keep, sizeof(keep));
		}
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE);
	if (outcome == OUTCOME_OK)
		tell(examination, name);
	return outcome;
}

enum outcome doctor(struct registry *registry, bool fix,
	void (*report)(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example), void *arg)
{
	struct examination examination = { .registry = registry, .fix = fix, .report = report, .arg = arg };
	enum outcome outcome = OUTCOME_OK;

	outcome = walk(&examination, &q_suspects, depth_name, check_depth); // other checks look into documents
	if (outcome == OUTCOME_OK)
		outcome = walk(&examination, &q_resources, documents_name, check_document);
	if (outcome == OUTCOME_OK)
		outcome = walk(&examination, &q_tenants, tenant_documents_name, check_tenant_document);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(checks); i++)
		outcome = run_check(&examination, &checks[i]);
	if (outcome == OUTCOME_OK)
		outcome = check_hidden_traits(&examination);
	if (outcome == OUTCOME_OK)
		outcome = check_counts(&examination);
	if (outcome == OUTCOME_OK)
		outcome = walk(&examination, &q_resources, etags_name, check_resource);
	if (outcome == OUTCOME_OK)
		outcome = walk(&examination, &q_related, aliases_name, check_relations);
	if (outcome == OUTCOME_OK)
		outcome = run_check(&examination, &check_trees);
	if (outcome == OUTCOME_OK)
		outcome = walk(&examination, &q_tenants, tenant_etags_name, check_tenant);
	return outcome;
}
