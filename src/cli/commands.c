// SPDX-License-Identifier: Apache-2.0
// The table of all commands: parsing, help and completion use it.
#include "base/base.h"

#include "cli/command/commands.h"
#include "cli/command_line.h"
#include "cli/core/cli.h"

#define OPTIONS_WHOSE (HAS(OPT_TENANT) | HAS(OPT_NAMESPACE))
#define OPTIONS_CHANGE (HAS(OPT_ETAG) | HAS(OPT_NO_ETAG) | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))

#define TEXT_ETAG "With --etag the change is made only if nobody changed the object since. If somebody did, the command " \
	"shows field by field\nwhat the base was, what you want and what is there now, and exits with 5."
#define OPTIONS_LIST (HAS(OPT_FIELDS) | HAS(OPT_LONG) | HAS(OPT_SORT) | HAS(OPT_LIMIT) | HAS(OPT_MARKER))
#define OPTIONS_CONDITIONS (HAS(OPT_DELETED) | HAS(OPT_SELECTOR) | HAS(OPT_MATCH) | HAS(OPT_CREATED_SINCE) | HAS(OPT_CREATED_BEFORE) | \
	HAS(OPT_UPDATED_SINCE) | HAS(OPT_UPDATED_BEFORE) | HAS(OPT_SORT) | HAS(OPT_LIMIT))
#define OPTIONS_PART (HAS(OPT_GENERATION) | HAS(OPT_ETAG) | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))
#define OPTIONS_EDIT (HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))

#define TEXT_LIST "The list has all objects, unless --limit gives a number. A table requests only the columns that it " \
	"shows; --long,\n--columns and --format json request whole objects."
#define TEXT_SHOW "The etag shown is remembered for --etag auto."
#define TEXT_MEMBERS "MEMBER=VALUE sets a string, MEMBER:=JSON any value; MEMBER may be a path such as extra.rack. A VALUE " \
	"of KEY=VALUE\nthat is valid JSON is sent as JSON: cpus=4 is a number."
#define TEXT_CREATE "The command prints the UUID, or the whole object with --format. Options override what --file has.\n" \
	 TEXT_MEMBERS
#define TEXT_SET TEXT_MEMBERS "\nMEMBER:=null removes a member. --patch takes the whole change as a JSON Patch.\n" TEXT_STDIN
#define TEXT_UNSET "A field is set to its default; a KEY or MEMBER is removed.\n" TEXT_STDIN
#define TEXT_EDIT "$VISUAL or $EDITOR opens the object. What you save is sent with its etag; if nothing changed, nothing is " \
	"sent."
#define TEXT_GENERATION "The change begins from what is there now, or with --generation auto from what was shown last, and is " \
	"made only if\nnobody changed the provider since. If somebody did, the command shows both sides and exits with 5; " \
	"with --retry it\nkeeps the changes of others and tries again."
#define TEXT_ALONE "Without --generation and --etag each one is added or removed by itself, whatever others change meanwhile."
#define TEXT_WEBHOOKS "The tenant \"all\" has the operators' own webhooks, which are told of the changes of all tenants."
#define TEXT_STDIN "The name \"-\" reads names from standard input, one per line."

