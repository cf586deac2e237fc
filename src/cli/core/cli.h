// SPDX-License-Identifier: Apache-2.0
// For files in cli/ only: what the commands of tenure share.
#ifndef TENURE_CLI_CORE_CLI_H
#define TENURE_CLI_CORE_CLI_H

#include <sysexits.h>

#include "base/buf.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/str.h"
#include "base/visible.h"
#include "lib/client.h"
#include "repr/json/doc.h"

// Exit codes beside those of <sysexits.h>; tenure(1) lists them all.
enum { EXIT_NOT_FOUND = 1, EXIT_GONE = 3, EXIT_CONFLICT = 4, EXIT_STALE = 5, EXIT_ELSEWHERE = 6 };

// All options; option_rows.c has the table.
enum option {
	OPT_URL, OPT_TOKEN, OPT_TOKEN_FILE, OPT_CA_FILE, OPT_TIMEOUT, OPT_FORMAT, OPT_COLUMNS, OPT_HELP,
	OPT_TENANT, OPT_NAMESPACE, OPT_ETAG, OPT_NO_ETAG, OPT_RETRY, OPT_DRY_RUN, OPT_YES, OPT_FILE, OPT_PATCH, OPT_DELETED,
	OPT_UID, OPT_TIER, OPT_TO, OPT_ALL, OPT_PREVIEW, OPT_IF_MATCH, OPT_ASYNC, OPT_NO_WAIT,
	OPT_FIELDS, OPT_LONG, OPT_SORT, OPT_LIMIT, OPT_MARKER, OPT_REASON, OPT_GENERATION, OPT_REPLACE,
	OPT_SELECTOR, OPT_FIELD_SELECTOR, OPT_METADATA, OPT_MATCH, OPT_CREATED_SINCE, OPT_CREATED_BEFORE, OPT_UPDATED_SINCE, OPT_UPDATED_BEFORE,
	OPT__COUNT
};
#define HAS(option) (UINT64_C(1) << (option))

extern const struct option_row option_rows[OPT__COUNT];

// An option that sets a member of a noun's document, or a filter of its list. fields.c has them all. Such options follow noun
// and verb, and may be repeated.
enum field_kind {
	FIELD_TEXT,
	FIELD_TIME, // the beginning of a day, or a moment: cli_time()
	FIELD_BOOL,
	FIELD_JSON,
	FIELD_KEYS, // "KEY=VALUE", a member of an object; for unset only "KEY"
	FIELD_TEXTS, // the same, of an object whose values are all texts
	FIELD_ANY_OF,  // of a query: "A,B", at least one of them; a repeated option is another condition
	FIELD_NONE_OF, // of a query: "A,B", none of them
	FIELD_AMOUNTS, // "CLASS=N"; a repeated option is another condition
};
enum field_use { USE_LIST = 1, USE_SHOW = 2, USE_CREATE = 4, USE_SET = 8, USE_UNSET = 16 };
struct field {
	const char *name;   // with its dashes; NULL ends a table
	const char *member; // of the document, or a parameter of the list's query
	enum field_kind kind;
	unsigned uses;
	const char *value;  // its value in help texts; for unset only FIELD_KEYS and FIELD_TEXTS take one, without "=VALUE"
	const char *help;
};
struct given {
	const struct field *field;
	const char *value; // NULL: given without a value
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct cli;

// A command. A noun is its rows in this table and a file of its own.
struct command {
	const char *noun;
	const char *verb;      // one word or two; NULL: the noun alone is the command
	const char *arguments; // "TYPE NAME…", "" for none
	unsigned least, most;  // how many arguments; most 0 with least > 0: no limit
	uint64_t options;      // HAS(…), besides the options that all commands have
	int (*run)(struct cli *cli);
	const char *help;      // one line
	const char *more;      // further paragraphs of its help
	const char *example;   // a line to type
	const char *const *choices; // for completion: values of the second argument, ends with NULL; NULL: not known
};
// The table; ends with noun NULL. Only main.c uses it, all others use cli->commands.
extern const struct command cli_commands[];

struct cli {
	struct pool *pool;
	const struct command *commands; // the table of commands
	const struct command *command;  // the one to run
	const char **arguments;
	size_t n_arguments;
	const char *options[OPT__COUNT]; // values; "" for a switch; NULL if not given
	struct given *given;             // the field options in their order
	size_t n_given;
	struct assigned *assigned;       // the arguments NAME=VALUE, last first
	const char *url;
	bool has_token; // a token is sent
	const char *tenant; // NULL: none was given
	enum format format;
	bool format_given;
	bool out_is_terminal;
	bool knows_endpoint; // the service was asked already whether it is for operators
	struct tenure_client *client;
};

// ---- fail.c

// Prints "tenure: text" to stderr, with control characters made visible. Returns code.
int cli_fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);

