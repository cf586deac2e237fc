// SPDX-License-Identifier: Apache-2.0
// The dialect's table of methods: which function runs which method of placement.wadl. The WADL has roles, transactions and
// parameters.
#include "base/base.h"

#include "api/placement/allocation/allocation.h"
#include "api/placement/candidate/candidate.h"
#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/inventory/inventory.h"
#include "api/placement/permit.h"
#include "api/placement/provider/provider.h"
#include "api/placement/version.h"

static const struct endpoint endpoints[] = {
	{ "getVersion", get_version },

	{ "listTraits", list_traits },
	{ "showTrait", show_trait },
	{ "makeTrait", make_trait },
	{ "dropTrait", drop_trait },
	{ "getTraitAbout", get_trait_about },
	{ "putTraitAbout", put_trait_about },
	{ "listTraitProviders", list_trait_providers },

	{ "listResourceClasses", list_resource_classes },
	{ "createResourceClass", create_resource_class },
	{ "getResourceClass", get_resource_class },
	{ "putResourceClass", put_resource_class },
	{ "deleteResourceClass", delete_resource_class },

	{ "listProviders", list_providers },
	{ "createProvider", create_provider },
	{ "getProvider", get_provider },
	{ "putProvider", put_provider },
	{ "deleteProvider", delete_provider },

	{ "listInventories", list_inventories },
	{ "createInventory", create_inventory },
	{ "putInventories", put_inventories },
	{ "deleteInventories", delete_inventories },
	{ "showInventory", get_inventory },
	{ "putInventory", put_inventory },
	{ "deleteInventory", delete_inventory },

	{ "getAggregates", get_aggregates },
	{ "putAggregates", put_aggregates },

	{ "getProviderTraits", get_provider_traits },
	{ "putProviderTraits", put_provider_traits },
	{ "deleteProviderTraits", delete_provider_traits },
	{ "putProviderTrait", put_provider_trait },
	{ "deleteProviderTrait", delete_provider_trait },

	{ "listCandidates", list_candidates },
	{ "listProviderAllocations", list_provider_allocations },
	{ "postAllocations", post_allocations },
	{ "getAllocations", get_allocations },
	{ "putAllocations", put_allocations },
	{ "deleteAllocations", delete_allocations },
	{ "postReshaper", post_reshaper },
	{ "listUsages", list_usages },
	{ "getTotalUsages", get_total_usages },

	{ NULL, NULL },
};

const struct dialect placement_dialect = {
	.name = "placement",
	.endpoints = endpoints,
	.render_problem = placement_render_problem,
	.enter = placement_enter,
	.permit = placement_permit,
	.leave = placement_leave,
	.asks_first = true,
};
