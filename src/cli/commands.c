// SPDX-License-Identifier: Apache-2.0
// Every command there is: parsing, help and completion read this table.
#include "base/base.h"

#include "cli/cli.h"

#define OPTIONS_WHOSE (HAS(OPT_TENANT) | HAS(OPT_NAMESPACE))
#define OPTIONS_CHANGE (HAS(OPT_ETAG) | HAS(OPT_NO_ETAG) | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN))

#define TEXT_ETAG "With --etag the change is made only if nobody changed it since. When somebody did, what the base " \
	"was, what you\nwant and what is there now are shown field by field, and the exit code is 5."
#define TEXT_STDIN "A name \"-\" stands for names on standard input, one a line."

const struct command commands[] = {
	{ "tenant", "list", "", 0, 0, HAS(OPT_DELETED), command_tenant_list, "list tenants", "",
		"tenure tenant list --columns id,tier,resources" },
	{ "tenant", "show", "ID…", 1, 0, 0, command_tenant_show, "show tenants", TEXT_STDIN, "tenure tenant show acme" },
	{ "tenant", "set", "ID [NAME=VALUE…]", 1, 0, HAS(OPT_TIER) | HAS(OPT_FILE) | OPTIONS_CHANGE, command_tenant_set,
		"make or change a tenant",
		"NAME=VALUE is metadata; given, it replaces all there is. With --file the document is read there.\n" TEXT_ETAG,
		"tenure tenant set acme --tier gold contact=ann --etag auto" },
	{ "tenant", "delete", "ID…", 1, 0, HAS(OPT_YES) | OPTIONS_CHANGE, command_tenant_delete,
		"delete tenants with all they own", "They can be recovered for a time. " TEXT_STDIN,
		"tenure tenant delete acme --yes --etag auto" },
	{ "tenant", "recover", "ID…", 1, 0, HAS(OPT_DRY_RUN), command_tenant_recover, "bring deleted tenants back",
		TEXT_STDIN, "tenure tenant recover acme" },

	{ "resource", "list", "TYPE", 1, 1, OPTIONS_WHOSE | HAS(OPT_DELETED), command_resource_list,
		"list resources of a type", "", "tenure configmaps list -n prod --columns name,data.color" },
	{ "resource", "show", "TYPE NAME…", 2, 0, OPTIONS_WHOSE, command_resource_show, "show resources",
		"What was shown is remembered for --etag auto. " TEXT_STDIN, "tenure configmaps show web --format json" },
	{ "resource", "set", "TYPE NAME [MEMBER=VALUE…]", 2, 0, OPTIONS_WHOSE | HAS(OPT_FILE) | OPTIONS_CHANGE,
		command_resource_set, "make or replace a resource",
		"MEMBER=VALUE sets a string, MEMBER:=JSON anything; MEMBER may be a path as data.color.\n" TEXT_ETAG,
		"tenure configmaps set web data.color=blue data.size:=3 --etag new" },
	{ "resource", "patch", "TYPE NAME [MEMBER=VALUE…]", 2, 0,
		OPTIONS_WHOSE | HAS(OPT_FILE) | HAS(OPT_PATCH) | OPTIONS_CHANGE, command_resource_patch,
		"change members of a resource",
		"The patch is of MEMBER=VALUE (a string) and MEMBER:=JSON (null removes), or that of --patch or --file.\n"
		TEXT_ETAG "\n" TEXT_STDIN, "tenure configmaps patch web data.color=red --etag auto --retry" },
	{ "resource", "edit", "TYPE NAME", 2, 2, OPTIONS_WHOSE | HAS(OPT_RETRY) | HAS(OPT_DRY_RUN), command_resource_edit,
		"change a resource in an editor",
		"$VISUAL or $EDITOR is opened on it, and what is saved is sent guarded by the etag. "
		"Unchanged, nothing is sent.",
		"EDITOR=nano tenure configmaps edit web" },
	{ "resource", "delete", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_YES) | OPTIONS_CHANGE, command_resource_delete,
		"delete resources", "They can be recovered for a time; a namespace goes with all that is in it. " TEXT_STDIN,
		"tenure configmaps list --format csv --columns name | tail -n +2 | tenure configmaps delete - -y --no-etag" },
	{ "resource", "recover", "TYPE NAME…", 2, 0, OPTIONS_WHOSE | HAS(OPT_UID) | HAS(OPT_DRY_RUN),
		command_resource_recover, "bring deleted resources back",
		"Of several deleted at one address the last comes, or the one of --uid. " TEXT_STDIN,
		"tenure configmaps recover web" },

	{ "move", NULL, "SOURCE…", 1, 0, OPTIONS_WHOSE | HAS(OPT_TO) | HAS(OPT_ALL) | HAS(OPT_PREVIEW) | HAS(OPT_IF_MATCH) |
		HAS(OPT_ASYNC) | HAS(OPT_NO_WAIT) | HAS(OPT_DRY_RUN) | HAS(OPT_NO_ETAG), command_move, "move to another tenant",
		"SOURCE is TYPE/NAME of --tenant, or as a preview lists it: namespaces/prod, "
		"namespaces/default/configmaps/web.\n"
		"With --all it is a tenant. " TEXT_STDIN,
		"tenure move configmaps/web -t acme --to globex --preview && tenure move configmaps/web -t acme --to globex "
		"--if-match auto" },
	{ "move", "status", "ID", 1, 1, HAS(OPT_TENANT), command_move_status, "tell how far a background move is", "",
		"tenure move status c4ef6c00-dca3-4a5d-b45a-779e8bf53fab -t acme" },

	{ "version", NULL, "", 0, 0, 0, command_version, "tell the version", "", "tenure version" },
	{ "help", NULL, "[NOUN [VERB]]", 0, 2, 0, command_help, "tell what there is, or what a command takes", "",
		"tenure help tenant set" },
	{ "__complete", NULL, "WORD…", 0, 9999, 0, command_complete, NULL, "", "" },
	{ .noun = NULL },
};

bool noun_known(const char *noun)
{
	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (strcmp(c->noun, noun) == 0)
			return true;
	}
	return false;
}

const struct command *command_find(const char *noun, const char *verb)
{
	const struct command *without = NULL;

	for (const struct command *c = commands; c->noun != NULL; c++) {
		if (strcmp(c->noun, noun) != 0)
			continue;
		if (c->verb == NULL)
			without = c;
		else if (verb != NULL && strcmp(c->verb, verb) == 0)
			return c;
	}
	return without;
}