// The error of a command that needs to know the tenant and was not told. Returns EX_USAGE.
int cli_fail_no_tenant(void);
// The same for a warning: the command goes on.
void cli_warn(const char *format, ...) PRINTF_LIKE(1, 2);
// Prints that a text cannot be a segment of an address, and what would be right. what: what it was meant as, with the article: "a tenant's id".
// Returns EX_USAGE.
int cli_fail_segment(const char *text, const char *what);
// Prints that a text of the command line is not UTF-8. what: an option or argument, "--name", or what its text is, "the user's name".
// Returns EX_USAGE.
int cli_fail_encoding(const char *what);
// Prints that a page of a list says that there is more, but does not lead to another page. what: what is listed, "webhooks". Returns EX_PROTOCOL.
int cli_fail_no_next_page(const char *what);
// Of two exit codes in their order: the first that is not 0.
int cli_first_failure(int code, int next);
// Prints why a call failed, with label, and returns the exit code for that. May ask the service what else there is to tell, so the client's
// error is another one then.
int cli_fail_status(struct cli *cli, enum tenure_status status, const char *label);

// ---- kind_hint.c

// Notes that an argument of the command line sets the member `name`, a path, to a string.
void cli_note_string(struct cli *cli, struct str name, struct str value);
// Prints what NAME:=JSON would set, for each noted member of which this error of the service says that it must not be a string.
void cli_hint_kinds(struct cli *cli, const char *text);

// ---- command_table.c

// Finds the command that the words begin with; *used: how many words are its noun and verb. If the noun has no such verb, or no
// verb was given, it returns the noun's row with verb NULL, if there is one. NULL: there is no such command.
const struct command *command_find(const struct command *commands, const char *const *words, size_t n, size_t *used);
bool cli_noun_known(const struct command *commands, const char *noun);
// The noun of a command whose plural was typed, or that is nearly spelt so; NULL: none is.
const char *cli_noun_near(struct pool *pool, const struct command *commands, const char *typed);
// The verb of that noun that other programs call so, or that is nearly spelt so; NULL: none is.
const char *cli_verb_near(const struct command *commands, const char *noun, const char *typed);
// The verb of resources that this is, or that other programs call so; NULL: none is.
const char *cli_verb_of_resources(const struct command *commands, const char *typed);
// The command that has this verb, typed where a noun stands; NULL: no noun has it, or several have.
const struct command *cli_verb_elsewhere(const struct command *commands, const char *typed);
// Could the word be the plural of a type?
bool cli_is_type(const char *word);

// ---- options.c, help.c, complete.c

// Parses the command line into cli. OPTIONS_GO_ON, or the exit code if the program is to end: help was printed, or an error.
int options_parse(struct cli *cli, int argc, char **argv);
void cli_help_all(const struct command *commands, FILE *out);
void cli_help_noun(const struct command *commands, const char *noun, FILE *out);
void cli_help_command(const struct command *command, FILE *out);
// Prints what the last argument, which is being typed, can become behind the others; base/completion.h. Its exit code.
int cli_complete(struct cli *cli, bool describes);

// ---- settings.c

