// SPDX-License-Identifier: Apache-2.0
// Tenants as objects (api/spaces/object/tenants.c). They are not resources: registry/tenant/ stores them.
#include "base/base.h"

#include "types/common/parts.h"

static const struct type_field tenant_fields[] = {
	MEMBER_OBJECT("spec", NULL, "What the tenant is to be: multiTenancyCRDPolicy says which definition of a type comes "
		"first, LocalCRDFirst, SystemCRDFirst or NeverUseSystemCRDUnlessForced."),
	MEMBER_OBJECT("status", NULL, "What it is."), MEMBER_END
};

static const struct type_column of_tenants[] = {
	COLUMN_TEXT("Status", ".status.phase", "Active, or Terminating once it is deleted."), COLUMN_AGE, COLUMN_END
};

const struct type_parts tenants_parts = {
	.description = "A tenant owns objects, in a space of its own.",
	.fields = tenant_fields,
	.merge = plain_merge,
	.columns = of_tenants,
};
