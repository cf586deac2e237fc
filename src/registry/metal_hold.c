// SPDX-License-Identifier: Apache-2.0
// What bare metal refers to: a port to its node and port group, a node to its chassis. Looked up only by writes that
// change the reference, so that others cost no round trip.
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"
#include "registry/metal_internal.h"
#include "repr/doc.h"

static const struct db_query q_hold = {
	"SELECT body FROM resources WHERE uid = ? AND type_id = ? AND live = 1 AND "
	"tenant_id = (SELECT id FROM tenants WHERE name = ? AND live = 1) LOCK IN SHARE MODE",
	"bus", "s"
};
// From "uid " up to "uid!", '!' being what comes behind the blank.
static const struct db_query q_pointed_at = {
	"SELECT 1 FROM resource_aliases WHERE type_id = ? AND kind = ? AND value > ? AND value < ? AND live = 1 LIMIT 1",
	"usss", "u"
};

// As the API's clients read it in messages.
static const char *title_of(const struct type_rules *rules)
{
	return rules == &chassis_rules ? "Chassis" : rules == &portgroup_rules ? "Portgroup" : "Node";
}

enum outcome metal_hold(struct draft *draft, const struct type_rules *rules, const char *member,
	const struct doc **body)
{
	struct registry *registry = draft->registry;
	const struct type *type = type_with_rules(registry, rules);
	struct str tenant = rules == &chassis_rules ? STR(TENANT_SYSTEM) : draft->address->tenant;
	struct str text = metal_text(draft->body, member);
	struct uuid uid;
	struct db_rows rows;

	if (type == NULL || !uuid_parse(text, &uid))
		return OUTCOME_INTERNAL;
	enum db_result result = db_run(registry->db, registry->pool, &q_hold,
		DB_IN(db_uuid(&uid), db_u(type->id), db_s(tenant)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%s %.*s could not be found.", title_of(rules),
			STR_ARG(text));
	*body = stored_document(registry->pool, db_at(&rows, 0, 0)->s);
	return OUTCOME_OK;
}

enum outcome metal_pointed_at(struct registry *registry, const struct type_rules *rules, const char *kind,
	const struct uuid *uid, bool *found)
{
	struct pool *pool = registry->pool;
	const struct type *type = type_with_rules(registry, rules);
	struct str text = uuid_str(pool, *uid);
	struct db_rows rows;

	if (type == NULL)
		return OUTCOME_INTERNAL;
	enum db_result result = db_run(registry->db, pool, &q_pointed_at,
		DB_IN(db_u(type->id), db_s(str_c(kind)), db_s(str_printf(pool, "%.*s ", STR_ARG(text))),
			db_s(str_printf(pool, "%.*s!", STR_ARG(text)))),
		&rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*found = rows.n > 0;
	return OUTCOME_OK;
}

void metal_alias(const char *kind, struct str value, struct relations *relations)
{
	assert(relations->n_aliases < ALIASES_MAX);
	relations->aliases[relations->n_aliases++] = (struct alias){ kind, value };
}

void metal_point(struct pool *pool, const char *kind, struct str target, const struct uuid *uid,
	struct relations *relations)
{
	struct str own = uuid_str(pool, *uid);

	metal_alias(kind, str_printf(pool, "%.*s %.*s", STR_ARG(target), STR_ARG(own)), relations);
}