// Finds the service and the credentials in options, environment and file, and makes the client. Exit code.
int settings_load(struct cli *cli);
// Reads a file. "" if it does not exist; NULL if it cannot be read, and an error was printed.
char *cli_read_whole(struct pool *pool, const char *path, size_t *length);

// ---- state.c: what was shown last, for --etag auto

struct remembered {
	struct str etag;
	const struct doc *document; // NULL: none
};
// Stores a document under the service's URL and this path. A failure only leads to a warning.
void cli_state_save(struct cli *cli, const char *path, const char *etag, struct str document);
void cli_state_forget(struct cli *cli, const char *path);
bool cli_state_load(struct cli *cli, const char *path, struct remembered *remembered);
// Writes all of the text and closes the file, in any case. False: errno says why.
bool cli_write_and_close(int fd, struct str text);

// ---- text.c

// Can nobody read what is printed to stdout any more, such as a pipe whose reader has ended? Waits up to ms for that; 0: not at all.
bool cli_reader_is_gone(int ms);
void cli_text_print(FILE *out, struct str s);
// Prints a cell of CSV (RFC 4180) to stdout: in quotes if quoted, or if its text could be read otherwise without them; at a terminal with
// control characters made visible.
void cli_cell_print(const struct cli *cli, struct str text, bool quoted);
// Draws a progress bar at the beginning of the terminal's line. total 0: nothing is known.
void cli_bar_print(FILE *out, uint64_t done, uint64_t total);
// A value as a table's cell: a string as it is, anything else as JSON.
struct str cli_text(struct pool *pool, const struct doc *value);
// Finds the member at a path of names joined by dots; a name may contain dots itself. False: there is none.
bool doc_at_path(const struct doc *doc, struct str path, const struct doc **value);
// Writes JSON with an indent of two blanks a level.
void doc_write_pretty(const struct doc *doc, struct buf *out);

// ---- table.c

struct column {
	const char *name; // its name in --columns and in the title
	const char *path; // of the value in the document: names joined by dots
};
struct table;
// Makes a table with the columns that --columns names, known ones or paths in the document; without --columns the first n_shown
// of known. NULL: an error was printed.
struct table *table_new(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown);
// In CSV, a cell that a spreadsheet would take for a formula gets an apostrophe in front. For lists that people open there, and that no
// program needs to read back.
void table_for_spreadsheets(struct table *table);
// Adds the columns that lists of a built-in type have besides: what `kubectl get` shows without -o wide, but the age, and what the
// table has already.
void table_add_type(struct table *table, const char *group, const char *plural);
void table_add(struct table *table, const struct doc *document);
// Prints the rows. EX_USAGE, with an error printed instead: --columns has a name without a dot that is no known column, no member of any
// row and no member of any built-in type. A list without rows takes any name.
int table_print(struct table *table);
// The same for the rows that were added since the last call, for lists that go on: the titles once, JSON as one object on each line. The
// rows are forgotten, so their memory may be freed. Only the first rows can be refused. EX_IOERR, without a message, which main() prints: the
// output can't be written, so the list must end.
int table_print_more(struct table *table);
// For rows that have known columns only: EX_USAGE, with an error printed, if --columns has another name.
int table_refuse_others(const struct table *table);
// Makes a table if --columns was given; else *table is NULL. False: an error was printed.
bool table_wanted(struct cli *cli, const struct column *known, size_t n_known, size_t n_shown, struct table **table);
// Prints one document in the chosen format.
void cli_document_print(struct cli *cli, const struct doc *document);

// ---- columns.c

struct column_list {
	const struct column *list;
	size_t n, n_shown; // all; the first ones, which a list shows without --long or --columns
};
// The columns of a built-in type with a noun of its own: what its API shows.
struct column_list cli_noun_columns(struct cli *cli, const char *group, const char *plural);

// ---- each.c

