// SPDX-License-Identifier: Apache-2.0
// What commands of tenure-manage do with the registry: begin a session, say how it ended, add what each database has.
#include "base/base.h"

#include "manage/core/manage.h"
#include "registry/registry.h"
#include "registry/tenant/system_space.h"
#include "registry/type/builtin_types.h"

enum outcome manage_begin(struct manage *manage, struct registry_store **store, struct registry *registry)
{
	struct uuid id = uuid_new();

	assert(manage->db != NULL);
	*store = registry_store_new(manage->config, manage->db);
	if (*store == NULL)
		return OUTCOME_INTERNAL;
	registry_attach(registry, *store);
	return registry_begin(registry, manage->pool, &id, STR("tenure-manage"), &manage->problem);
}

void manage_tell_outcome(const struct manage *manage, enum outcome outcome)
{
	struct str detail = manage->problem.detail;

	if (detail.n != 0)
		manage_fail(0, "%.*s", STR_ARG(detail));
	else
		manage_fail(0, "%s", outcome_title(outcome));
}

int manage_fill_registry(struct manage *manage)
{
	struct registry_store *store = NULL;
	struct registry registry;
	bool made;
	enum db_result result = builtin_types_ensure(manage->db, manage->pool);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't add built-in types");
	enum outcome outcome = manage_begin(manage, &store, &registry);
	if (outcome == OUTCOME_OK)
		outcome = system_space_ensure(&registry, &made);
	if (outcome != OUTCOME_OK) {
		manage_fail(0, "can't make the system space");
		manage_tell_outcome(manage, outcome);
	}
	registry_store_free(&store);
	return manage_exit_code(outcome);
}
