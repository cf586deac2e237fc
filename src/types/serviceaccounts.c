// SPDX-License-Identifier: Apache-2.0
// Service accounts: the identities of programs.
#include "base/base.h"

#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field service_account_fields[] = {
	MEMBER_BOOLEAN("automountServiceAccountToken", "Whether pods get a token of this account."),
	MEMBER_OBJECTS("imagePullSecrets", local_reference_fields, "Secrets for pulling images."),
	MEMBER_OBJECTS("secrets", object_reference_fields, "Secrets that pods of this account may use."), MEMBER_END
};

static const struct merge_rule service_account_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_LIST("secrets", "name"), MERGE_END
};

static const struct type_column of_service_accounts[] = {
	COLUMN("Secrets", "string", 0, cell_of_count, ".secrets", "How many secrets it may use."), COLUMN_AGE, COLUMN_END
};

PB_MESSAGE(service_account,
	PB_OBJECT(1, "metadata", object_meta), PB_LIST(2, "secrets", object_reference),
	PB_LIST(3, "imagePullSecrets", local_object_reference), PB_BOOL_ZERO(4, "automountServiceAccountToken"));

const struct type_parts serviceaccounts_parts = {
	.description = "A service account is who programs are.",
	.fields = service_account_fields,
	.merge = service_account_merge,
	.columns = of_service_accounts,
	.message = &proto_service_account,
};
