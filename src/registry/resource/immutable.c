// SPDX-License-Identifier: Apache-2.0
// The immutable fields of built-in types, the same in every dialect: the data of a config map or secret with "immutable": true,
// the type of a secret, most of a pod's spec, a service's address, the source of a volume, the selector of a daemon set. Rules
// and texts are those of Kubernetes (ValidatePodUpdate() and its like).
#include "base/base.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/type/type.h"
#include "repr/json/doc.h"
#include "repr/schema/field_fault.h"
#include "types/common/parts.h"

enum outcome resource_check_immutable(struct registry *registry, const struct address *address, const struct resource *current,
	struct str body)
{
	const struct type_parts *parts = type_parts(address->type);
	struct field_faults faults = field_faults_new(registry->pool);

	assert(current != NULL && body.p != NULL);
	if (parts->check_kept == NULL || str_eq(body, current->body))
		return OUTCOME_OK;
	if (parts->kept_if.n > 0 && memmem(current->body.p, current->body.n, parts->kept_if.p, parts->kept_if.n) == NULL)
		return OUTCOME_OK;
	const struct doc *before = resource_body_doc(registry->pool, current);
	const struct doc *after = stored_document(registry->pool, STORED_NEW, body);
	parts->check_kept(&faults, before, after);
	if (faults.n == 0)
		return OUTCOME_OK;
	return registry_fail_faults(registry,
		str_printf(registry->pool, "%.*s \"%.*s\"", STR_ARG(address->type->kind), STR_ARG(address->name)), &faults);
}
