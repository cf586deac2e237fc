// SPDX-License-Identifier: Apache-2.0
// Changes guarded by an etag: which etag goes along, what is shown after a 412, and what --retry merges.
#ifndef TENURE_CLI_CHANGE_CHANGE_H
#define TENURE_CLI_CHANGE_CHANGE_H

#include "base/str.h"
#include "cli/change/merge.h"
#include "lib/client.h"
#include "repr/json/doc.h"

struct cli;

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
	// The JSON Patch that --retry merged into document, which is put since then: what it names still counts as changed. NULL:
	// none was.
	const struct doc *merged_patch;
	// What the change is based on, if the caller knows it: the whole document of which the editor showed a part. NULL: the
	// remembered document.
	const struct doc *base;
	const char *etag; // NULL: chosen by the options. "new": nothing may be there yet
};
enum { CHANGE_TRIES = 10 }; // how often --retry sends a change, at most

// Sends the change as --etag, --no-etag, --retry and --dry-run say. Exit code.
int change_make(struct cli *cli, const struct target *target, struct change *change);
// The same with a body made of its document, if it has one. Frees the target's resource.
int target_change(struct cli *cli, struct target *target, struct change *change);
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
// Fails a change because others changed the same document first. Prints each difference with its values to stderr: in base if
// base_known, as wanted if wanted, which a deletion is not, and as the service has it. With --retry, prints refusal as well, with
// label: why the merged change is not sent. Returns EXIT_STALE.
int change_fail_stale(struct cli *cli, const char *label, const struct merge *merge, bool base_known, bool wanted,
	const char *refusal);
// Makes an etag of the option's value; "auto" is the one remembered for that path. Exit code.
int cli_etag_given(struct cli *cli, const char *path, const char *label, struct str *etag);
// Asks the user, unless --yes was given. False: the answer is no, and that was printed.
bool cli_confirmed(struct cli *cli, const char *question);
// Reads the target, remembers its document and returns it. Exit code.
int target_read(struct cli *cli, const struct target *target, const struct doc **document);

// ---- complete.c

// Puts what the target is now, if it exists, with the members of given (null removes one), on condition that it is that still, or
// that there is none still, unless options say what to compare with; with --file exactly given. Exit code.
int change_put(struct cli *cli, const struct target *target, struct doc *given);

// ---- edit.c

// Opens the target's document in an editor and sends what was saved. Exit code.
int edit_document(struct cli *cli, const struct target *target);

#endif
