// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "manage/commands.h"
#include "manage/database/database.h"
#include "manage/dump/dump.h"

#define OPTION_JSON { "--json", 0, NULL, "a JSON array instead of a table" }

// The table of all commands. The usage text and every --help are made of it.
const struct manage_command manage_commands[] = {
	{ "db", "init", "", 0, NEEDS_CONFIG, command_db_init, "create the schema, the server's keys and the system space",
	  "Creates the database as well, if the admin user has the privilege. Running it again changes nothing. The keys are\n"
	  "32 random bytes each and stored in the database, so a dump contains them.",
	  { { "--print-grants", 0, NULL, "print the statements that create the database and its users, and do nothing else" },
	    { "--from", 0, "HOST", "with --print-grants: the host from which these users connect (default localhost or %)" } }, false },
	{ "db", "status", "", 0, NEEDS_DATABASE, command_db_status, "print the schema's version and how much the registry holds",
	  "Exit code 0: up to date; 1: an upgrade is needed; 2: anything else, such as files of another release.", { { .name = NULL } }, true },
	{ "db", "upgrade", "", 0, NEEDS_DATABASE, command_db_upgrade, "apply the schema files that the database lacks",
	  "The service goes on meanwhile. If it was interrupted, run it again: it goes on where it stopped.\n"
	  "Exit code 0: up to date now; 1: --plan has found something to do; 2: failed, or the files are not those that were released.",
	  { { "--plan", 0, NULL, "only print what would be done, how long it may take, and how to go back" } }, true },
	{ "db", "reset", "", 0, NEEDS_DATABASE, command_db_reset, "empty the registry: back to the state after db init",
	  "Deletes all tenants, resources, moves, the change log, tenants' tokens and added tiers. The server's keys, the\n"
	  "operators' tokens and which server of a cluster is the writer stay. Workers may keep running.",
	  { { "--yes", 0, NULL, "required: confirms that everything is to be deleted" } }, false },
	{ "db", "restored", "", 0, NEEDS_CONFIG, command_db_restored, "make a database that was loaded from a backup fit to be served",
	  "Run it before anything of Tenure starts. Tokens that were revoked after the backup was made are valid in it: FILE has their ids,\n"
	  "a line each, as `token list --state revoked --ids` prints them. Ends the sessions of the console, gives no id of a change a\n"
	  "second time, and makes the server that was restored the writer where there are several. Running it again does no harm.",
	  { { "--revoke", 0, "FILE", "revoke the tokens of this list (-: standard input)" },
	    { "--revoke-all", 0, NULL, "revoke all tokens, where there is no list" },
	    { "--cancel-moves", 0, NULL, "give up the moves that waited in the background; otherwise tenured-host carries them out" } }, false },
	{ "token", "create", "", 0, NEEDS_DATABASE, command_token_create, "create a token and print it; it cannot be printed again",
	  "DURATION is a number of seconds, or with a unit: 15m, 12h, 30d, 4w.",
	  { { "--tenant", 0, "TENANT", "the tenant that the token gives access to" },
	    { "--role", 0, "ROLE", "the role in that tenant: reader, member or admin (default member)" },
	    { "--user", 0, "USER", "the user's name in the access log and the change log" },
	    { "--operator", 0, NULL, "create an operator's token; excludes --tenant and --role" },
	    { "--expires", 0, "DURATION", "lifetime of the token (default: it never expires)" },
	    { "--description", 0, "TEXT", "a note, shown by token list" } }, false },
	{ "token", "list", "", 0, NEEDS_DATABASE, command_token_list, "list tokens: their ids, not their secrets", "",
	  { { "--tenant", 0, "TENANT", "only those of this tenant" },
	    { "--state", 0, "STATE", "only those that are valid, expired or revoked" },
	    { "--ids", 0, NULL, "only the ids, one a line, as token revoke - reads them" }, OPTION_JSON }, false },
	{ "token", "revoke", "ID", 1, NEEDS_DATABASE, command_token_revoke, "revoke a token",
	  "ID is the part of the token before the dot; the whole token is accepted, too. \"-\" stands for ids on standard input, one\n"
	  "a line; those that are not there are skipped. Workers refuse a revoked token within token_cache milliseconds.",
	  { { .name = NULL } }, false },
	{ "token", "revoke-all", "", 0, NEEDS_DATABASE, command_token_revoke_all, "revoke all tokens, operators' and tenants'",
	  "For tokens that may have become known to others. A database that was restored from a backup needs `db restored`. Prints\n"
	  "how many were revoked.",
	  { { "--tenant", 0, "TENANT", "only those of this tenant; an empty name: only the operators'" },
	    { "--yes", 0, NULL, "required: confirms that all these users need new tokens" } }, false },
	{ "tier", "list", "", 0, NEEDS_DATABASE, command_tier_list, "list tiers, their limits, and the number of tenants in each",
	  "", { OPTION_JSON }, false },
	{ "tier", "set", "NAME", 1, NEEDS_DATABASE, command_tier_set, "create or change a tier",
	  "Options that are not given leave values as they are; a new tier has no limit. If a limit becomes lower than what a\n"
	  "tenant has, the tenant keeps its resources and cannot add any.",
	  { { "--max-resources", 0, "N|none", "the largest number of resources of a tenant" },
	    { "--description", 0, "TEXT", "a note, shown by tier list" } }, false },
	{ "tier", "remove", "NAME", 1, NEEDS_DATABASE, command_tier_remove, "remove a tier that has no tenants", "",
	  { { .name = NULL } }, false },
	{ "os-traits", "sync", "", 0, NEEDS_DATABASE, command_os_traits_sync, "add the standard traits that the catalogue lacks",
	  "Prints what it adds; it removes nothing without --prune. It may run while workers do, and on several hosts at once;\n"
	  "workers know the new names within a second. A list is a text file with one name a line, as scripts/make-os-traits\n"
	  "writes it; lines that begin with # are skipped. db init, db upgrade and db reset do the same with the package's list.",
	  { { "--from", 0, "FILE", "the list to read (default: the package's)" },
	    { "--dry-run", 0, NULL, "only print what would be added" },
	    { "--prune", 0, NULL, "also print standard traits that are not in the list and that no resource has" },
	    { "--yes", 0, NULL, "with --prune: remove these" } }, false },
	{ "status", NULL, "", 0, NEEDS_CONFIG, command_status, "print what this host's processes have counted, and how they are",
	  "The figures are those of GET /metrics. It works while the database is away. It needs to write to runtime_dir's file.",
	  { { "--format", 0, "FORMAT", "text (default) or json, an object on one line" },
	    { "--watch", 0, NULL, "again every two seconds, until it is stopped" } }, false },
	{ "log-level", NULL, "LEVEL", 1, NEEDS_CONFIG, command_log_level, "set the level of log lines of all processes of this host",
	  "LEVEL is error, warning, info, debug, or default for what the configuration says. The processes take it within a second, and\n"
	  "keep it until it is set again, or the file in runtime_dir is lost, as by a reboot.", { { .name = NULL } }, false },
	{ "reap", NULL, "", 0, NEEDS_WRITER, command_reap, "purge what is past its retention time; for cron", "",
	  { { "--dry-run", 0, NULL, "only print the counts" } }, false },
	{ "maintenance", "on", "", 0, NEEDS_DATABASE, command_maintenance_on, "stop all changes, while reads go on",
	  "Changes are answered 503 with the reason and Retry-After, on all hosts from one moment on, and through restarts; movers and\n"
	  "purges wait. If the command ends with 0, nothing is being changed any more. It waits for that up to 15 minutes, and then ends with 75:\n"
	  "new changes are refused already, but an earlier one may still go on; run it again. What tenure-manage itself does goes on.",
	  { { "--reason", 0, "TEXT", "what to tell clients" },
	    { "--retry-after", 0, "DURATION", "when they are to try again (default 60)" } }, false },
	{ "maintenance", "off", "", 0, NEEDS_DATABASE, command_maintenance_off, "allow changes again", "", { { .name = NULL } }, false },
	{ "maintenance", "status", "", 0, NEEDS_DATABASE, command_maintenance_status, "print whether changes are stopped, since when and why", "",
	  { { .name = NULL } }, false },
	{ "dump", NULL, "FILE", 1, NEEDS_DATABASE, command_dump, "write a tenant, or the whole installation, into a file",
	  "FILE is made when the dump is whole, and only its owner may read it; \"-\" is standard output. The service goes on meanwhile: the\n"
	  "file is the state of one moment. It holds the data of Secrets. doc/dump.md tells what is in it and what is not.",
	  { { "--tenant", 0, "TENANT", "a tenant" },
	    { "--all", 0, NULL, "everything: all tenants, their trash, the change log, tokens, the server's keys" },
	    { "--without-tokens", 0, NULL, "with --all: no tokens" } }, false },
	{ "restore", NULL, "FILE", 1, NEEDS_WRITER, command_restore, "make the tenant, or the installation, of a dump again",
	  "In one transaction, here or in another installation, with all uids. If a name, uid or lookup key is taken, or a resource does\n"
	  "not fit the types, tiers and limits here, all of that is printed, nothing is restored, and the exit code is 65, as for a file\n"
	  "that is not as it was dumped. A whole installation needs an empty one, as db init leaves it, in which nothing of Tenure runs.\n"
	  "FILE \"-\" is standard input.",
	  { { "--as", 0, "NAME", "another name for the tenant" },
	    { "--tier", 0, "TIER", "another tier for the tenant" },
	    { "--keep-invalid", 0, NULL, "also take objects of custom types that don't fit their schemas here, and wrong kinds of metadata" },
	    { "--without-tokens", 0, NULL, "of an installation: leave its tokens out, and keep those that are here" },
	    { "--dry-run", 0, NULL, "check everything, restore nothing" } }, false },
	{ "cluster", "status", "", 0, NEEDS_CONFIG, command_cluster_status, "print how the nodes of the database are, and which one is the writer",
	  "Exit code 0: the writer can be used; 1: there is none, or it can't be used; 2: no node answers.", { { .name = NULL } }, true },
	{ "cluster", "switch", "NODE", 1, NEEDS_CONFIG, command_cluster_switch, "make another node of the database the writer",
	  "NODE is the node's name, or how [database] host names it. Transactions of the writer are waited for up to a second; what\n"
	  "takes longer is rolled back. Half a second passes in which nothing is written. Without Galera: NODE becomes the primary and\n"
	  "all others its replicas; if it can't, all reasons are printed.",
	  { { "--force", 0, NULL, "the primary is gone, and what no replica received from it may be lost" } }, false },
	{ "cluster", "fence", "", 0, NEEDS_CONFIG, command_cluster_fence, "stop all writes to the database",
	  "Until `tenure-manage cluster switch NODE`; tenured-host appoints no writer meanwhile.", { { .name = NULL } }, false },
	{ "doctor", NULL, "", 0, NEEDS_DATABASE, command_doctor, "check that the stored data are consistent",
	  "Exit code 0: consistent (now, with --fix); 1: not consistent; 2: the checks could not run, or were stopped.\n"
	  "SIGTERM and SIGINT stop them behind the slice of rows that they are at; they can be killed, too.",
	  { { "--fix", 0, NULL, "repair what can be repaired from other stored data" },
	    { "--resume", 0, NULL, "go on where the last doctor was stopped" } }, true },
	{ "usage", "verify", "", 0, NEEDS_DATABASE, command_usage_verify, "count closed periods again from the change log, and compare",
	  "Prints each stored figure that is not the one that was counted; nothing is changed. Exit code 0: all are equal; 1: some are\n"
	  "not; 2: it could not run, or was stopped. doc/usage.md tells what to do then.", { { .name = NULL } }, true },
	{ "import", "placement", "", 0, NEEDS_WRITER, command_import_placement,
	  "take over the database of OpenStack's Placement service",
	  "FILE is placement.conf, or a file with its section [placement_database] and the option connection. Placement must not be\n"
	  "written meanwhile; its database is only read. If anything can't be taken over, or is here already and differs, all of it is\n"
	  "reported, nothing is imported, and the exit code is 65. An import that was interrupted is run again and goes on.",
	  { { "--from", 0, "FILE", "required: where Placement's database is" },
	    { "--dry-run", 0, NULL, "check everything, import nothing" } }, false },
	{ "export", "placement", "", 0, NEEDS_WRITER, command_export_placement,
	  "write the registry's providers and allocations back into a Placement database",
	  "FILE is as for import. The database must be empty, or be as it was when it was imported; otherwise nothing is written, and\n"
	  "the exit code is 65. All is one transaction, which is compared with the registry before it is committed.",
	  { { "--to", 0, "FILE", "required: where Placement's database is" },
	    { "--dry-run", 0, NULL, "print what would be written, and roll it back" },
	    { "--list", 0, NULL, "print each provider and consumer that is taken away or written" } }, false },
	{ "etag-key", "list", "", 0, NEEDS_DATABASE, command_etag_key_list, "list the keys by which etags are made: their ids, not the keys", "",
	  { { "--count", 0, NULL, "count the tags of each; this reads all resources" }, OPTION_JSON }, false },
	{ "etag-key", "add", "", 0, NEEDS_DATABASE, command_etag_key_add, "make a key for new etags, and print its id",
	  "No etag changes: resources and tenants get one of the new key when they change. The service goes on; its processes use the\n"
	  "key within seconds, ten minutes at most.", { { .name = NULL } }, false },
	{ "etag-key", "retire", "ID", 1, NEEDS_DATABASE, command_etag_key_retire, "remove a key of which no etag is left",
	  "It is refused while a resource or tenant, perhaps a deleted one, has a tag of the key, for the newest key, and for the first\n"
	  "one. It reads all resources.", { { .name = NULL } }, false },
	{ "keys", NULL, "", 0, NEEDS_DATABASE, command_keys, "print the keys of all objects, in the layout of etcd",
	  "/registry/[GROUP/]PLURAL/TENANT/NAMESPACE/NAME; those of the system space have no TENANT. The keys of one tenant and\n"
	  "type are in the order of namespace and name, which is not that of their bytes: prod/a stands before prod-eu/a.",
	  { { "--tenant", 0, "TENANT", "only those of this tenant" } }, false },
	{ "config", "check", "", 0, NEEDS_CONFIG, command_config_check, "check the configuration and every endpoint's WADL",
	  "`tenured -t` checks that each method has a handler.", { { .name = NULL } }, false },
	{ "config", "show", "", 0, NEEDS_CONFIG, command_config_show, "print every setting with its value and meaning", "",
	  { { .name = NULL } }, false },
	{ .noun = NULL },
};
