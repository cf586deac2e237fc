// SPDX-License-Identifier: Apache-2.0
// For files in cli/ only: what the commands of tenure work with.
#ifndef TENURE_CLI_CORE_CLI_H
#define TENURE_CLI_CORE_CLI_H

#include <sysexits.h>

#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"
#include "lib/client.h"
#include "repr/json/doc.h"

// Exit codes that are not sysexits'; tenure(1) lists them all.
enum { EXIT_NOT_FOUND = 1, EXIT_GONE = 3, EXIT_CONFLICT = 4, EXIT_STALE = 5, EXIT_ELSEWHERE = 6 };

// Every option there is, for the table in option_rows.c.
enum option {
	OPT_URL, OPT_TOKEN, OPT_TOKEN_FILE, OPT_CA_FILE, OPT_TIMEOUT, OPT_FORMAT, OPT_COLUMNS, OPT_HELP,
	OPT_TENANT, OPT_NAMESPACE, OPT_ETAG, OPT_NO_ETAG, OPT_RETRY, OPT_DRY_RUN, OPT_YES, OPT_FILE, OPT_PATCH, OPT_DELETED,
	OPT_UID, OPT_TIER, OPT_TO, OPT_ALL, OPT_PREVIEW, OPT_IF_MATCH, OPT_ASYNC, OPT_NO_WAIT,
	OPT_FIELDS, OPT_LONG, OPT_SORT, OPT_LIMIT, OPT_MARKER, OPT_REASON, OPT_GENERATION, OPT_REPLACE, OPT__COUNT
};
#define HAS(option) (UINT64_C(1) << (option))

struct option_row {
	const char *name; // with its dashes
	char letter;      // 0: none
	const char *value; // what it takes; NULL for a switch
	const char *help;
};
extern const struct option_row option_rows[OPT__COUNT];