// Processes one name. Exit code.
typedef int name_fn(struct cli *cli, const char *name, void *arg);
// Calls fn for each of the names from cli_input_names(), also after failures. Exit code: the first that is not 0.
int cli_each_of(struct cli *cli, const char **names, name_fn *fn, void *arg);
// The same with the arguments from first on.
int cli_each_name(struct cli *cli, size_t first, name_fn *fn, void *arg);
// The same; fn shows what is named. Its arg is the table to add to if --columns was given, else NULL.
int cli_show_each(struct cli *cli, size_t first, const struct column *known, size_t n_known, size_t n_shown, name_fn *fn);
// Adds the items of the list, at most limit unless that is 0. label names the list in error texts. Exit code.
int table_fill(struct cli *cli, struct table *table, struct tenure_list *list, uint64_t limit, const char *label);

// ---- selection.c

enum { CLI_LIST_PAGE = 100 };
// A time as the service reads it: a day, "2026-11-01", begins at 00:00 UTC; any other text is returned as it is.
const char *cli_time(struct pool *pool, const char *text);
// Reads --limit, a number from 1; *limit stays as it is if there is none. Exit code.
int cli_limit(const struct cli *cli, uint64_t *limit);
// Apply to the list --sort, whose parameters these are; --limit (*limit 0: none was given); and all options that say which tenants or
// resources it has, and in which order. Exit code.
int cli_list_sort(struct cli *cli, struct tenure_list *list, const char *field, const char *direction);
int cli_list_limit(struct cli *cli, struct tenure_list *list, uint64_t *limit);
int cli_list_conditions(struct cli *cli, struct tenure_list *list, uint64_t *limit);
// Appends those that say which resources a list has, "&labels=app%3Dweb". Exit code.
int cli_add_conditions(struct cli *cli, struct buf *query);

// ---- path.c

// Adds a segment to an address, percent-encoded. what: as of cli_fail_segment(). EX_USAGE, with an error printed: it cannot be one.
int cli_path_add(struct buf *path, const char *segment, const char *what);
// Makes an address of a root, which is encoded, and a segment: "/traits/CUSTOM_A". Exit code, as of cli_path_add().
int cli_path_below(struct cli *cli, const char *root, const char *segment, const char *what, struct str *path);

// ---- pages.c

// The address of what the tenant has under that word: "/v2.0/acme/forwards". tenant NULL: an error, none was given. Exit code.
int cli_tenant_path(struct cli *cli, const char *tenant, const char *word, struct buf *path);
// Whose list a command has that takes one of TENANT, --tenant and --all-tenants; "all" for the last. Exit code.
int cli_choose_tenant(struct cli *cli, const char **tenant, bool *of_all);
// Replaces *query, that of this page, by that of the next one; p NULL: there is none. member: what is listed. Exit code.
int cli_next_page(struct cli *cli, const struct doc *page, const char *member, struct str *query);
// Reads and prints the list of that word, which is also its member in the answer, page by page, up to --limit. Exit code.
int cli_list_pages(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns,
	size_t n_shown);
// The same with conditions, "&name=web".
int cli_list_pages_with(struct cli *cli, const char *tenant, const char *member, struct str conditions, const struct column *columns,
	size_t n_columns, size_t n_shown);
// The same of a list at that address; label names it in error texts.
int cli_list_pages_at(struct cli *cli, struct str path, const char *label, const char *member, struct str conditions,
	const struct column *columns, size_t n_columns, size_t n_shown);
// The same of a list that is one answer, with all columns.
int cli_list_whole(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns);

// ---- merge.c

struct difference {
	struct str path;
	const struct doc *base, *yours, *theirs;
	bool in_base, in_yours, in_theirs; // where the member exists
	bool clash; // both sides changed it in different ways
};
struct merge {
	struct doc *result;
	struct difference *list;
	size_t n;
	bool clash;
};
// Three-way merge: what each side made of base. An array counts as one value.
void merge_documents(struct pool *pool, const struct doc *base, const struct doc *yours, const struct doc *theirs,
	struct merge *merge);
