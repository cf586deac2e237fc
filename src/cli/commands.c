// SPDX-License-Identifier: Apache-2.0
// The table of all commands: parsing, help and completion use it.
#include "base/base.h"

#include "cli/core/cli.h"

#define OPTIONS_WHOSE (HAS(OPT_TENANT) | HAS(OPT_NAMESPACE))
#define OPTIONS_CHANGE (HAS(OPT_ETAG) | HAS(OPT_NO_ETAG) | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))

#define TEXT_ETAG "With --etag the change is made only if nobody changed it since. When somebody did, what the base " \
	"was, what you\nwant and what is there now are shown field by field, and the exit code is 5."
#define OPTIONS_LIST (HAS(OPT_FIELDS) | HAS(OPT_LONG) | HAS(OPT_SORT) | HAS(OPT_LIMIT) | HAS(OPT_MARKER))
#define OPTIONS_PART (HAS(OPT_GENERATION) | HAS(OPT_ETAG) | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))
#define OPTIONS_EDIT (HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))

#define TEXT_LIST "All there are, unless --limit says how many. A table asks for what it shows alone; --long, " \
	"--columns and\n--format json ask for whole ones."
#define TEXT_SHOW "What was shown is remembered for --etag auto."
#define TEXT_MEMBERS "MEMBER=VALUE sets a string, MEMBER:=JSON anything; MEMBER may be a path as extra.rack. Of " \
	"KEY=VALUE\na VALUE that is JSON is taken as that: cpus=4 is a number."
#define TEXT_CREATE "Its UUID is printed, or the whole of it where --format is given. What options say comes on top of " \
	"--file.\n" TEXT_MEMBERS
#define TEXT_SET TEXT_MEMBERS "\nMEMBER:=null removes one. --patch is all of a change, a JSON Patch.\n" TEXT_STDIN
#define TEXT_UNSET "A field gets its default, a KEY or MEMBER is taken away.\n" TEXT_STDIN
#define TEXT_EDIT "$VISUAL or $EDITOR is opened on it, and what is saved is sent guarded by the etag. " \
	"Unchanged, nothing is sent."
#define TEXT_GENERATION "It is made of what is there now, or was shown last with --generation auto, and only if nobody " \
	"changed\nthe provider since: else both sides are shown, and the exit code is 5. With --retry what others changed " \
	"stays."
#define TEXT_ALONE "Without --generation and --etag each goes alone, whatever others add or take away meanwhile."
#define TEXT_STDIN "A name \"-\" stands for names on standard input, one a line."

