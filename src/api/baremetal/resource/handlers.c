// SPDX-License-Identifier: Apache-2.0
// Handlers that differ only in their kind, one for each name in the WADL.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"

#define HANDLERS(one, many)                                        \
	enum outcome list_##many(struct call *call)                \
	{                                                          \
		return baremetal_list_objects(call, &one##_kind, NULL, LIST_BRIEF); \
	}                                                          \
	enum outcome create_##one(struct call *call)               \
	{                                                          \
		return baremetal_create_object(call, &one##_kind);           \
	}                                                          \
	enum outcome get_##one(struct call *call)                  \
	{                                                          \
		return baremetal_show_object(call, &one##_kind);             \
	}                                                          \
	enum outcome patch_##one(struct call *call)                \
	{                                                          \
		return baremetal_patch_object(call, &one##_kind);            \
	}                                                          \
	enum outcome delete_##one(struct call *call)               \
	{                                                          \
		return baremetal_delete_object(call, &one##_kind);           \
	}

HANDLERS(node, nodes)
HANDLERS(port, ports)
HANDLERS(portgroup, portgroups)
HANDLERS(chassis, chassis)
HANDLERS(volume_connector, volume_connectors)
HANDLERS(volume_target, volume_targets)
HANDLERS(deploy_template, deploy_templates)

// An allocation is created by allocation.c.
enum outcome list_allocations(struct call *call)
{
	return baremetal_list_objects(call, &allocation_kind, NULL, LIST_BRIEF);
}

enum outcome get_allocation(struct call *call)
{
	return baremetal_show_object(call, &allocation_kind);
}

enum outcome patch_allocation(struct call *call)
{
	return baremetal_patch_object(call, &allocation_kind);
}

enum outcome delete_allocation(struct call *call)
{
	return baremetal_delete_object(call, &allocation_kind);
}

// For example nodes/detail.
#define HANDLER_DETAIL(one, many)                                  \
	enum outcome list_##many##_detail(struct call *call)       \
	{                                                          \
		return baremetal_list_objects(call, &one##_kind, NULL, LIST_IN_DETAIL); \
	}

HANDLER_DETAIL(node, nodes)
HANDLER_DETAIL(port, ports)
HANDLER_DETAIL(portgroup, portgroups)
HANDLER_DETAIL(chassis, chassis)

// For example nodes/X/ports.
#define HANDLER_BELOW(parent, one, many)                                            \
	enum outcome list_##parent##_##many(struct call *call)                      \
	{                                                                           \
		return baremetal_list_objects(call, &one##_kind, &parent##_kind, LIST_BRIEF);  \
	}

#define HANDLERS_BELOW(parent, one, many)                                           \
	HANDLER_BELOW(parent, one, many)                                            \
	enum outcome list_##parent##_##many##_detail(struct call *call)             \
	{                                                                           \
		return baremetal_list_objects(call, &one##_kind, &parent##_kind, LIST_IN_DETAIL); \
	}

HANDLERS_BELOW(node, port, ports)
HANDLERS_BELOW(node, portgroup, portgroups)
HANDLERS_BELOW(portgroup, port, ports)
HANDLERS_BELOW(chassis, node, nodes)
HANDLER_BELOW(node, volume_connector, volume_connectors)
HANDLER_BELOW(node, volume_target, volume_targets)
