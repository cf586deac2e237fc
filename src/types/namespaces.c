// SPDX-License-Identifier: Apache-2.0
// Namespaces, which separate names within a tenant's space. registry/resource/space_end.c deletes their content;
// api/spaces/kinds/namespaces.c shows their status.
#include "base/base.h"

#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field namespace_spec_fields[] = {
	MEMBER_TEXTS("finalizers", "Who has to be done before the namespace goes."), MEMBER_END
};
static const struct type_field namespace_status_fields[] = {
	MEMBER_TEXT("phase", "Active, or Terminating."),
	MEMBER_OBJECTS("conditions", condition_fields, "What is to be known of it."), MEMBER_END
};
static const struct type_field namespace_fields[] = {
	MEMBER_OBJECT("spec", namespace_spec_fields, "What the namespace is to be."),
	MEMBER_OBJECT("status", namespace_status_fields, "What it is."), MEMBER_END
};

static const struct type_column of_namespaces[] = {
	COLUMN("Status", "string", 0, cell_of_phase, ".status.phase", "Active, or Terminating while it is being deleted."),
	COLUMN_AGE, COLUMN_TENANT, COLUMN_END
};

PB_MESSAGE(namespace_spec, PB_TEXTS(1, "finalizers"));
PB_MESSAGE(namespace_condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_OBJECT(4, "lastTransitionTime", time), PB_TEXT(5, "reason"),
	PB_TEXT(6, "message"));
PB_MESSAGE(namespace_status, PB_TEXT(1, "phase"), PB_LIST(2, "conditions", namespace_condition));
PB_MESSAGE(namespace,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", namespace_spec), PB_OBJECT(3, "status", namespace_status));

static const char *const selectable[] = {
	"status.phase", NULL
};

const struct type_parts namespaces_parts = {
	.description = "A namespace keeps names apart within a tenant's space.",
	.fields = namespace_fields,
	.merge = with_conditions_merge,
	.columns = of_namespaces,
	.message = &proto_namespace,
	.selectable = selectable,
	.check_name = check_dns_label,
};
