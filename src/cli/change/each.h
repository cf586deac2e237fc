// SPDX-License-Identifier: Apache-2.0
// Repeats a command for each of the names that a command line or standard input has, or for each item of a list.
#ifndef TENURE_CLI_CHANGE_EACH_H
#define TENURE_CLI_CHANGE_EACH_H

#include "lib/client.h"
#include "repr/json/doc.h"

struct cli;
struct column;
struct table;
struct target;

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
// Reads the target and adds it to the table or, if that is NULL, prints it by cli_document_print() or cli_thing_print(). Frees
// the target's resource. Exit code.
int target_show(struct cli *cli, struct target *target, struct table *table,
	void (*print)(struct cli *cli, const struct doc *document));

#endif
