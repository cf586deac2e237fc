// SPDX-License-Identifier: Apache-2.0
// What every command of tenure has: the command line as it was parsed, messages and exit codes, the client, and input.
#ifndef TENURE_CLI_CORE_CLI_H
#define TENURE_CLI_CORE_CLI_H

#include <sysexits.h>

#include "base/buf.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/str.h"
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
// Prints that a text cannot be a segment of an address, and what would be right. what: what it was meant as, with the article: "a
// tenant's id". Returns EX_USAGE.
int cli_fail_segment(const char *text, const char *what);
// Prints that a text of the command line is not UTF-8. what: an option or argument, "--name", or what its text is, "the user's
// name". Returns EX_USAGE.
int cli_fail_encoding(const char *what);
// Prints that a page of a list says that there is more, but does not lead to another page. what: what is listed, "webhooks".
// Returns EX_PROTOCOL.
int cli_fail_no_next_page(const char *what);
// Of two exit codes in their order: the first that is not 0.
int cli_first_failure(int code, int next);
// Prints why a call failed, with label, and returns the exit code for that. May ask the service what else there is to tell, so
// the client's error is another one then.
int cli_fail_status(struct cli *cli, enum tenure_status status, const char *label);

// ---- kind_hint.c

// Notes that an argument of the command line sets the member `name`, a path, to a string.
void cli_note_string(struct cli *cli, struct str name, struct str value);
// Prints what NAME:=JSON would set, for each noted member of which this error of the service says that it must not be a string.
void cli_hint_kinds(struct cli *cli, const char *text);

// ---- settings.c

// Finds the service and the credentials in options, environment and file, and makes the client. Exit code.
int settings_load(struct cli *cli);
// Reads a file. "" if it does not exist; NULL if it cannot be read, and an error was printed.
char *cli_read_whole(struct pool *pool, const char *path, size_t *length);

// ---- input.c

// The arguments from first up to end; "-" stands for the lines of standard input. Ends with NULL. NULL: there are no names, or
// the lines are a document, where the command takes one by --file; an error was printed.
const char **cli_input_names(struct cli *cli, size_t first, size_t end);
// The document of --file, of --patch, or of MEMBER=VALUE arguments from first on; *document NULL if none of these was given. A
// document that is null is refused with EX_DATAERR. Exit code.
int cli_input_document(struct cli *cli, size_t first, struct doc **document);
int cli_input_parse(struct cli *cli, struct str text, const char *where, struct doc **document);
// Sets the member "a.b.c" of object, and makes the objects on the way.
void doc_set_path(struct pool *pool, struct doc *object, struct str path, struct doc *value);
// Parses "NAME=VALUE", a string, or "NAME:=JSON". False: an error was printed.
bool cli_input_assignment(struct cli *cli, const char *word, struct str *name, struct doc **value);

// ---- path.c

// Adds a segment to an address, percent-encoded. what: as of cli_fail_segment(). EX_USAGE, with an error printed: it cannot be
// one.
int cli_path_add(struct buf *path, const char *segment, const char *what);
// Makes an address of a root, which is encoded, and a segment: "/traits/CUSTOM_A". Exit code, as of cli_path_add().
int cli_path_below(struct cli *cli, const char *root, const char *segment, const char *what, struct str *path);

// ---- dry_run.c

// Makes the client print each change as a line of curl instead of sending it.
void cli_dry_run(struct cli *cli);

#endif
