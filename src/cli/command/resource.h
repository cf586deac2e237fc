// SPDX-License-Identifier: Apache-2.0
// Addresses of resources, as a command line names them.
#ifndef TENURE_CLI_COMMAND_RESOURCE_H
#define TENURE_CLI_COMMAND_RESOURCE_H

#include "base/pool.h"
#include "cli/change/change.h"

struct cli;

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
// Prints which part of a resource's address, in the tenant of cli, cannot be a segment. space, name NULL: it has no such part.
// Exit code.
int resource_fail_address(struct cli *cli, const char *space, const char *type, const char *name);
// Makes a target of a resource. space NULL: the namespace of -n, or the type's default. False: an error was printed. The caller
// frees target->resource.
bool resource_target(struct cli *cli, const char *space, const char *type, const char *name, struct target *target);

#endif