// An option that stands for a member of what a noun has, or for a filter of its list: fields.c has them all. They stand
// behind noun and verb, and may be given several times.
enum field_kind {
	FIELD_TEXT,
	FIELD_BOOL,
	FIELD_JSON,
	FIELD_KEYS, // KEY=VALUE, of an object; for unset KEY alone
	FIELD_ANY_OF,  // of a query: "A,B", one of them; again: and
	FIELD_NONE_OF, // "A,B", none of them
	FIELD_AMOUNTS, // "CLASS=N"; again: and
};
enum field_use { USE_LIST = 1, USE_SHOW = 2, USE_CREATE = 4, USE_SET = 8, USE_UNSET = 16 };
struct field {
	const char *name;   // with its dashes; NULL ends a table
	const char *member; // of the object, or of the list's query
	enum field_kind kind;
	unsigned uses;
	const char *value;  // what it takes; for unset only that of FIELD_KEYS, without "=VALUE"
	const char *help;
};
struct given {
	const struct field *field;
	const char *value; // NULL: it takes none here
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct cli;

// A noun is its rows here and a file of its own.
struct command {
	const char *noun;
	const char *verb;      // one word or two; NULL: the noun alone is the command
	const char *arguments; // "TYPE NAME…", "" for none
	unsigned least, most;  // how many; most 0 with least > 0: any number
	uint64_t options;      // HAS(…), besides those that all have
	int (*run)(struct cli *cli);
	const char *help;      // one line
	const char *more;      // further paragraphs of its help
	const char *example;   // a line to type
	const char *const *choices; // what the second argument may be, for completion; ends with NULL. NULL: not known
};
extern const struct command cli_commands[]; // ends with noun NULL. main.c alone reads it; others have it from cli->commands

struct cli {
	struct pool *pool;
	const struct command *commands; // all there are; ends with noun NULL
	const struct command *command;  // the one that was typed
	const char **arguments;
	size_t n_arguments;
	const char *options[OPT__COUNT]; // values, "" for switches, NULL when not given
	struct given *given;             // in their order
	size_t n_given;
	const char *url;
	const char *tenant; // NULL: not said
	enum format format;
	bool format_given;
	bool out_is_terminal;
	struct tenure_client *client;
};

// ---- fail.c

// "tenure: text" on stderr, control characters made visible; returns code.
int cli_fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
// The same without an end of it: a warning.
void cli_warn(const char *format, ...) PRINTF_LIKE(1, 2);
// Tells of a call that did not end well, about label, and returns the exit code for it.
int cli_fail_status(struct cli *cli, enum tenure_status status, const char *label);

// ---- command_table.c

// The command that the words begin with; *used: how many words its noun and verb are. NULL: there is none. A noun without
// such a verb, or without any, gives the noun's row with verb NULL, if it has one.
const struct command *command_find(const struct command *commands, const char *const *words, size_t n, size_t *used);
bool noun_known(const struct command *commands, const char *noun);
// True if the word can be the plural of a type.
bool is_type(const char *word);

// ---- options.c, help.c

// Parses the command line into cli. Returns 0 to go on, else exit code + 1.
int options_parse(struct cli *cli, int argc, char **argv);
void help_all(const struct command *commands, FILE *out);
void help_noun(const struct command *commands, const char *noun, FILE *out);
void help_command(const struct command *command, FILE *out);

// ---- settings.c

// Where to and as whom, from options, environment and file. Exit code.
int settings_load(struct cli *cli);
// "" for what is not there; NULL when the file can't be read, which is told.
char *read_whole(struct pool *pool, const char *path, size_t *length);

// ---- state.c: what was shown last, for --etag auto

struct remembered {
	struct str etag;
	const struct doc *document; // NULL: none
};
// Under the service's URL and this path. A failure is a warning only.
void state_save(struct cli *cli, const char *path, const char *etag, struct str document);
void state_forget(struct cli *cli, const char *path);
bool state_load(struct cli *cli, const char *path, struct remembered *remembered);

// ---- text.c

// Without what a terminal would obey: control characters and marks that turn the writing direction are shown as \xHH or
// \u{HHHH}, bytes that are no UTF-8 too.
struct str text_tame(struct pool *pool, struct str s);
// The same for JSON text, where they can be written as \uHHHH.
struct str text_tame_json(struct pool *pool, struct str s);
// Columns on a terminal.
size_t text_width(struct str s);
void text_print(FILE *out, struct str s);
// One value as a cell: strings as they are, all else as JSON.
struct str text_of(struct pool *pool, const struct doc *value);
// Member at a path of names with dots; names that hold dots are found, too. False: there is none.
bool doc_at_path(const struct doc *doc, struct str path, const struct doc **value);
// JSON for people: two blanks a level.
void doc_write_pretty(const struct doc *doc, struct buf *out);

// ---- table.c

struct column {
	const char *name; // as --columns and the title have it
	const char *path;
};
struct table;
// Columns that --columns names out of known, or by their path; else the first n_shown of known. NULL: complained about.
struct table *table_new(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown);
void table_add(struct table *table, const struct doc *document);
void table_print(struct table *table);
// A table where --columns asks for one, else NULL. False: complained about.
bool table_wanted(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown, struct table **table);
// One document, as the format says.
void document_print(struct cli *cli, const struct doc *document);

// ---- each.c

// Does it with one name. Exit code.
typedef int name_fn(struct cli *cli, const char *name, void *arg);
// With each of the names that input_names made, whatever became of those before. Exit code: the first that is not 0.
int each_of(struct cli *cli, const char **names, name_fn *fn, void *arg);
// The same with the arguments from first on.
int each_name(struct cli *cli, size_t first, name_fn *fn, void *arg);
// The same; fn shows what is named. Its arg is the table to add it to where --columns asks for one, else NULL.
int show_each(struct cli *cli, size_t first, const struct column *known, size_t n_known, size_t n_shown, name_fn *fn);
// Adds what is in the list, no more than limit where that is not 0. label: of what, for complaints. Exit code.
int table_fill(struct cli *cli, struct table *table, struct tenure_list *list, uint64_t limit, const char *label);

// ---- merge.c

struct difference {
	struct str path;
	const struct doc *base, *yours, *theirs;
	bool in_base, in_yours, in_theirs; // it is there
	bool clash; // both changed it, each in another way
};
struct merge {
	struct doc *result;
	struct difference *list;
	size_t n;
	bool clash;
};
// Three-way: what either side made of base. Arrays are taken as a whole.
void merge_documents(struct pool *pool, const struct doc *base, const struct doc *yours, const struct doc *theirs,
	struct merge *merge);
enum target_kind { TARGET_RESOURCE, TARGET_TENANT, TARGET_METAL, TARGET_PROVIDER };
// What is a client's own in a document that the service sent; members a PUT may leave out come from other.
struct doc *document_own(struct pool *pool, const struct doc *document, const struct doc *other, enum target_kind kind);

// ---- change.c: changes guarded by an etag

struct target {
	struct tenure_resource *resource;
	const char *label; // "configmaps/web"
	enum target_kind kind;
};
// The last two are of nodes, their documents {"traits": […]} and {"maintenance": …, "maintenance_reason": …}.
enum change_kind { CHANGE_PUT, CHANGE_PATCH, CHANGE_DELETE, CHANGE_JSON_PATCH, CHANGE_TRAITS, CHANGE_MAINTENANCE };
struct change {
	enum change_kind kind;
	struct str body;
	const struct doc *document; // the body, read
	// Known when it comes from an editor: what was edited. Else what was remembered.
	const struct doc *base;
	const char *etag; // NULL: as the options say
};
// Makes the change as --etag, --no-etag, --retry and --dry-run say. Exit code.
int change_make(struct cli *cli, const struct target *target, struct change *change);
// The same with the body that its document makes, if it has one. Takes the target's resource.
int target_change(struct cli *cli, struct target *target, struct change *change);
// Makes what has no address yet, out of the document, and tells its UUID, or the whole where a format was asked for.
// Exit code.
int create(struct cli *cli, const struct target *target, const struct doc *document);
// By the options; base is what the tag stands for, where that is known. Exit code.
int change_etag(struct cli *cli, const struct target *target, struct change *change, struct tenure_etag *etag);
// Brings back what was deleted at the target's address, with --etag only what has that. Exit code.
int recover(struct cli *cli, const struct target *target, const char *uid);
// What the target holds now is what was seen last.
void remember(struct cli *cli, const struct target *target);
// "tenure: …: done" where somebody looks, or the document where a format was asked for.
void announce(struct cli *cli, const struct target *target, const char *what);
// The same for what no target stands for, where nobody asked for a format.
void announce_done(struct cli *cli, const char *label, const char *what);
// Each difference with its values, on stderr: what it was where that is known, what was wanted unless it was to be gone,
// what the service has.
void show_differences(struct cli *cli, const struct merge *merge, bool base_known, bool wanted);
// As a tag goes: "auto" is the one remembered of that path. Exit code.
int etag_given(struct cli *cli, const char *path, const char *label, struct str *etag);
// Asks before what --yes would allow. False: no, and told.
bool confirmed(struct cli *cli, const char *question);
// Reads what the target is now, remembers and returns it. Exit code.
int target_read(struct cli *cli, const struct target *target, const struct doc **document);
// Reads it, and adds it to the table or, where that is NULL, prints it: with document_print, thing_print. Takes the
// target's resource. Exit code.
int target_show(struct cli *cli, struct target *target, struct table *table,
	void (*print)(struct cli *cli, const struct doc *document));

// The resource of that address, in the namespace that -n says or its type is in by itself where space is NULL. False:
// told. Its resource is the caller's.
bool resource_target(struct cli *cli, const char *space, const char *type, const char *name, struct target *target);

// ---- fields.c: the options of bare metal and placement

// The fields that the command takes, one after the other: the one behind after, NULL for the first; NULL: no more.
const struct field *field_next(const struct command *command, const struct field *after);
// What the field takes there, "KEY=VALUE"; n 0: nothing.
struct str field_takes(const struct command *command, const struct field *field);
// Out of --file, the options given and MEMBER=VALUE arguments from first on: a new thing's document; the JSON Patch of
// a set or an unset, where it may be that of --patch. Exit code.
int fields_document(struct cli *cli, size_t first, struct doc **document);
int fields_patch(struct cli *cli, size_t first, struct doc **patch);
// The filters given, for the list. Exit code.
int fields_filter(struct cli *cli, struct tenure_list *list);

// ---- move.c

// Previews or makes a move, as the options say; takes the move. key: what its preview is remembered under. Exit code.
int move_as_told(struct cli *cli, struct tenure_move *move, const char *label, const char *key);

// ---- baremetal.c

// Of the command's noun. False: told. Its resource is the caller's.
bool metal_target(struct cli *cli, const char *ident, struct target *target);

// One document without its links, which tell people nothing; JSON has them.
void thing_print(struct cli *cli, const struct doc *document);

// ---- placement.c: calls below /placement

// The path stands behind that, the body is NULL for none. *answer NULL where it has no body; answer may be NULL.
enum tenure_status placement_call(struct cli *cli, struct wish wish, const struct doc *body, struct doc **answer,
	int *http);
// "/traits/CUSTOM_A": a root and one segment. False: told.
bool placement_path(struct cli *cli, const char *root, const char *segment, struct str *path);

struct provider {
	const char *label; // "provider rack-7"
	const char *uuid;
	const char *path;  // "/placement/resource_providers/UUID"
};
// By UUID or name, which is looked up. Exit code.
int provider_find(struct cli *cli, const char *ident, struct provider *provider);

// ---- provider_part.c: what hangs on a provider and is changed as a whole, under the provider's generation
//
// Such a part is handled as an object: inventories by class, traits and aggregates as {NAME: true}.

struct part {
	const char *name; // "traits": the last segment of its address, and the member it stands in
	bool is_list;     // of names
};
extern const struct part part_traits, part_aggregates, part_inventories;

struct part_edit {
	// What is to be made of base. NULL: that can't be done, and was told.
	struct doc *(*make)(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
	void *arg;
	bool whole; // says all there is to be: it is done again only where nobody changed the part
};
// Two makes that fit every part: no more and no less than arg; base, patched by the merge patch that arg is.
struct doc *part_exactly(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
struct doc *part_patched(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
// Exit code.
int part_read(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content);
// The same, and it is what was shown last.
int part_show(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content);
// Changes it as --generation, --etag, --retry and --dry-run say. Exit code.
int part_change(struct cli *cli, const struct provider *provider, const struct part *part,
	const struct part_edit *edit);

// ---- space.c

// What a tenant's policy may be; ends with NULL.
extern const char *const type_policies[];

// ---- dry_run.c

// From now on changes are printed as a line of curl and not sent.
void dry_run(struct cli *cli);

// ---- input.c

// Arguments from first on, before end; "-" stands for lines of standard input. NULL ends it. NULL: nothing came, and it
// was told.
const char **input_names(struct cli *cli, size_t first, size_t end);
// The document of --file, --patch or MEMBER=VALUE arguments from first on; *document NULL when none of them was given.
// Exit code.
int input_document(struct cli *cli, size_t first, struct doc **document);
// The document as text.
struct str doc_text(struct pool *pool, const struct doc *document);
int input_parse(struct cli *cli, struct str text, const char *where, struct doc **document);
// Sets member "a.b.c" of object, making objects on the way.
void doc_set_path(struct pool *pool, struct doc *object, struct str path, struct doc *value);
// "NAME=VALUE", a string, or "NAME:=JSON". False: told.
bool input_assignment(struct cli *cli, const char *word, struct str *name, struct doc **value);

// ---- the commands

int command_tenant_list(struct cli *cli);
int command_tenant_show(struct cli *cli);
int command_tenant_set(struct cli *cli);
int command_tenant_delete(struct cli *cli);
int command_tenant_recover(struct cli *cli);
// The built-in types whose resources `tenure resource` handles; plural NULL: the end.
struct offered_type {
	const char *plural;
	const char *short_names[2]; // NULL: no more
	bool offered;    // false: other commands handle it
	bool namespaced; // in the namespace default, if none is given
};
extern const struct offered_type offered_types[];
int command_resource_list(struct cli *cli);
int command_resource_show(struct cli *cli);
int command_resource_set(struct cli *cli);
int command_resource_patch(struct cli *cli);
int command_resource_edit(struct cli *cli);
int command_resource_delete(struct cli *cli);
int command_resource_recover(struct cli *cli);
int command_metal_list(struct cli *cli);
int command_metal_show(struct cli *cli);
int command_metal_create(struct cli *cli);
int command_metal_set(struct cli *cli);
int command_metal_edit(struct cli *cli);
int command_metal_delete(struct cli *cli);
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
int command_version(struct cli *cli);
int command_help(struct cli *cli);
int command_complete(struct cli *cli);

// ---- edit.c: the editor on what the target is now, and what it saved sent. Exit code.
int edit_document(struct cli *cli, const struct target *target);

#endif
