// SPDX-License-Identifier: Apache-2.0
// The functions of the commands, for the table in commands.c. Each returns an exit code.
#ifndef TENURE_CLI_COMMAND_COMMANDS_H
#define TENURE_CLI_COMMAND_COMMANDS_H

struct cli;

// The possible values of a tenant's policy; ends with NULL.
extern const char *const type_policies[];

int command_tenant_list(struct cli *cli);
int command_tenant_show(struct cli *cli);
int command_tenant_set(struct cli *cli);
int command_tenant_delete(struct cli *cli);
int command_tenant_recover(struct cli *cli);
int command_import(struct cli *cli);
int command_export(struct cli *cli);
int command_resource_list(struct cli *cli);
int command_resource_show(struct cli *cli);
int command_resource_set(struct cli *cli);
int command_resource_patch(struct cli *cli);
int command_resource_edit(struct cli *cli);
int command_resource_delete(struct cli *cli);
int command_resource_recover(struct cli *cli);
int command_baremetal_list(struct cli *cli);
int command_baremetal_show(struct cli *cli);
int command_baremetal_create(struct cli *cli);
int command_baremetal_set(struct cli *cli);
int command_baremetal_edit(struct cli *cli);
int command_baremetal_delete(struct cli *cli);
int command_maintenance_set(struct cli *cli);
int command_maintenance_unset(struct cli *cli);
int command_trait_list(struct cli *cli);
int command_trait_add(struct cli *cli);
int command_trait_remove(struct cli *cli);
int command_trait_set(struct cli *cli);
int command_node_move(struct cli *cli);
int command_catalogue_list(struct cli *cli);
int command_catalogue_show(struct cli *cli);
int command_catalogue_users(struct cli *cli);
int command_catalogue_describe(struct cli *cli);
int command_catalogue_add(struct cli *cli);
int command_catalogue_remove(struct cli *cli);
int command_provider_list(struct cli *cli);
int command_provider_show(struct cli *cli);
int command_provider_create(struct cli *cli);
int command_provider_set(struct cli *cli);
int command_provider_delete(struct cli *cli);
int command_provider_usages(struct cli *cli);
int command_inventory_list(struct cli *cli);
int command_inventory_set(struct cli *cli);
int command_inventory_delete(struct cli *cli);
int command_part_list(struct cli *cli);
int command_part_set(struct cli *cli);
int command_part_add(struct cli *cli);
int command_part_remove(struct cli *cli);
int command_type_list(struct cli *cli);
int command_type_show(struct cli *cli);
int command_type_explain(struct cli *cli);
int command_type_effect(struct cli *cli);
int command_space_list(struct cli *cli);
int command_space_show(struct cli *cli);
int command_policy_set(struct cli *cli);
int command_move(struct cli *cli);
int command_move_status(struct cli *cli);
int command_move_list(struct cli *cli);
int command_tier_list(struct cli *cli);
int command_tier_show(struct cli *cli);
int command_tier_set(struct cli *cli);
int command_tier_delete(struct cli *cli);
int command_token_list(struct cli *cli);
int command_token_create(struct cli *cli);
int command_token_delete(struct cli *cli);
int command_forward_list(struct cli *cli);
int command_forward_expire(struct cli *cli);
int command_forward_revoke(struct cli *cli);
int command_changes_list(struct cli *cli);
int command_changes_undo(struct cli *cli);
int command_history(struct cli *cli);
int command_usage(struct cli *cli);
int command_count(struct cli *cli);
int command_find_resources(struct cli *cli);
int command_webhook_list(struct cli *cli);
int command_webhook_show(struct cli *cli);
int command_webhook_set(struct cli *cli);
int command_webhook_delete(struct cli *cli);
int command_webhook_rotate(struct cli *cli);
int command_webhook_ping(struct cli *cli);
int command_webhook_deliveries(struct cli *cli);
int command_webhook_revive(struct cli *cli);
int command_version(struct cli *cli);
int command_help(struct cli *cli);

#endif
