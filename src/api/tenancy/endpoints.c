// SPDX-License-Identifier: Apache-2.0
// The dialect's table of methods: which function runs which method of tenancy.wadl. The WADL has roles, transactions and
// parameters.
#include "base/base.h"

#include "api/tenancy/tenancy.h"

static const struct endpoint endpoints[] = {
	{ "getVersions", get_versions },
	{ "getHealth", get_health },
	{ "getMetrics", get_metrics },
	{ "getWadl", get_wadl },
	{ "getSession", get_session },
	{ "postSession", post_session },
	{ "deleteSession", delete_session },

	{ "listTenants", list_tenants },
	{ "getTenant", get_tenant },
	{ "headTenant", head_tenant },
	{ "putTenant", put_tenant },
	{ "patchTenant", patch_tenant },
	{ "deleteTenant", delete_tenant },
	{ "recoverTenant", recover_tenant },
	{ "listChanges", list_changes },
	{ "listAllChanges", list_all_changes },
	{ "getUndo", get_undo },
	{ "postUndo", post_undo },
	{ "getResourceHistory", get_resource_history },
	{ "listUsage", list_usage },
	{ "listAllUsage", list_all_usage },
	{ "listTiers", list_tiers },

	{ "listWebhooks", list_webhooks },
	{ "getWebhook", get_webhook },
	{ "putWebhook", put_webhook },
	{ "deleteWebhook", delete_webhook },
	{ "listDeliveries", list_deliveries },
	{ "pingWebhook", ping_webhook },
	{ "reviveWebhook", revive_webhook },
	{ "rotateWebhook", rotate_webhook },
	{ "listAllWebhooks", list_webhooks },
	{ "getAllWebhook", get_webhook },
	{ "putAllWebhook", put_webhook },
	{ "deleteAllWebhook", delete_webhook },
	{ "listAllDeliveries", list_deliveries },
	{ "pingAllWebhook", ping_webhook },
	{ "reviveAllWebhook", revive_webhook },
	{ "rotateAllWebhook", rotate_webhook },

	{ "listResources", list_resources },
	{ "getResource", get_resource },
	{ "headResource", get_resource },
	{ "putResource", put_resource },
	{ "patchResource", patch_resource },
	{ "deleteResource", delete_resource },
	{ "recoverResource", recover_resource },

	{ "listNamespacedResources", list_resources },
	{ "getNamespacedResource", get_resource },
	{ "headNamespacedResource", get_resource },
	{ "putNamespacedResource", put_resource },
	{ "patchNamespacedResource", patch_resource },
	{ "deleteNamespacedResource", delete_resource },
	{ "recoverNamespacedResource", recover_resource },
	{ "recoverNamespace", recover_resource },

	{ "getResourceTraits", get_resource_traits },
	{ "putResourceTraits", put_resource_traits },
	{ "putResourceTrait", put_resource_trait },
	{ "deleteResourceTrait", delete_resource_trait },
	{ "getNamespacedResourceTraits", get_resource_traits },
	{ "putNamespacedResourceTraits", put_resource_traits },
	{ "putNamespacedResourceTrait", put_resource_trait },
	{ "deleteNamespacedResourceTrait", delete_resource_trait },
	{ "getNamespaceTraits", get_resource_traits },
	{ "putNamespaceTraits", put_resource_traits },
	{ "putNamespaceTrait", put_resource_trait },
	{ "deleteNamespaceTrait", delete_resource_trait },

	{ "getMoveAll", get_move_all },
	{ "postMoveAll", post_move_all },
	{ "getMoveOne", get_move_one },
	{ "postMoveOne", post_move_one },
	{ "getMoveNamespaced", get_move_one },
	{ "postMoveNamespaced", post_move_one },
	{ "getMoveNamespace", get_move_one },
	{ "postMoveNamespace", post_move_one },
	{ "getMove", get_move },
	{ "listMoves", list_moves },

	{ "listForwards", list_forwards },
	{ "putForward", put_forward },
	{ "deleteForward", delete_forward },
	{ "putNamespacedForward", put_forward },
	{ "deleteNamespacedForward", delete_forward },

	{ "listTokens", list_tokens },
	{ "postToken", post_token },
	{ "getToken", get_token },
	{ "deleteToken", delete_token },

	{ NULL, NULL },
};

const struct dialect tenancy_dialect = {
	.name = "tenancy",
	.endpoints = endpoints,
	.render_problem = tenancy_render_problem,
};