const struct command cli_commands[] = {
	{ "tenant", "list", "", 0, 0, HAS(OPT_DELETED), command_tenant_list, "list tenants", "",
		"tenure tenant list --columns id,tier,resources", NULL },
	{ "tenant", "show", "ID…", 1, 0, 0, command_tenant_show, "show tenants", TEXT_STDIN, "tenure tenant show acme", NULL },
	{ "tenant", "set", "ID [NAME=VALUE…]", 1, 0, HAS(OPT_TIER) | HAS(OPT_FILE) | OPTIONS_CHANGE, command_tenant_set,
		"make or change a tenant",
		"NAME=VALUE is metadata; given, it replaces all there is. With --file the document is read there.\n" TEXT_ETAG,
		"tenure tenant set acme --tier gold contact=ann --etag auto", NULL },
	{ "tenant", "delete", "ID…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_tenant_delete,
		"delete tenants with all they own", "They can be recovered for a time. " TEXT_STDIN,
		"tenure tenant delete acme --yes --etag auto", NULL },
	{ "tenant", "recover", "ID…", 1, 0, HAS(OPT_ETAG) | HAS(OPT_DRY_RUN), command_tenant_recover,
		"bring deleted tenants back", TEXT_STDIN, "tenure tenant recover acme", NULL },

	{ "resource", "list", "TYPE", 1, 1, OPTIONS_WHOSE | HAS(OPT_DELETED), command_resource_list,
		"list resources of a type", "", "tenure configmaps list -n prod --columns name,data.color", NULL },
	{ "resource", "show", "TYPE NAME…", 2, 0, OPTIONS_WHOSE, command_resource_show, "show resources",
		"What was shown is remembered for --etag auto. " TEXT_STDIN, "tenure configmaps show web --format json", NULL },
	{ "resource", "set", "TYPE NAME [MEMBER=VALUE…]", 2, 0, OPTIONS_WHOSE | HAS(OPT_FILE) | OPTIONS_CHANGE,
		command_resource_set, "make or replace a resource",
		"MEMBER=VALUE sets a string, MEMBER:=JSON anything; MEMBER may be a path as data.color.\n" TEXT_ETAG,
		"tenure configmaps set web data.color=blue data.size:=3 --etag new", NULL },
	{ "resource", "patch", "TYPE NAME [MEMBER=VALUE…]", 2, 0,
		OPTIONS_WHOSE | HAS(OPT_FILE) | HAS(OPT_PATCH) | OPTIONS_CHANGE, command_resource_patch,
		"change members of a resource",
		"The patch is of MEMBER=VALUE (a string) and MEMBER:=JSON (null removes), or that of --patch or --file.\n"
		TEXT_ETAG "\n" TEXT_STDIN, "tenure configmaps patch web data.color=red --etag auto --retry", NULL },
	{ "resource", "edit", "TYPE NAME", 2, 2, OPTIONS_WHOSE | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN), command_resource_edit,
		"change a resource in an editor",
		"$VISUAL or $EDITOR is opened on it, and what is saved is sent guarded by the etag. "
		"Unchanged, nothing is sent.",
		"EDITOR=nano tenure configmaps edit web", NULL },
	{ "resource", "delete", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_YES) | OPTIONS_CHANGE, command_resource_delete,
		"delete resources", "They can be recovered for a time; a namespace goes with all that is in it. " TEXT_STDIN,
		"tenure configmaps list --format csv --columns name | tail -n +2 | tenure configmaps delete - -y --no-etag",
		NULL },
	{ "resource", "recover", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_UID) | HAS(OPT_ETAG) | HAS(OPT_DRY_RUN),
		command_resource_recover, "bring deleted resources back",
		"Of several deleted at one address the last comes, or the one of --uid. With --etag only what has that etag.\n"
		TEXT_STDIN,
		"tenure configmaps recover web", NULL },

	{ "node", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list nodes", TEXT_LIST,
		"tenure node list --maintenance true --columns name,driver,maintenance_reason", NULL },
	{ "node", "show", "[NODE…]", 0, 9999, 0, command_baremetal_show, "show nodes",
		"By UUID or name, or the one of --instance. " TEXT_SHOW " " TEXT_STDIN, "tenure node show rack-7", NULL },
	{ "node", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"make a node", TEXT_CREATE,
		"tenure node create --driver ipmi --name rack-7 --driver-info ipmi_address=10.0.0.7 --property cpus=4", NULL },
	{ "node", "set", "NODE [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set, "change a node",
		TEXT_SET "\n" TEXT_ETAG,
		"tenure node set rack-7 --property memory_mb=65536 --extra rack=7 --etag auto --retry", NULL },
	{ "node", "unset", "NODE [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set, "take members of a node away",
		TEXT_UNSET "\n" TEXT_ETAG, "tenure node unset rack-7 --extra rack --description --etag auto", NULL },
	{ "node", "edit", "NODE", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a node in an editor", TEXT_EDIT,
		"EDITOR=nano tenure node edit rack-7", NULL },
	{ "node", "delete", "NODE…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete,
		"delete nodes with their ports and port groups",
		"They can be recovered for a time: tenure nodes recover UUID -t TENANT. " TEXT_STDIN,
		"tenure node delete rack-7 --yes --etag auto", NULL },
	{ "node", "move", "NODE TENANT", 2, 2, HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) | HAS(OPT_NO_ETAG) | HAS(OPT_DRY_RUN),
		command_node_move, "give a node, with its ports, to another tenant",
		"As \"tenure move\" does, in one transaction. --if-match makes it one of what the preview told.",
		"tenure node move rack-7 globex --preview && tenure node move rack-7 globex --if-match auto", NULL },
	{ "node", "maintenance set", "NODE…", 1, 0, HAS(OPT_REASON) | OPTIONS_CHANGE, command_maintenance_set,
		"begin the maintenance of nodes", TEXT_STDIN "\n" TEXT_ETAG,
		"tenure node maintenance set rack-7 --reason 'fan 3 is dead' --etag auto", NULL },
	{ "node", "maintenance unset", "NODE…", 1, 0, OPTIONS_CHANGE, command_maintenance_unset,
		"end the maintenance of nodes", TEXT_STDIN "\n" TEXT_ETAG,
		"tenure node maintenance unset rack-7 --etag auto", NULL },
	{ "node", "trait list", "NODE", 1, 1, 0, command_trait_list, "list the traits of a node", "",
		"tenure node trait list rack-7", NULL },
	{ "node", "trait add", "NODE TRAIT…", 2, 0, OPTIONS_CHANGE, command_trait_add, "give a node traits",
		TEXT_ETAG, "tenure node trait add rack-7 HW_CPU_X86_AVX2 CUSTOM_RED --etag auto", NULL },
	{ "node", "trait remove", "NODE [TRAIT…]", 1, 0, HAS(OPT_ALL) | OPTIONS_CHANGE, command_trait_remove,
		"take traits from a node", TEXT_ETAG, "tenure node trait remove rack-7 CUSTOM_RED --etag auto", NULL },
	{ "node", "trait set", "NODE TRAIT…", 2, 0, OPTIONS_CHANGE, command_trait_set, "give a node exactly these traits",
		TEXT_ETAG, "tenure node trait set rack-7 CUSTOM_RED CUSTOM_LARGE --etag auto", NULL },

	{ "port", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list ports", TEXT_LIST,
		"tenure port list --node rack-7", NULL },
	{ "port", "show", "[PORT…]", 0, 9999, 0, command_baremetal_show, "show ports",
		"By UUID, or the one of --address. " TEXT_SHOW " " TEXT_STDIN, "tenure port show --address 52:54:00:00:00:01",
		NULL },
	{ "port", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"make a port", TEXT_CREATE,
		"tenure port create --node 4d8c1b30-7ef6-4a4c-b6d5-0a8d6f2f1f3e --address 52:54:00:00:00:01", NULL },
	{ "port", "set", "PORT [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set, "change a port",
		TEXT_SET "\n" TEXT_ETAG,
		"tenure port set 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --physical-network rack --etag auto", NULL },
	{ "port", "unset", "PORT [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set, "take members of a port away",
		TEXT_UNSET "\n" TEXT_ETAG,
		"tenure port unset 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --port-group --etag auto", NULL },
	{ "port", "edit", "PORT", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a port in an editor", TEXT_EDIT,
		"EDITOR=nano tenure port edit 1be26c0b-03f2-4d2e-ae87-c02d7f33c123", NULL },
	{ "port", "delete", "PORT…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete, "delete ports", TEXT_STDIN,
		"tenure port delete 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --yes --no-etag", NULL },

	{ "portgroup", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list port groups", TEXT_LIST,
		"tenure portgroup list --node rack-7", NULL },
	{ "portgroup", "show", "[GROUP…]", 0, 9999, 0, command_baremetal_show, "show port groups",
		"By UUID or name, or the one of --address. " TEXT_SHOW " " TEXT_STDIN, "tenure portgroup show bond-7", NULL },
	{ "portgroup", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"make a port group", TEXT_CREATE,
		"tenure portgroup create --node 4d8c1b30-7ef6-4a4c-b6d5-0a8d6f2f1f3e --name bond-7 --mode 802.3ad", NULL },
	{ "portgroup", "set", "GROUP [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set,
		"change a port group", TEXT_SET "\n" TEXT_ETAG,
		"tenure portgroup set bond-7 --property miimon=100 --etag auto", NULL },
	{ "portgroup", "unset", "GROUP [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set,
		"take members of a port group away", TEXT_UNSET "\n" TEXT_ETAG,
		"tenure portgroup unset bond-7 --property miimon --etag auto", NULL },
	{ "portgroup", "edit", "GROUP", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a port group in an editor",
		TEXT_EDIT, "EDITOR=nano tenure portgroup edit bond-7", NULL },
	{ "portgroup", "delete", "GROUP…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete,
		"delete port groups", TEXT_STDIN, "tenure portgroup delete bond-7 --yes --etag auto", NULL },

	{ "chassis", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list chassis", TEXT_LIST,
		"tenure chassis list --long", NULL },
	{ "chassis", "show", "CHASSIS…", 1, 0, 0, command_baremetal_show, "show chassis", TEXT_SHOW " " TEXT_STDIN,
		"tenure chassis show 9d738f14-cf4f-4ad7-8427-d2bb31ab297d", NULL },
	{ "chassis", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"make a chassis", TEXT_CREATE, "tenure chassis create --description 'rack 7' --extra row=3", NULL },
	{ "chassis", "set", "CHASSIS [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set,
		"change a chassis", TEXT_SET "\n" TEXT_ETAG,
		"tenure chassis set 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --description 'rack 8' --etag auto", NULL },
	{ "chassis", "unset", "CHASSIS [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set,
		"take members of a chassis away", TEXT_UNSET "\n" TEXT_ETAG,
		"tenure chassis unset 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --extra row --etag auto", NULL },
	{ "chassis", "edit", "CHASSIS", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a chassis in an editor", TEXT_EDIT,
		"EDITOR=nano tenure chassis edit 9d738f14-cf4f-4ad7-8427-d2bb31ab297d", NULL },
	{ "chassis", "delete", "CHASSIS…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete, "delete chassis",
		TEXT_STDIN, "tenure chassis delete 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --yes --etag auto", NULL },

	{ "driver", "list", "", 0, 0, HAS(OPT_LONG), command_baremetal_list, "list the drivers that nodes can have", "",
		"tenure driver list --columns name,enabled_boot_interfaces", NULL },
	{ "driver", "show", "DRIVER…", 1, 0, 0, command_baremetal_show, "show drivers", TEXT_STDIN, "tenure driver show ipmi",
	NULL },

	{ "trait", "list", "", 0, 0, HAS(OPT_LONG), command_catalogue_list, "list the traits there are", "",
		"tenure trait list --starts-with HW_CPU_X86_", NULL },
	{ "trait", "show", "TRAIT…", 1, 0, 0, command_catalogue_show, "show what is told about traits", TEXT_STDIN,
		"tenure trait show CUSTOM_RED", NULL },
	{ "trait", "users", "TRAIT", 1, 1, 0, command_catalogue_users, "list the providers that have a trait", "",
		"tenure trait users CUSTOM_RED", NULL },
	{ "trait", "describe", "TRAIT [TEXT]", 1, 2, HAS(OPT_DRY_RUN), command_catalogue_describe,
		"tell people about a trait", "What isn't said stays as it is; an empty text takes the description away.",
		"tenure trait describe CUSTOM_RED 'painted red; see CUSTOM_COLOR_RED' --deprecated true", NULL },
	{ "trait", "add", "TRAIT…", 1, 0, HAS(OPT_DRY_RUN), command_catalogue_add, "make custom traits",
		"Their names begin with CUSTOM_ and go on with A-Z, 0-9 and _. " TEXT_STDIN, "tenure trait add CUSTOM_RED",
		NULL },
	{ "trait", "remove", "TRAIT…", 1, 0, HAS(OPT_DRY_RUN), command_catalogue_remove, "take custom traits away",
		"Only those that nothing has. " TEXT_STDIN, "tenure trait remove CUSTOM_RED", NULL },

	{ "provider", "list", "", 0, 0, HAS(OPT_LONG), command_provider_list, "list providers of resources",
		"Those of which all is true that options say.",
		"tenure provider list --required HW_CPU_X86_AVX2 --forbidden CUSTOM_OLD --resource VCPU=4", NULL },
	{ "provider", "show", "PROVIDER…", 1, 0, HAS(OPT_LONG), command_provider_show, "show providers",
		"By UUID or name; --long has their traits, aggregates and inventories, too. " TEXT_SHOW " " TEXT_STDIN,
		"tenure provider show rack-7 --long", NULL },
	{ "provider", "create", "NAME", 1, 1, HAS(OPT_DRY_RUN), command_provider_create, "make a provider",
		"Its UUID is printed, or the whole of it where --format is given.",
		"tenure provider create rack-7-numa0 --parent rack-7", NULL },
	{ "provider", "set", "PROVIDER", 1, 1, OPTIONS_CHANGE, command_provider_set,
		"rename a provider, or place it elsewhere",
		"With --parent none it stands at the top of a tree of its own.\n" TEXT_ETAG,
		"tenure provider set rack-7 --name rack-8 --etag auto", NULL },
	{ "provider", "delete", "PROVIDER…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_provider_delete,
		"delete providers",
		"Those without others below them, and without allocations. They can be recovered for a time:\n"
		"tenure resourceproviders recover UUID -t TENANT. " TEXT_STDIN,
		"tenure provider delete rack-7 --yes --etag auto", NULL },
	{ "provider", "usages", "PROVIDER", 1, 1, 0, command_provider_usages, "tell how much of a provider is in use",
		"capacity is (total - reserved) * allocation_ratio, free what is left of it.",
		"tenure provider usages rack-7", NULL },
	{ "provider", "inventory list", "PROVIDER", 1, 1, 0, command_inventory_list,
		"list the inventories of a provider", "", "tenure provider inventory list rack-7", NULL },
	{ "provider", "inventory set", "PROVIDER CLASS=TOTAL… [CLASS:FIELD=NUMBER…]", 2, 0, HAS(OPT_REPLACE) | OPTIONS_PART,
		command_inventory_set, "set inventories of a provider",
		"FIELD is total, reserved, min_unit, max_unit, step_size or allocation_ratio. What isn't named stays.\n"
		TEXT_GENERATION, "tenure provider inventory set rack-7 VCPU=64 VCPU:allocation_ratio=4 MEMORY_MB=262144", NULL },
	{ "provider", "inventory delete", "PROVIDER [CLASS…]", 1, 0, HAS(OPT_ALL) | HAS(OPT_YES) | OPTIONS_PART,
		command_inventory_delete, "delete inventories of a provider", "Those without allocations.\n" TEXT_GENERATION,
		"tenure provider inventory delete rack-7 VGPU --yes", NULL },
	{ "provider", "trait list", "PROVIDER", 1, 1, 0, command_part_list, "list the traits of a provider", "",
		"tenure provider trait list rack-7", NULL },
	{ "provider", "trait set", "PROVIDER TRAIT…", 2, 0, OPTIONS_PART, command_part_set,
		"give a provider exactly these traits", TEXT_GENERATION,
		"tenure provider trait set rack-7 HW_CPU_X86_AVX2 CUSTOM_RED", NULL },
	{ "provider", "trait add", "PROVIDER TRAIT…", 2, 0, OPTIONS_PART, command_part_add, "give a provider traits",
		TEXT_ALONE "\n" TEXT_GENERATION, "tenure provider trait add rack-7 CUSTOM_RED", NULL },
	{ "provider", "trait remove", "PROVIDER [TRAIT…]", 1, 0, HAS(OPT_ALL) | OPTIONS_PART, command_part_remove,
		"take traits from a provider", TEXT_ALONE "\n" TEXT_GENERATION,
		"tenure provider trait remove rack-7 CUSTOM_RED", NULL },
	{ "provider", "aggregate list", "PROVIDER", 1, 1, 0, command_part_list, "list the aggregates a provider is in", "",
		"tenure provider aggregate list rack-7", NULL },
	{ "provider", "aggregate set", "PROVIDER UUID…", 2, 0, OPTIONS_PART, command_part_set,
		"put a provider into exactly these aggregates", TEXT_GENERATION,
		"tenure provider aggregate set rack-7 2f8a6a5e-0f0c-4b0e-9f57-6d7d5f0a3c11", NULL },
	{ "provider", "aggregate add", "PROVIDER UUID…", 2, 0, OPTIONS_PART, command_part_add,
		"put a provider into aggregates", TEXT_GENERATION,
		"tenure provider aggregate add rack-7 2f8a6a5e-0f0c-4b0e-9f57-6d7d5f0a3c11", NULL },
	{ "provider", "aggregate remove", "PROVIDER [UUID…]", 1, 0, HAS(OPT_ALL) | OPTIONS_PART, command_part_remove,
		"take a provider out of aggregates", TEXT_GENERATION,
		"tenure provider aggregate remove rack-7 2f8a6a5e-0f0c-4b0e-9f57-6d7d5f0a3c11", NULL },

	{ "type", "list", "", 0, 0, HAS(OPT_TENANT), command_type_list, "list the types that a tenant may use",
		"\"tenant\" is whose definition answers: the tenant's own, or the system's; built-in types are nobody's.",
		"tenure type list -t acme --columns type,tenant,short", NULL },
	{ "type", "show", "TYPE…", 1, 0, HAS(OPT_TENANT), command_type_show, "show what answers for types",
		"TYPE is widgets.example.com, or configmaps. " TEXT_STDIN, "tenure type show widgets.example.com -t acme", NULL },
	{ "type", "explain", "TYPE", 1, 1, HAS(OPT_TENANT), command_type_explain,
		"tell which definition of a type answers for a tenant, and why",
		"The rule that decided, and what else there is: the tenant's own, and the one shared with it.",
		"tenure type explain widgets.example.com -t acme", NULL },
	{ "type", "effect", "TYPE [MEMBER=VALUE…]", 1, 0, HAS(OPT_TENANT) | HAS(OPT_FILE) | HAS(OPT_PATCH),
		command_type_effect, "tell what a change of a definition would do, and change nothing",
		"For which tenants another definition would answer than now, and for how many objects. --tenant is whose\n"
		"definition it is: system for those that are shared. The change is of MEMBER=VALUE and MEMBER:=JSON, or that of\n"
		"--patch; all of it with --file, where it may be new; or its deletion.",
		"tenure type effect widgets.example.com 'spec.applicableRange:=[\"tier=gold\"]' -t system", NULL },

	{ "space", "list", "", 0, 0, 0, command_space_list, "list the spaces there are, each with its policy",
		"To a tenant there is its own alone.", "tenure space list --columns tenant,policy", NULL },
	{ "space", "show", "[TENANT…]", 0, 9999, HAS(OPT_TENANT), command_space_show, "show tenants as their spaces have them",
		"With the policy and the annotations that decide which types they have. " TEXT_STDIN,
		"tenure space show acme --columns tenant,policy,annotations", NULL },
	{ "space", "policy set", "TENANT POLICY", 2, 2, HAS(OPT_ETAG), command_policy_set,
		"set which definitions come first for a tenant",
		"POLICY is LocalCRDFirst, SystemCRDFirst or NeverUseSystemCRDUnlessForced. With --dry-run the types that would get\n"
		"another definition are told, and how many objects they have.",
		"tenure space policy set acme SystemCRDFirst --dry-run", type_policies },

	{ "move", NULL, "SOURCE…", 1, 0, OPTIONS_WHOSE | HAS(OPT_TO) | HAS(OPT_ALL) | HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) |
		HAS(OPT_ASYNC) | HAS(OPT_NO_WAIT) | HAS(OPT_DRY_RUN) | HAS(OPT_NO_ETAG), command_move, "move to another tenant",
		"SOURCE is TYPE/NAME of --tenant, or as a preview lists it: namespaces/prod, "
		"namespaces/default/configmaps/web.\n"
		"With --all it is a tenant. " TEXT_STDIN,
		"tenure move configmaps/web -t acme --to globex --preview && tenure move configmaps/web -t acme --to globex "
		"--if-match auto", NULL },
	{ "move", "status", "ID", 1, 1, HAS(OPT_TENANT), command_move_status, "tell how far a background move is", "",
		"tenure move status c4ef6c00-dca3-4a5d-b45a-779e8bf53fab -t acme", NULL },

	{ "changes", "list", "", 0, 0, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_changes_list,
		"list the changes of a tenant and its resources, or of all tenants",
		"The oldest first. A script goes on with --after the last id that it saw. --follow shows those to come.",
		"tenure changes list -t acme --newest --limit 20 --type secrets", NULL },

	{ "version", NULL, "", 0, 0, 0, command_version, "tell the version", "", "tenure version", NULL },
	{ "help", NULL, "[NOUN [VERB]]", 0, 3, 0, command_help, "tell what there is, or what a command takes", "",
		"tenure help tenant set", NULL },
	{ "__complete", NULL, "WORD…", 0, 9999, 0, command_complete, NULL, "", "", NULL },
	{ .noun = NULL },
};