const struct command cli_commands[] = {
	{ "tenant", "list", "", 0, 0, OPTIONS_CONDITIONS | HAS(OPT_METADATA) | HAS(OPT_TIER), command_tenant_list, "list tenants",
		"The list has the tenants that meet all conditions given by options.",
		"tenure tenant list --match tech --tier gold --columns id,tier,resources", NULL },
	{ "tenant", "show", "ID…", 1, 0, 0, command_tenant_show, "show tenants", TEXT_STDIN, "tenure tenant show acme", NULL },
	{ "tenant", "set", "ID [NAME=VALUE…]", 1, 0, HAS(OPT_TIER) | HAS(OPT_FILE) | OPTIONS_CHANGE, command_tenant_set,
		"create or change a tenant",
		"NAME=VALUE is metadata; it replaces all metadata that the tenant has. --file reads the document from a file.\n"
		TEXT_ETAG,
		"tenure tenant set acme --tier gold contact=ann --etag auto", NULL },
	{ "tenant", "delete", "ID…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_tenant_delete,
		"delete tenants with all they own", "Deleted tenants can be recovered for a time. " TEXT_STDIN,
		"tenure tenant delete acme --yes --etag auto", NULL },
	{ "tenant", "recover", "ID…", 1, 0, HAS(OPT_ETAG) | HAS(OPT_DRY_RUN), command_tenant_recover,
		"recover deleted tenants", TEXT_STDIN, "tenure tenant recover acme", NULL },

	{ "resource", "list", "TYPE", 1, 1, OPTIONS_WHOSE | OPTIONS_CONDITIONS | HAS(OPT_FIELD_SELECTOR), command_resource_list,
		"list resources of a type", "The list has the resources that meet all conditions given by options.",
		"tenure configmaps list -n prod -l app=web --sort created:desc --limit 10 --columns name,data.color", NULL },
	{ "resource", "show", "TYPE NAME…", 2, 0, OPTIONS_WHOSE, command_resource_show, "show resources",
		TEXT_SHOW " " TEXT_STDIN, "tenure configmaps show web --format json", NULL },
	{ "resource", "set", "TYPE NAME [MEMBER=VALUE…]", 2, 0, OPTIONS_WHOSE | HAS(OPT_FILE) | OPTIONS_CHANGE,
		command_resource_set, "create or replace a resource",
		"MEMBER=VALUE sets a string, MEMBER:=JSON any value; MEMBER may be a path such as data.color. Without them and --file "
		"an empty resource is created, and none is replaced.\n" TEXT_ETAG,
		"tenure configmaps set web data.color=blue data.size:=3 --etag new", NULL },
	{ "resource", "patch", "TYPE NAME [MEMBER=VALUE…]", 2, 0,
		OPTIONS_WHOSE | HAS(OPT_FILE) | HAS(OPT_PATCH) | OPTIONS_CHANGE, command_resource_patch,
		"change members of a resource",
		"MEMBER=VALUE sets a string, MEMBER:=JSON any value (null removes the member); --patch or --file has the whole patch.\n"
		TEXT_ETAG "\n" TEXT_STDIN, "tenure configmaps patch web data.color=red --etag auto --retry", NULL },
	{ "resource", "edit", "TYPE NAME", 2, 2, OPTIONS_WHOSE | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN), command_resource_edit,
		"change a resource in an editor",
		TEXT_EDIT,
		"EDITOR=nano tenure configmaps edit web", NULL },
	{ "resource", "delete", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_YES) | OPTIONS_CHANGE, command_resource_delete,
		"delete resources",
		"Deleted resources can be recovered for a time. A namespace is deleted with all that is in it. " TEXT_STDIN,
		"tenure configmaps list --format csv --columns name | tail -n +2 | tenure configmaps delete - -y --no-etag",
		NULL },
	{ "resource", "recover", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_UID) | HAS(OPT_ETAG) | HAS(OPT_DRY_RUN),
		command_resource_recover, "recover deleted resources",
		"If several were deleted at one address, the last is recovered, or the one that --uid names. With --etag it is\n"
		"recovered only if it has that etag.\n"
		TEXT_STDIN,
		"tenure configmaps recover web", NULL },

	{ "import", NULL, "FILE", 1, 1, OPTIONS_WHOSE | HAS(OPT_ETAG) | HAS(OPT_NO_ETAG), command_import,
		"create or replace resources from a file of CSV or JSON",
		"FILE is CSV, whose first line names the columns (name, namespace, data.color; data.size: holds JSON), a JSON list, or a\n"
		"JSON document on each line (.ndjson); - is standard input. A row creates its resource; what is there with other content\n"
		"is refused. --etag auto replaces resources that still have the etag of their row, --no-etag any. Rows that are refused\n"
		"are shown with their line and keep no other row from being imported. After an interruption, run it again: what is\n"
		"there already counts as unchanged.", "tenure import servers.csv --type configmaps -t acme --dry-run", NULL },
	{ "export", NULL, "TYPE…", 1, 0, OPTIONS_WHOSE, command_export, "write resources as JSON, a document on each line, or as CSV",
		"\"tenure import\" reads such a file. With --format json it is one list, with --format csv a table: each column is a\n"
		"member with a string, such as data.color, or one that holds JSON, such as data.size:.",
		"tenure export namespaces configmaps -t acme > acme.ndjson", NULL },

	{ "node", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list nodes", TEXT_LIST,
		"tenure node list --maintenance true --columns name,driver,maintenance_reason", NULL },
	{ "node", "show", "[NODE…]", 0, 9999, 0, command_baremetal_show, "show nodes",
		"A node is named by its UUID or name, or found by --instance. " TEXT_SHOW " " TEXT_STDIN,
		"tenure node show rack-7", NULL },
	{ "node", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"create a node", TEXT_CREATE,
		"tenure node create --driver ipmi --name rack-7 --driver-info ipmi_address=10.0.0.7 --property cpus=4", NULL },
	{ "node", "set", "NODE [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set, "change a node",
		TEXT_SET "\n" TEXT_ETAG,
		"tenure node set rack-7 --property memory_mb=65536 --extra rack=7 --etag auto --retry", NULL },
	{ "node", "unset", "NODE [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set, "remove members of a node",
		TEXT_UNSET "\n" TEXT_ETAG, "tenure node unset rack-7 --extra rack --description --etag auto", NULL },
	{ "node", "edit", "NODE", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a node in an editor", TEXT_EDIT,
		"EDITOR=nano tenure node edit rack-7", NULL },
	{ "node", "delete", "NODE…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete,
		"delete nodes with their ports and port groups",
		"Deleted nodes can be recovered for a time by \"tenure nodes recover UUID -t TENANT\". " TEXT_STDIN,
		"tenure node delete rack-7 --yes --etag auto", NULL },
	{ "node", "move", "NODE TENANT", 2, 2, HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) | HAS(OPT_NO_ETAG) | HAS(OPT_DRY_RUN),
		command_node_move, "give a node, with its ports, to another tenant",
		"The node moves in one transaction, as with \"tenure move\". --if-match refuses the move if its preview would be\n"
		"different now.",
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
		"remove traits from a node", TEXT_ETAG, "tenure node trait remove rack-7 CUSTOM_RED --etag auto", NULL },
	{ "node", "trait set", "NODE TRAIT…", 2, 0, OPTIONS_CHANGE, command_trait_set, "give a node exactly these traits",
		TEXT_ETAG, "tenure node trait set rack-7 CUSTOM_RED CUSTOM_LARGE --etag auto", NULL },

	{ "port", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list ports", TEXT_LIST,
		"tenure port list --node rack-7", NULL },
	{ "port", "show", "[PORT…]", 0, 9999, 0, command_baremetal_show, "show ports",
		"A port is named by its UUID, or found by --address. " TEXT_SHOW " " TEXT_STDIN,
		"tenure port show --address 52:54:00:00:00:01", NULL },
	{ "port", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"create a port", TEXT_CREATE,
		"tenure port create --node 4d8c1b30-7ef6-4a4c-b6d5-0a8d6f2f1f3e --address 52:54:00:00:00:01", NULL },
	{ "port", "set", "PORT [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set, "change a port",
		TEXT_SET "\n" TEXT_ETAG,
		"tenure port set 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --physical-network rack --etag auto", NULL },
	{ "port", "unset", "PORT [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set, "remove members of a port",
		TEXT_UNSET "\n" TEXT_ETAG,
		"tenure port unset 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --port-group --etag auto", NULL },
	{ "port", "edit", "PORT", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a port in an editor", TEXT_EDIT,
		"EDITOR=nano tenure port edit 1be26c0b-03f2-4d2e-ae87-c02d7f33c123", NULL },
	{ "port", "delete", "PORT…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete, "delete ports", TEXT_STDIN,
		"tenure port delete 1be26c0b-03f2-4d2e-ae87-c02d7f33c123 --yes --no-etag", NULL },

	{ "portgroup", "list", "", 0, 0, OPTIONS_LIST, command_baremetal_list, "list port groups", TEXT_LIST,
		"tenure portgroup list --node rack-7", NULL },
	{ "portgroup", "show", "[GROUP…]", 0, 9999, 0, command_baremetal_show, "show port groups",
		"A port group is named by its UUID or name, or found by --address. " TEXT_SHOW " " TEXT_STDIN,
		"tenure portgroup show bond-7", NULL },
	{ "portgroup", "create", "[MEMBER=VALUE…]", 0, 9999, HAS(OPT_FILE) | HAS(OPT_DRY_RUN), command_baremetal_create,
		"create a port group", TEXT_CREATE,
		"tenure portgroup create --node 4d8c1b30-7ef6-4a4c-b6d5-0a8d6f2f1f3e --name bond-7 --mode 802.3ad", NULL },
	{ "portgroup", "set", "GROUP [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set,
		"change a port group", TEXT_SET "\n" TEXT_ETAG,
		"tenure portgroup set bond-7 --property miimon=100 --etag auto", NULL },
	{ "portgroup", "unset", "GROUP [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set,
		"remove members of a port group", TEXT_UNSET "\n" TEXT_ETAG,
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
		"create a chassis", TEXT_CREATE, "tenure chassis create --description 'rack 7' --extra row=3", NULL },
	{ "chassis", "set", "CHASSIS [MEMBER=VALUE…]", 1, 0, HAS(OPT_PATCH) | OPTIONS_CHANGE, command_baremetal_set,
		"change a chassis", TEXT_SET "\n" TEXT_ETAG,
		"tenure chassis set 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --description 'rack 8' --etag auto", NULL },
	{ "chassis", "unset", "CHASSIS [MEMBER…]", 1, 0, OPTIONS_CHANGE, command_baremetal_set,
		"remove members of a chassis", TEXT_UNSET "\n" TEXT_ETAG,
		"tenure chassis unset 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --extra row --etag auto", NULL },
	{ "chassis", "edit", "CHASSIS", 1, 1, OPTIONS_EDIT, command_baremetal_edit, "change a chassis in an editor", TEXT_EDIT,
		"EDITOR=nano tenure chassis edit 9d738f14-cf4f-4ad7-8427-d2bb31ab297d", NULL },
	{ "chassis", "delete", "CHASSIS…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_baremetal_delete, "delete chassis",
		TEXT_STDIN, "tenure chassis delete 9d738f14-cf4f-4ad7-8427-d2bb31ab297d --yes --etag auto", NULL },

	{ "driver", "list", "", 0, 0, HAS(OPT_LONG), command_baremetal_list, "list the drivers that nodes can have", "",
		"tenure driver list --columns name,enabled_boot_interfaces", NULL },
	{ "driver", "show", "DRIVER…", 1, 0, 0, command_baremetal_show, "show drivers", TEXT_STDIN, "tenure driver show ipmi",
	NULL },

	{ "trait", "list", "", 0, 0, HAS(OPT_LONG), command_catalogue_list, "list all traits", "",
		"tenure trait list --starts-with HW_CPU_X86_", NULL },
	{ "trait", "show", "TRAIT…", 1, 0, 0, command_catalogue_show, "show the descriptions of traits", TEXT_STDIN,
		"tenure trait show CUSTOM_RED", NULL },
	{ "trait", "users", "TRAIT", 1, 1, 0, command_catalogue_users, "list the providers that have a trait", "",
		"tenure trait users CUSTOM_RED", NULL },
	{ "trait", "describe", "TRAIT [TEXT]", 1, 2, HAS(OPT_DRY_RUN), command_catalogue_describe,
		"describe a trait to people", "What you do not name stays as it is. An empty text removes the description.",
		"tenure trait describe CUSTOM_RED 'painted red; see CUSTOM_COLOR_RED' --deprecated true", NULL },
	{ "trait", "add", "TRAIT…", 1, 0, HAS(OPT_DRY_RUN), command_catalogue_add, "create custom traits",
		"A name begins with CUSTOM_, followed by A-Z, 0-9 and _. " TEXT_STDIN, "tenure trait add CUSTOM_RED",
		NULL },
	{ "trait", "remove", "TRAIT…", 1, 0, HAS(OPT_DRY_RUN), command_catalogue_remove, "delete custom traits",
		"Traits that something still has are refused. " TEXT_STDIN, "tenure trait remove CUSTOM_RED", NULL },

	{ "provider", "list", "", 0, 0, HAS(OPT_LONG), command_provider_list, "list providers of resources",
		"The list has the providers that meet all conditions given by options.",
		"tenure provider list --required HW_CPU_X86_AVX2 --forbidden CUSTOM_OLD --resource VCPU=4", NULL },
	{ "provider", "show", "PROVIDER…", 1, 0, HAS(OPT_LONG), command_provider_show, "show providers",
		"A provider is named by its UUID or name. --long shows its traits, aggregates and inventories, too.\n"
		TEXT_SHOW " " TEXT_STDIN,
		"tenure provider show rack-7 --long", NULL },
	{ "provider", "create", "NAME", 1, 1, HAS(OPT_DRY_RUN), command_provider_create, "create a provider",
		"The command prints the UUID, or the whole provider with --format.",
		"tenure provider create rack-7-numa0 --parent rack-7", NULL },
	{ "provider", "set", "PROVIDER", 1, 1, OPTIONS_CHANGE, command_provider_set,
		"rename a provider, or place it elsewhere",
		"With --parent none the provider becomes the root of its own tree.\n" TEXT_ETAG,
		"tenure provider set rack-7 --name rack-8 --etag auto", NULL },
	{ "provider", "delete", "PROVIDER…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_provider_delete,
		"delete providers",
		"Providers with children or allocations are refused. Deleted providers can be recovered for a time by\n"
		"\"tenure resourceproviders recover UUID -t TENANT\". " TEXT_STDIN,
		"tenure provider delete rack-7 --yes --etag auto", NULL },
	{ "provider", "usages", "PROVIDER", 1, 1, 0, command_provider_usages, "show how much of a provider is in use",
		"The capacity is (total - reserved) * allocation_ratio; free is what is left of it.",
		"tenure provider usages rack-7", NULL },
	{ "provider", "inventory list", "PROVIDER", 1, 1, 0, command_inventory_list,
		"list the inventories of a provider", "", "tenure provider inventory list rack-7", NULL },
	{ "provider", "inventory set", "PROVIDER CLASS=TOTAL… [CLASS:FIELD=NUMBER…]", 2, 0, HAS(OPT_REPLACE) | OPTIONS_PART,
		command_inventory_set, "set inventories of a provider",
		"FIELD is total, reserved, min_unit, max_unit, step_size or allocation_ratio. What you do not name stays as it is.\n"
		TEXT_GENERATION, "tenure provider inventory set rack-7 VCPU=64 VCPU:allocation_ratio=4 MEMORY_MB=262144", NULL },
	{ "provider", "inventory delete", "PROVIDER [CLASS…]", 1, 0, HAS(OPT_ALL) | HAS(OPT_YES) | OPTIONS_PART,
		command_inventory_delete, "delete inventories of a provider",
		"Inventories with allocations are refused.\n" TEXT_GENERATION,
		"tenure provider inventory delete rack-7 VGPU --yes", NULL },
	{ "provider", "trait list", "PROVIDER", 1, 1, 0, command_part_list, "list the traits of a provider", "",
		"tenure provider trait list rack-7", NULL },
	{ "provider", "trait set", "PROVIDER TRAIT…", 2, 0, OPTIONS_PART, command_part_set,
		"give a provider exactly these traits", TEXT_GENERATION,
		"tenure provider trait set rack-7 HW_CPU_X86_AVX2 CUSTOM_RED", NULL },
	{ "provider", "trait add", "PROVIDER TRAIT…", 2, 0, OPTIONS_PART, command_part_add, "give a provider traits",
		TEXT_ALONE "\n" TEXT_GENERATION, "tenure provider trait add rack-7 CUSTOM_RED", NULL },
	{ "provider", "trait remove", "PROVIDER [TRAIT…]", 1, 0, HAS(OPT_ALL) | OPTIONS_PART, command_part_remove,
		"remove traits from a provider", TEXT_ALONE "\n" TEXT_GENERATION,
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
		"remove a provider from aggregates", TEXT_GENERATION,
		"tenure provider aggregate remove rack-7 2f8a6a5e-0f0c-4b0e-9f57-6d7d5f0a3c11", NULL },

	{ "type", "list", "", 0, 0, HAS(OPT_TENANT), command_type_list, "list the types that a tenant may use",
		"The column \"tenant\" names the owner of the definition: the tenant or the system. Built-in types have no owner.",
		"tenure type list -t acme --columns type,tenant,short", NULL },
	{ "type", "show", "TYPE…", 1, 0, HAS(OPT_TENANT), command_type_show, "show the definitions of types",
		"TYPE is a full or short name, such as widgets.example.com or configmaps. " TEXT_STDIN,
		"tenure type show widgets.example.com -t acme", NULL },
	{ "type", "explain", "TYPE", 1, 1, HAS(OPT_TENANT), command_type_explain,
		"tell which definition of a type a tenant gets, and why",
		"The answer has the rule that decided, the tenant's own definition and the one shared with the tenant.",
		"tenure type explain widgets.example.com -t acme", NULL },
	{ "type", "effect", "TYPE [MEMBER=VALUE…]", 1, 0, HAS(OPT_TENANT) | HAS(OPT_FILE) | HAS(OPT_PATCH),
		command_type_effect, "show what a change of a definition would do, without making it",
		"The answer lists the tenants that would get another definition than now, and how many objects they have. --tenant\n"
		"names the owner of the definition: system for shared ones. MEMBER=VALUE and MEMBER:=JSON, or --patch, say what\n"
		"changes; --file has the whole definition, which may be new; --delete asks about its deletion.",
		"tenure type effect widgets.example.com 'spec.applicableRange:=[\"tier=gold\"]' -t system", NULL },

	{ "space", "list", "", 0, 0, 0, command_space_list, "list spaces with their policies",
		"A tenant sees only its own space.", "tenure space list --columns tenant,policy", NULL },
	{ "space", "show", "[TENANT…]", 0, 9999, HAS(OPT_TENANT), command_space_show, "show the spaces of tenants",
		"A space shows the policy and the annotations that decide which types the tenant has. " TEXT_STDIN,
		"tenure space show acme --columns tenant,policy,annotations", NULL },
	{ "space", "policy set", "TENANT POLICY", 2, 2, HAS(OPT_ETAG), command_policy_set,
		"set which definitions come first for a tenant",
		"POLICY is LocalCRDFirst, SystemCRDFirst or NeverUseSystemCRDUnlessForced. --dry-run lists the types that would get\n"
		"another definition, and how many objects they have.",
		"tenure space policy set acme SystemCRDFirst --dry-run", type_policies },

	{ "move", NULL, "SOURCE…", 1, 0, OPTIONS_WHOSE | HAS(OPT_TO) | HAS(OPT_ALL) | HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) |
		HAS(OPT_ASYNC) | HAS(OPT_NO_WAIT) | HAS(OPT_DRY_RUN) | HAS(OPT_NO_ETAG), command_move, "move to another tenant",
		"SOURCE is TYPE/NAME in --tenant, or a path as a preview lists it: namespaces/prod,\n"
		"namespaces/default/configmaps/web. With --all SOURCE is a tenant.\n" TEXT_STDIN,
		"tenure move configmaps/web -t acme --to globex --preview && tenure move configmaps/web -t acme --to globex "
		"--if-match auto", NULL },
	{ "move", "status", "ID", 1, 1, HAS(OPT_TENANT), command_move_status, "show how far a background move is", "",
		"tenure move status c4ef6c00-dca3-4a5d-b45a-779e8bf53fab -t acme", NULL },

	{ "move", "list", "", 0, 0, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_move_list, "list moves from and to a tenant",
		"The latest move comes first. Finished moves stay in the list as long as the service keeps them.",
		"tenure move list -t acme --limit 10", NULL },

	{ "forward", "list", "", 0, 0, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_forward_list,
		"list the addresses of a tenant that lead to resources elsewhere", "",
		"tenure forward list -t acme --columns resource,dest,expires", NULL },
	{ "forward", "expire", "ADDRESS TIME|never", 2, 2, OPTIONS_WHOSE | HAS(OPT_DRY_RUN), command_forward_expire,
		"set until when a forward leads on", "ADDRESS is as the list shows it, or TYPE/NAME in --namespace.",
		"tenure forward expire namespaces/default/configmaps/web 2030-11-21T05:24:00Z -t acme", NULL },
	{ "forward", "revoke", "ADDRESS…", 1, 0, OPTIONS_WHOSE | HAS(OPT_DRY_RUN), command_forward_revoke, "end forwards at once",
		TEXT_STDIN, "tenure forward revoke persistentvolumes/disk1 -t acme", NULL },

	{ "tier", "list", "", 0, 0, HAS(OPT_LIMIT), command_tier_list, "list the tiers that a tenant can be put into",
		"A tenant of a tier has at most so many resources; a tier without a number has no limit.",
		"tenure tier list && tenure tenant set acme --tier gold", NULL },
	{ "tier", "show", "NAME…", 1, 0, 0, command_tier_show, "show tiers and how many tenants are in each", TEXT_STDIN, "tenure tier show gold", NULL },
	{ "tier", "set", "NAME [MEMBER=VALUE…]", 1, 0, HAS(OPT_FILE) | OPTIONS_CHANGE, command_tier_set, "make or change a tier",
		"description=TEXT sets the description, max_resources:=N the limit, which a new tier has not; null removes a member.\n"
		"Members that you do not name stay. --file reads the whole document. If a limit becomes lower than what a tenant has,\n"
		"the tenant keeps its resources and cannot add any. " TEXT_ETAG,
		"tenure tier set silver max_resources:=5000 description='Up to 5,000 resources'", NULL },
	{ "tier", "delete", "NAME…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_tier_delete, "delete tiers that have no tenants",
		"A tier with tenants, perhaps deleted and recoverable ones, is not deleted, nor is the one that new tenants get. " TEXT_STDIN,
		"tenure tier delete silver --yes", NULL },

	{ "token", "list", "", 0, 0, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_token_list, "list the tokens of a tenant's users",
		"Tokens that have ended stay in the list until they are purged. The list never has a secret.",
		"tenure token list -t acme --columns id,user,role,expires", NULL },
	{ "token", "create", "USER", 1, 1, HAS(OPT_TENANT) | HAS(OPT_DRY_RUN), command_token_create, "create a token for a user",
		"The command prints the token, which nobody can read again, or the whole answer with --format. A token has your own\n"
		"role or a lower one.",
		"tenure token create bill -t acme --role reader --expires 2030-11-21T05:24:00Z", NULL },
	{ "token", "delete", "ID…", 1, 0, HAS(OPT_TENANT) | HAS(OPT_DRY_RUN), command_token_delete, "revoke tokens",
		"ID is the part of the token before its \".\". " TEXT_STDIN, "tenure token delete 0f3c9a71b2d4 -t acme", NULL },

	{ "changes", "list", "", 0, 0, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_changes_list,
		"list the changes of a tenant and its resources, or of all tenants",
		"The oldest change comes first. A script goes on with --after the last id that it saw. --follow waits for new changes\n"
		"and shows them, and waits for the service while that cannot be reached.",
		"tenure changes list -t acme --newest --limit 20 --type secrets", NULL },

	{ "changes", "undo", "REQUEST", 1, 1, HAS(OPT_TENANT) | HAS(OPT_YES) | HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) | HAS(OPT_NO_ETAG) |
		HAS(OPT_DRY_RUN), command_changes_undo, "take back what a request changed",
		"It takes back all of it or nothing; a refusal shows every reason. REQUEST is an id as \"tenure changes list\n"
		"--columns id,verb,resource,request\" or \"tenure history\" shows it. At a terminal the preview is shown before the question.",
		"tenure changes undo c4ef6c00-dca3-4a5d-b45a-779e8bf53fab -t acme --preview", NULL },

	{ "history", NULL, "RESOURCE", 1, 1, OPTIONS_WHOSE | HAS(OPT_LIMIT), command_history,
		"show the changes of a resource, with what each changed",
		"The newest change comes first, with the values before (-) and after (+). RESOURCE is TYPE/NAME, namespaces/NAMESPACE/TYPE/NAME\n"
		"or a uid; a deleted one is found as long as it can be recovered.",
		"tenure history configmaps/web -t acme --limit 5", NULL },

	{ "usage", NULL, "[TENANT]", 0, 1, HAS(OPT_TENANT), command_usage,
		"print what a tenant, or each tenant, had of each type, and for how long",
		"All figures are of closed periods, so they never change. A resource that counted for an hour is 3600 resource-seconds.",
		"tenure usage acme --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z --step month --format csv", NULL },

	{ "count", NULL, "[TENANT]", 0, 1, HAS(OPT_TENANT), command_count,
		"print how many resources of each type a tenant, or each tenant, has",
		"The namespace \"default\" does not count, nor does what is deleted. Types of which there are none are left out.",
		"tenure count acme", NULL },

	{ "find", NULL, "[NAME]", 0, 1, HAS(OPT_DELETED) | HAS(OPT_SELECTOR) | HAS(OPT_FIELD_SELECTOR) | HAS(OPT_MATCH) | HAS(OPT_CREATED_SINCE) |
		HAS(OPT_CREATED_BEFORE) | HAS(OPT_UPDATED_SINCE) | HAS(OPT_UPDATED_BEFORE) | HAS(OPT_LIMIT), command_find_resources,
		"find out whose a resource is, among those of all tenants; for operators",
		"NAME is a resource's name or uid, the own name of a node, port group, allocation or provider, a port's MAC address, or the\n"
		"UUID of a node's instance. An index has names and uids; without one, the service looks through all resources, or all of --type.",
		"tenure find web && tenure find 52:54:00:00:00:01 --format json", NULL },

	{ "webhook", "list", "", 0, 0, HAS(OPT_TENANT), command_webhook_list, "list the webhooks of a tenant",
		TEXT_WEBHOOKS, "tenure webhook list -t acme --columns name,state,upto,error", NULL },
	{ "webhook", "show", "NAME…", 1, 0, HAS(OPT_TENANT), command_webhook_show, "show webhooks and the last change that each has sent",
		TEXT_WEBHOOKS "\n" TEXT_STDIN, "tenure webhook show chat -t acme", NULL },
	{ "webhook", "set", "NAME [MEMBER=VALUE…]", 1, 0, HAS(OPT_TENANT) | HAS(OPT_FILE) | OPTIONS_CHANGE, command_webhook_set,
		"make or change a webhook",
		"MEMBER=VALUE sets url or description, MEMBER:=JSON sets paused, verbs, types or actors; null removes a member. Members\n"
		"that you do not name stay. --file reads the whole document. The secret of a new webhook is printed this once.\n"
		TEXT_WEBHOOKS "\n" TEXT_ETAG,
		"tenure webhook set chat url=https://chat.example.com/tenure 'verbs:=[\"deleted\",\"moved\"]' -t acme", NULL },
	{ "webhook", "delete", "NAME…", 1, 0, HAS(OPT_TENANT) | HAS(OPT_YES) | OPTIONS_CHANGE, command_webhook_delete,
		"delete webhooks and their messages", "A deleted webhook cannot be recovered. " TEXT_STDIN,
		"tenure webhook delete chat -t acme --yes", NULL },
	{ "webhook", "rotate", "NAME", 1, 1, HAS(OPT_TENANT) | HAS(OPT_YES) | HAS(OPT_DRY_RUN), command_webhook_rotate,
		"replace the secret of a webhook",
		"The new secret is printed this once. For a time, messages are signed with both secrets.",
		"tenure webhook rotate chat -t acme --yes", NULL },
	{ "webhook", "ping", "NAME", 1, 1, HAS(OPT_TENANT) | HAS(OPT_DRY_RUN), command_webhook_ping,
		"send a message without changes", "`tenure webhook deliveries` shows what became of it.",
		"tenure webhook ping chat -t acme", NULL },
	{ "webhook", "deliveries", "NAME", 1, 1, HAS(OPT_TENANT) | HAS(OPT_LIMIT), command_webhook_deliveries,
		"list messages: the one that is being sent, pings, and those that were given up",
		"The newest message comes first.", "tenure webhook deliveries chat -t acme", NULL },
	{ "webhook", "revive", "NAME [MESSAGE…]", 1, 0, HAS(OPT_TENANT) | HAS(OPT_ALL) | HAS(OPT_DRY_RUN), command_webhook_revive,
		"send messages that were given up again", "--all sends all of them again.",
		"tenure webhook revive chat --all -t acme", NULL },

	{ "version", NULL, "", 0, 0, 0, command_version, "print the version", "", "tenure version", NULL },
	{ "help", NULL, "[NOUN [VERB]]", 0, 3, 0, command_help, "list the commands, or explain one", "",
		"tenure help tenant set", NULL },
	{ .noun = NULL },
};
