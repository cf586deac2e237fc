// SPDX-License-Identifier: Apache-2.0
// The dialect's table of methods: which function runs which method of spaces.wadl. Addresses that name the space and the group in
// different ways share their functions.
#include "base/base.h"

#include "api/spaces/collection.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/discovery/discovery.h"
#include "api/spaces/object/object.h"

static const struct endpoint endpoints[] = {
	{ "getServerVersion", get_server_version },
	{ "getOpenapi", get_openapi },
	{ "getApi", get_api },
	{ "getApis", get_apis },
	{ "getGroup", get_group },
	{ "getCoreTypes", get_types },
	{ "getGroupTypes", get_types },
	{ "createAccessReview", create_access_review },
	{ "createRulesReview", create_rules_review },
	{ "createSelfReview", create_self_review },
	{ "listTypes", list_types },
	{ "explainType", explain_type },
	{ "tellEffect", tell_effect },

	{ "listCoreObjects", list_in_space },
	{ "createCoreObject", create_in_space },
	{ "deleteCoreObjects", delete_all_in_space },
	{ "getCoreObject", get_in_space },
	{ "putCoreObject", put_in_space },
	{ "patchCoreObject", patch_in_space },
	{ "deleteCoreObject", delete_in_space },
	{ "getCoreObjectPart", get_in_space },
	{ "putCoreObjectPart", put_in_space },
	{ "patchCoreObjectPart", patch_in_space },
	{ "listCoreNamespacedObjects", list_in_space },
	{ "createCoreNamespacedObject", create_in_space },
	{ "deleteCoreNamespacedObjects", delete_all_in_space },
	{ "putCoreNamespacePart", put_in_space },
	{ "patchCoreNamespacePart", patch_in_space },
	{ "getCoreNamespacedObject", get_in_space },
	{ "putCoreNamespacedObject", put_in_space },
	{ "patchCoreNamespacedObject", patch_in_space },
	{ "deleteCoreNamespacedObject", delete_in_space },
	{ "getCoreNamespacedObjectPart", get_in_space },
	{ "putCoreNamespacedObjectPart", put_in_space },
	{ "patchCoreNamespacedObjectPart", patch_in_space },

	{ "listCoreTenantObjects", list_in_space },
	{ "createCoreTenantObject", create_in_space },
	{ "deleteCoreTenantObjects", delete_all_in_space },
	{ "getCoreTenantObject", get_in_space },
	{ "putCoreTenantObject", put_in_space },
	{ "patchCoreTenantObject", patch_in_space },
	{ "deleteCoreTenantObject", delete_in_space },
	{ "getCoreTenantObjectPart", get_in_space },
	{ "putCoreTenantObjectPart", put_in_space },
	{ "patchCoreTenantObjectPart", patch_in_space },
	{ "listCoreTenantNamespacedObjects", list_in_space },
	{ "createCoreTenantNamespacedObject", create_in_space },
	{ "deleteCoreTenantNamespacedObjects", delete_all_in_space },
	{ "putCoreTenantNamespacePart", put_in_space },
	{ "patchCoreTenantNamespacePart", patch_in_space },
	{ "getCoreTenantNamespacedObject", get_in_space },
	{ "putCoreTenantNamespacedObject", put_in_space },
	{ "patchCoreTenantNamespacedObject", patch_in_space },
	{ "deleteCoreTenantNamespacedObject", delete_in_space },
	{ "getCoreTenantNamespacedObjectPart", get_in_space },
	{ "putCoreTenantNamespacedObjectPart", put_in_space },
	{ "patchCoreTenantNamespacedObjectPart", patch_in_space },

	{ "listGroupObjects", list_in_space },
	{ "createGroupObject", create_in_space },
	{ "deleteGroupObjects", delete_all_in_space },
	{ "getGroupObject", get_in_space },
	{ "putGroupObject", put_in_space },
	{ "patchGroupObject", patch_in_space },
	{ "deleteGroupObject", delete_in_space },
	{ "getGroupObjectPart", get_in_space },
	{ "putGroupObjectPart", put_in_space },
	{ "patchGroupObjectPart", patch_in_space },
	{ "listGroupNamespacedObjects", list_in_space },
	{ "createGroupNamespacedObject", create_in_space },
	{ "deleteGroupNamespacedObjects", delete_all_in_space },
	{ "getGroupNamespacedObject", get_in_space },
	{ "putGroupNamespacedObject", put_in_space },
	{ "patchGroupNamespacedObject", patch_in_space },
	{ "deleteGroupNamespacedObject", delete_in_space },
	{ "getGroupNamespacedObjectPart", get_in_space },
	{ "putGroupNamespacedObjectPart", put_in_space },
	{ "patchGroupNamespacedObjectPart", patch_in_space },

	{ "listGroupTenantObjects", list_in_space },
	{ "createGroupTenantObject", create_in_space },
	{ "deleteGroupTenantObjects", delete_all_in_space },
	{ "getGroupTenantObject", get_in_space },
	{ "putGroupTenantObject", put_in_space },
	{ "patchGroupTenantObject", patch_in_space },
	{ "deleteGroupTenantObject", delete_in_space },
	{ "getGroupTenantObjectPart", get_in_space },
	{ "putGroupTenantObjectPart", put_in_space },
	{ "patchGroupTenantObjectPart", patch_in_space },
	{ "listGroupTenantNamespacedObjects", list_in_space },
	{ "createGroupTenantNamespacedObject", create_in_space },
	{ "deleteGroupTenantNamespacedObjects", delete_all_in_space },
	{ "getGroupTenantNamespacedObject", get_in_space },
	{ "putGroupTenantNamespacedObject", put_in_space },
	{ "patchGroupTenantNamespacedObject", patch_in_space },
	{ "deleteGroupTenantNamespacedObject", delete_in_space },
	{ "getGroupTenantNamespacedObjectPart", get_in_space },
	{ "putGroupTenantNamespacedObjectPart", put_in_space },
	{ "patchGroupTenantNamespacedObjectPart", patch_in_space },

	{ NULL, NULL },
};

// Callers of two tenants may use the same address, so no shared cache may store answers.
static void leave(struct call *call)
{
	response_set(&call->response, "Cache-Control", STR("no-cache, private"));
}

const struct dialect spaces_dialect = {
	.name = "spaces",
	.endpoints = endpoints,
	.render_problem = spaces_render_problem,
	.leave = leave,
	.asks_first = true,
	.has_all_tenants = true,
	.watches = true,
};
