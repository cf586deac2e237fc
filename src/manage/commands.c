// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "manage/manage.h"

#define OPTION_JSON { "--json", NULL, "a JSON array instead of a table" }

// The one list of commands: the usage text and every --help are written from it.
const struct manage_command manage_commands[] = {
	{ "db", "init", "", 0, NEEDS_CONFIG, command_db_init, "make the schema and the server's keys",
	  "Safe to run twice. Makes the database too, where the admin user may, and the system space. The keys are 32\n"
	  "random bytes each; who restores a dump restores them with it.",
	  { { "--print-grants", NULL, "print the statements that make database and users, and do nothing" },
	    { "--from", "HOST", "with --print-grants: the host that these users come from, localhost or % if not given" } }, false },
	{ "db", "status", "", 0, NEEDS_DATABASE, command_db_status, "tell the schema's version and what the registry holds",
	  "Exit code 0: up to date; 1: an upgrade is needed; 2: anything else, as files of another release.", { { NULL } }, true },
	{ "db", "upgrade", "", 0, NEEDS_DATABASE, command_db_upgrade, "apply the schema files it does not have yet",
	  "Exit code 0: up to date now; 2: not done. Take a dump before: MariaDB cannot roll back changes of tables.",
	  { { NULL } }, false },
	{ "db", "reset", "", 0, NEEDS_DATABASE, command_db_reset, "empty the registry: back to what db init made",
	  "Everything goes: tenants, resources, moves, the change log, tenants' tokens, tiers that were added. The server's\n"
	  "keys and the operators' tokens stay. Workers may run on meanwhile.",
	  { { "--yes", NULL, "really do it" } }, false },
	{ "token", "create", "", 0, NEEDS_DATABASE, command_token_create, "make a token and print it, this one time",
	  "DURATION is a number of seconds, or with a unit: 15m, 12h, 30d, 4w.",
	  { { "--tenant", "TENANT", "whose token it is" },
	    { "--role", "ROLE", "reader, member or admin of that tenant (default member)" },
	    { "--user", "USER", "who it stands for in logs and the change log" },
	    { "--operator", NULL, "an operator's token, in place of --tenant and --role" },
	    { "--expires", "DURATION", "from now on (default: never)" },
	    { "--description", "TEXT", "what it is for" } }, false },
	{ "token", "list", "", 0, NEEDS_DATABASE, command_token_list, "list tokens (their ids, never their secrets)", "",
	  { { "--tenant", "TENANT", "this tenant's only" }, OPTION_JSON }, false },
	{ "token", "revoke", "ID", 1, NEEDS_DATABASE, command_token_revoke, "make a token invalid from now on",
	  "ID is the part before the dot; the whole token does, too. Workers notice within token_cache milliseconds.",
	  { { NULL } }, false },
	{ "tier", "list", "", 0, NEEDS_DATABASE, command_tier_list, "list tiers, their limits, and tenants in each",
	  "", { OPTION_JSON }, false },
	{ "tier", "set", "NAME", 1, NEEDS_DATABASE, command_tier_set, "make a tier, or change one",
	  "What is not given keeps its value; in a new tier there is no limit. Lowering a limit below what tenants have\n"
	  "takes nothing away: they can't add.",
	  { { "--max-resources", "N|none", "how many resources a tenant may have" },
	    { "--description", "TEXT", "for people" } }, false },
	{ "tier", "remove", "NAME", 1, NEEDS_DATABASE, command_tier_remove, "remove a tier that no tenant is in", "",
	  { { NULL } }, false },
	{ "os-traits", "sync", "", 0, NEEDS_DATABASE, command_os_traits_sync, "add the standard traits that the catalogue lacks",
	  "Says what it added, and removes nothing by itself. Safe while workers run, and on several hosts at once; workers\n"
	  "know the new names within a second. A list is a text file of names, one a line, as scripts/make-os-traits writes\n"
	  "it; lines that begin with # are skipped. db init, db upgrade and db reset do the same with the package's list.",
	  { { "--from", "FILE", "another list than the one that came with the package" },
	    { "--dry-run", NULL, "only tell what would be added" },
	    { "--prune", NULL, "also list standard traits that the list lacks and no resource has" },
	    { "--yes", NULL, "with --prune: remove them" } }, false },
	{ "reap", NULL, "", 0, NEEDS_WRITER, command_reap, "purge what is past its retention; for cron", "",
	  { { "--dry-run", NULL, "only count" } }, false },
	{ "doctor", NULL, "", 0, NEEDS_DATABASE, command_doctor, "prove that the store is consistent",
	  "Exit code 0: it is (now, with --fix); 1: it is not; 2: the checks could not run.",
	  { { "--fix", NULL, "mend what can be mended without guessing" } }, true },
	{ "keys", NULL, "", 0, NEEDS_DATABASE, command_keys, "print the keys of all objects, in the layout of etcd",
	  "/registry/PLURAL[.GROUP]/TENANT/NAMESPACE/NAME; the system space's without TENANT. Keys of one tenant and type come\n"
	  "in their order.",
	  { { "--tenant", "TENANT", "this tenant's only" } }, false },
	{ "config", "check", "", 0, NEEDS_CONFIG, command_config_check, "check the configuration and every endpoint's WADL",
	  "Whether each method has a handler is checked by `tenured -t`.", { { NULL } }, false },
	{ "config", "show", "", 0, NEEDS_CONFIG, command_config_show, "print every setting with its value and meaning", "",
	  { { NULL } }, false },
	{ .noun = NULL },
};