enum target_kind { TARGET_RESOURCE, TARGET_TENANT, TARGET_METAL, TARGET_PROVIDER, TARGET_WEBHOOK, TARGET_TIER };
// Prints to stdout what is different between two documents: a line for each member's value before (-) and after (+). One that is no
// object counts as empty. Returns how many members differ. (difference.c)
size_t cli_difference_print(struct cli *cli, const struct doc *before, const struct doc *after);
// The members of a document that a client may set. Members that a PUT may leave out are taken from other.
struct doc *cli_document_own(struct pool *pool, const struct doc *document, const struct doc *other, enum target_kind kind);

// ---- change.c: changes guarded by an etag

struct target {
	struct tenure_resource *resource;
	const char *label; // "configmaps/web"
	enum target_kind kind;
};
// CHANGE_TRAITS and CHANGE_MAINTENANCE are for nodes; their documents are {"traits": […]} and {"maintenance": …,
// "maintenance_reason": …}.
enum change_kind { CHANGE_PUT, CHANGE_PATCH, CHANGE_DELETE, CHANGE_JSON_PATCH, CHANGE_TRAITS, CHANGE_MAINTENANCE };
struct change {
	enum change_kind kind;
	struct str body;
	const struct doc *document; // the parsed body
	// The JSON Patch that --retry merged into document, which is put since then: what it names still counts as changed. NULL: none was.
	const struct doc *merged_patch;
	// What the change is based on, if the caller knows it: the whole document of which the editor showed a part. NULL: the remembered document.
	const struct doc *base;
	const char *etag; // NULL: chosen by the options. "new": nothing may be there yet
};
// Sends the change as --etag, --no-etag, --retry and --dry-run say. Exit code.
int change_make(struct cli *cli, const struct target *target, struct change *change);
// The same with a body made of its document, if it has one. Frees the target's resource.
int target_change(struct cli *cli, struct target *target, struct change *change);
// Puts what the target is now, if it exists, with the members of given (null removes one), on condition that it is that still, or that
// there is none still, unless options say what to compare with; with --file exactly given. Exit code. (complete.c)
int change_put(struct cli *cli, const struct target *target, struct doc *given);
// Opens the target's document in an editor and sends what was saved. Exit code. (edit.c)
int edit_document(struct cli *cli, const struct target *target);
// Creates a resource whose address the service chooses, and prints its UUID, or the document if a format was chosen. Exit code.
int cli_create(struct cli *cli, const struct target *target, const struct doc *document);
// Chooses the etag by the options. Sets the change's base to the document of that etag if it is remembered. Exit code.
int change_etag(struct cli *cli, const struct target *target, struct change *change, struct tenure_etag *etag);
// Recovers what was deleted at the target's address; with --etag only if it had that etag. Exit code.
int cli_recover(struct cli *cli, const struct target *target, const char *uid);
// Remembers the target's document as the one shown last.
void cli_remember_state(struct cli *cli, const struct target *target);
// Prints "tenure: …: done" on a terminal, or the document if a format was chosen.
void cli_announce(struct cli *cli, const struct target *target, const char *what);
// The same for a change without a target; prints nothing if a format was chosen.
void change_announce_done(struct cli *cli, const char *label, const char *what);
enum { CHANGE_TRIES = 10 }; // how often --retry sends a change, at most
// Fails a change because others changed the same document first. Prints each difference with its values to stderr: in base if base_known,
// as wanted if wanted, which a deletion is not, and as the service has it. With --retry, prints refusal as well, with label: why the
// merged change is not sent. Returns EXIT_STALE.
int change_fail_stale(struct cli *cli, const char *label, const struct merge *merge, bool base_known, bool wanted,
	const char *refusal);
// Makes an etag of the option's value; "auto" is the one remembered for that path. Exit code.
int cli_etag_given(struct cli *cli, const char *path, const char *label, struct str *etag);
// Asks the user, unless --yes was given. False: the answer is no, and that was printed.
bool cli_confirmed(struct cli *cli, const char *question);
// Reads the target, remembers its document and returns it. Exit code.
int target_read(struct cli *cli, const struct target *target, const struct doc **document);
// Reads the target and adds it to the table or, if that is NULL, prints it by cli_document_print() or cli_thing_print(). Frees
// the target's resource. Exit code.
int target_show(struct cli *cli, struct target *target, struct table *table,
	void (*print)(struct cli *cli, const struct doc *document));

