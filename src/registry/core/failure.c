// SPDX-License-Identifier: Apache-2.0
// How a request fails: the problem that describes the failure, and checks of preconditions.
#include "base/base.h"

#include <stdarg.h>

#include "registry/core/failure.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "repr/schema/field_fault.h"

enum outcome registry_fail(struct registry *registry, enum outcome outcome, const char *format, ...)
{
	va_list args;

	assert(registry->problem != NULL && outcome_status(outcome) >= 300);
	va_start(args, format);
	*registry->problem = (struct problem){ .detail = str_vprintf(registry->pool, format, args) };
	va_end(args);
	return outcome;
}

void registry_fail_member(struct registry *registry, const char *name, struct str value)
{
	struct problem *problem = registry->problem;

	assert(problem->n_members < PROBLEM_MAX_MEMBERS);
	problem->members[problem->n_members++] = (struct problem_member){ name, value };
}

enum outcome registry_db_failed(enum db_result result)
{
	assert(result != DB_OK);
	return result == DB_RETRY || result == DB_LOST || result == DB_FULL ? OUTCOME_UNAVAILABLE : OUTCOME_INTERNAL;
}

enum outcome registry_run_calls(struct registry *registry, struct db_call *calls, size_t n)
{
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome registry_fail_deleted(struct registry *registry, int64_t purge_us, const char *format, ...)
{
	struct buf time = buf_new(registry->pool, 32);
	va_list args;

	va_start(args, format);
	*registry->problem = (struct problem){ .detail = str_vprintf(registry->pool, format, args) };
	va_end(args);
	clock_add_rfc3339(&time, purge_us);
	if (purge_us != 0)
		registry_fail_member(registry, "purge_at", buf_str(&time));
	return OUTCOME_GONE;
}

enum outcome registry_fail_no_tenant(struct registry *registry, struct str name)
{
	registry_concerns_no(registry, name);
	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no tenant \"%.*s\"", STR_ARG(name));
}

enum outcome registry_fail_tenant_deleted(struct registry *registry, struct str name, int64_t purge_us)
{
	assert(purge_us != 0);
	if (purge_us <= registry->now_us)
		return registry_fail_no_tenant(registry, name);
	return registry_fail_deleted(registry, purge_us, "tenant \"%.*s\" was deleted; it can be recovered until it is purged",
		STR_ARG(name));
}

enum outcome registry_fail_faults(struct registry *registry, struct str what, const struct field_faults *faults)
{
	size_t n = field_faults_listed(faults);
	struct problem_cause *causes = POOL_ARRAY(registry->pool, struct problem_cause, n);

	for (size_t i = 0; i < n; i++)
		causes[i] = (struct problem_cause){
			field_reason_name(faults->list[i].reason), faults->list[i].field, faults->list[i].message
		};
	struct str text = field_faults_text(registry->pool, faults);
	registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s is invalid: %.*s", STR_ARG(what), STR_ARG(text));
	registry->problem->faults = text;
	registry->problem->causes = causes;
	registry->problem->n_causes = n;
	return OUTCOME_BAD_DOCUMENT;
}

enum outcome guard_check(struct guard guard, const uint8_t *etag)
{
	return guard.check != NULL ? guard.check(guard.arg, etag) : OUTCOME_OK;
}

enum outcome guard_check_required(struct registry *registry, struct guard guard, bool tenant_requires)
{
	bool everywhere = strcmp(registry->settings->etag_required, "yes") == 0;

	if (guard.prevents_lost_update || !(everywhere || tenant_requires))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_PRECONDITION_REQUIRED,
		"%s are changed only with a precondition here: send If-Match with the etag that you read, as GET shows it",
		everywhere ? "tenants and resources" : "this tenant and its resources");
}
