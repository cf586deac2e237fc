// SPDX-License-Identifier: Apache-2.0
// References of bare metal: of a port to its node and port group, of a volume connector or target to its node, of a node to its
// chassis. They are looked up only if a write
// changes them, so other writes cost no round trip.
#include "base/base.h"

#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "sql/baremetal.h"
#include "sql/lookup_keys.h"

static enum outcome lock_referenced(struct registry *registry, const struct type_rules *rules, struct str tenant, struct str text,
	enum sql_reference_mode mode, const struct doc **body)
{
	const struct type *type = type_with_rules(registry, rules);
	struct uuid uid;
	struct db_rows rows;

	if (type == NULL || !uuid_parse(text, &uid))
		return OUTCOME_INTERNAL;
	const struct sql_reference_lock in = { .uid = uuid_bytes(&uid), .type_id = type->id, .tenant = tenant };
	enum db_result result = sql_reference_lock_run(registry->db, registry->pool, mode, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%s %.*s could not be found.", rules->title,
			STR_ARG(text));
	const struct sql_reference_lock_row *row = sql_reference_lock_row(&rows, 0);
	const struct stored_place place = { .table = "resources", .column = "body", .id = row->id, .uid = uid };

	*body = stored_document(registry->pool, place, row->body);
	return OUTCOME_OK;
}

enum outcome baremetal_lock_reference(struct draft *draft, const struct type_rules *rules, const char *member,
	const struct doc **body)
{
	struct str tenant = rules == &chassis_rules ? STR(TENANT_SYSTEM) : draft->address->tenant;

	assert(db_txn_writes(draft->registry->db));
	return lock_referenced(draft->registry, rules, tenant, baremetal_text(draft->body, member), SQL_REFERENCE_MODE_SHARED, body);
}

enum outcome baremetal_lock_node(struct registry *registry, struct str tenant, struct str text, const struct doc **body)
{
	assert(db_txn_writes(registry->db));
	return lock_referenced(registry, &node_rules, tenant, text, SQL_REFERENCE_MODE_SHARED, body);
}

enum outcome baremetal_lock_portgroup(struct registry *registry, struct str tenant, struct str text, const struct doc **body)
{
	assert(db_txn_writes(registry->db));
	return lock_referenced(registry, &portgroup_rules, tenant, text, SQL_REFERENCE_MODE_EXCLUSIVE, body);
}

// The lookup keys of all that refer to the resource with that UUID lie between *from and *to.
static void range_of(struct pool *pool, struct str uuid, struct str *from, struct str *to)
{
	*from = str_printf(pool, "%.*s ", STR_ARG(uuid));
	*to = str_printf(pool, "%.*s!", STR_ARG(uuid));
}

enum outcome baremetal_portgroup_network(struct registry *registry, const struct uuid *port, struct str portgroup, bool *found,
	struct str *network)
{
	const struct type *type = type_with_rules(registry, &port_rules);
	struct db_rows rows;

	if (type == NULL)
		return OUTCOME_INTERNAL;
	struct sql_portgroup_network in = { .type_id = type->id, .uid = uuid_bytes(port) };
	range_of(registry->pool, portgroup, &in.from, &in.to);
	enum db_result result = sql_portgroup_network_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*found = rows.n > 0;
	*network = *found ? sql_portgroup_network_row(&rows, 0)->network : STR_NONE;
	return OUTCOME_OK;
}

enum outcome baremetal_pointed_at(struct registry *registry, const struct type_rules *rules, const char *kind,
	const struct uuid *uid, bool *found)
{
	struct pool *pool = registry->pool;
	const struct type *type = type_with_rules(registry, rules);
	struct db_rows rows;

	if (type == NULL)
		return OUTCOME_INTERNAL;
	struct sql_lookup_key_pointing in = { .type_id = type->id, .kind = str_c(kind) };
	range_of(pool, uuid_str(pool, *uid), &in.from, &in.to);
	enum db_result result = sql_lookup_key_pointing_run(registry->db, pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*found = rows.n > 0;
	return OUTCOME_OK;
}

void baremetal_add_key(const char *kind, struct str value, struct relations *relations)
{
	assert(relations->n_keys < LOOKUP_KEYS_MAX);
	relations->keys[relations->n_keys++] = (struct lookup_key){ kind, value };
}

void baremetal_point(struct pool *pool, const char *kind, struct str target, const struct uuid *uid,
	struct relations *relations)
{
	struct str own = uuid_str(pool, *uid);

	baremetal_add_key(kind, str_printf(pool, "%.*s %.*s", STR_ARG(target), STR_ARG(own)), relations);
}