// Prints which command or offered type is nearly called as this type, if the type is none of those. Any word may be a type of a
// tenant's own, so only a command that has failed can tell that this one was mistyped.
void resource_suggest(struct cli *cli, const char *type);
// A resource as a command line names it: "configmaps/web", "namespaces/prod", or as the service shows it,
// "namespaces/default/configmaps/web".
struct resource_name {
	const char *space; // NULL: the text names none
	const char *type, *name;
};
// Splits such a text. False: it has another form.
bool resource_name_read(const char *text, struct pool *pool, struct resource_name *name);
// The namespace of a resource of that type where none is named: that of -n, or the type's default. NULL: none.
const char *resource_namespace(const struct cli *cli, const char *type);
// Prints which part of a resource's address, in the tenant of cli, cannot be a segment. space, name NULL: it has no such part. Exit code.
int resource_fail_address(struct cli *cli, const char *space, const char *type, const char *name);
// Makes a target of a resource. space NULL: the namespace of -n, or the type's default. False: an error was printed. The caller
// frees target->resource.
bool resource_target(struct cli *cli, const char *space, const char *type, const char *name, struct target *target);

// ---- fields.c: the options of bare metal and placement

// Iterates over the command's field options: returns the one after after (NULL: the first); NULL: there are no more.
const struct field *field_next(const struct command *command, const struct field *after);
// The value that the field takes in this command, "KEY=VALUE"; n 0: none.
struct str field_takes(const struct command *command, const struct field *field);
// Make a document for create, or a JSON Patch for set and unset, of --file, --patch, field options and MEMBER=VALUE arguments
// from first on. Exit code.
int fields_document(struct cli *cli, size_t first, struct doc **document);
int fields_patch(struct cli *cli, size_t first, struct doc **patch);
// Applies the filter options to the list. Exit code.
int fields_filter(struct cli *cli, struct tenure_list *list);

// ---- move.c

// Previews the move (--preview) or makes it; frees the move. key: the path under which the ETag of its preview is kept, for a later
// --if-match auto. Exit code.
int cli_move_as_told(struct cli *cli, struct tenure_move *move, const char *label, const char *key);

// Waits for the end of the background move at that location, as a 202 has it, with a progress bar on a terminal. Exit code.
int cli_move_watch(struct cli *cli, struct str location, const char *label);

// ---- baremetal.c

// Makes a target of the command's noun. False: an error was printed. The caller frees target->resource.
bool cli_baremetal_target(struct cli *cli, const char *ident, struct target *target);

// Prints one document; in formats for people without its links.
void cli_thing_print(struct cli *cli, const struct doc *document);

// ---- placement.c: calls below /placement

// Calls the placement API; wish.path is below /placement. body NULL: none. *answer is NULL if there is no body; answer may be
// NULL.
enum tenure_status cli_placement_call(struct cli *cli, struct wish wish, const struct doc *body, struct doc **answer,
	int *http);

struct provider {
	const char *label; // "provider rack-7"
	const char *uuid;
	const char *path;  // "/placement/resource_providers/UUID"
};
// Finds a provider by UUID or name. Exit code.
int provider_find(struct cli *cli, const char *ident, struct provider *provider);

// ---- provider_part.c: parts of a provider that are changed as a whole, under the provider's generation
//
// A part is handled as an object: inventories by class, traits and aggregates as {NAME: true}.

struct part {
	const char *name; // "traits": the last segment of its address, and its member in documents
	bool is_list;     // it is a list of names
};
extern const struct part part_traits, part_aggregates, part_inventories;

struct part_edit {
	// Makes the new content of base. NULL: that is not possible, and an error was printed.
	struct doc *(*make)(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
	void *arg;
	bool whole; // the new content does not depend on base, so it is sent again only if nobody else changed the part
};
// Two functions for make: exactly arg; or base patched by arg, a merge patch.
struct doc *part_exactly(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
struct doc *part_patched(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);
// Reads the content of a part. Exit code.
int part_read(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content);
// The same, and remembers it as the content shown last.
int part_show(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content);
// Changes a part as --generation, --etag, --retry and --dry-run say. Exit code.
int part_change(struct cli *cli, const struct provider *provider, const struct part *part,
	const struct part_edit *edit);

// ---- space.c

// The possible values of a tenant's policy; ends with NULL.
extern const char *const type_policies[];

// ---- dry_run.c

// Makes the client print each change as a line of curl instead of sending it.
void cli_dry_run(struct cli *cli);

// ---- input.c

// The arguments from first up to end; "-" stands for the lines of standard input. Ends with NULL. NULL: there are no names, or the
// lines are a document, where the command takes one by --file; an error was printed.
const char **cli_input_names(struct cli *cli, size_t first, size_t end);
// The document of --file, of --patch, or of MEMBER=VALUE arguments from first on; *document NULL if none of these was given. A document
// that is null is refused with EX_DATAERR. Exit code.
int cli_input_document(struct cli *cli, size_t first, struct doc **document);
// The document as text.
struct str doc_text(struct pool *pool, const struct doc *document);
int cli_input_parse(struct cli *cli, struct str text, const char *where, struct doc **document);
// Sets the member "a.b.c" of object, and makes the objects on the way.
void doc_set_path(struct pool *pool, struct doc *object, struct str path, struct doc *value);
// Parses "NAME=VALUE", a string, or "NAME:=JSON". False: an error was printed.
bool cli_input_assignment(struct cli *cli, const char *word, struct str *name, struct doc **value);

// ---- offered_types.c

// The built-in types, of which `tenure resource` handles some; ends with plural NULL.
struct offered_type {
	const char *group, *kind, *plural;
	const char *short_names[2]; // NULL: no more
	bool offered;    // false: other commands handle it
	bool namespaced; // in the namespace default, if none is given
	bool owned;      // by a tenant, so that `tenure resource` takes it even if it is not offered
};
extern const struct offered_type offered_types[];
// The plural of the type that has that short or singular name; word if there is none.
const char *type_plural(const char *word);
// The plural of an offered type that differs from word by a typing mistake; NULL: there is none.
const char *type_plural_near(const char *word);

// ---- rows.c: files of rows, each of which is a resource's document

struct rows;
enum { CLI_ROWS_COLUMNS = 1000 }; // that CSV may have
enum row_step { ROW_READ, ROW_WRONG, ROW_END, ROW_BROKEN };
struct file_row {
	uint64_t number, line;  // counted from 1: among all rows, and where it begins; of a list of JSON both are the place in the list
	struct doc *document;   // of ROW_READ
	const char *wrong;      // of ROW_WRONG and ROW_BROKEN: what is wrong, and what would be right
};
// Opens a file, or "-", standard input: CSV, whose first line names the columns by paths; a JSON list; or a JSON document on each line.
// Its form is told by its name's ending (csv, json, ndjson, jsonl), or else by how it begins. The pool of cli keeps *rows. Exit code.
int rows_open(struct cli *cli, const char *path, struct rows **rows);
// Reads the next row. What it returns lives in pool, which may be rewound then. After ROW_WRONG the rows behind it can be read. ROW_BROKEN: the
// file can't be read any further, and nothing is told of a row that was cut off there.
enum row_step rows_next(struct rows *rows, struct pool *pool, struct file_row *row);
// How much of the file was read, in bytes, or of a list of JSON in documents. False: the end is not known, as of a pipe.
bool rows_progress(const struct rows *rows, uint64_t *done, uint64_t *total);
// Sets *rows to NULL.
void rows_close(struct rows **rows);
// The name of the column of CSV whose cells are read as the member at that path: strings, or if json JSON texts.
struct str rows_column_name(struct pool *pool, struct str path, bool json);

// ---- the commands

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
