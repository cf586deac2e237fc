// SPDX-License-Identifier: Apache-2.0
// Parts of a provider that are changed as a whole, under the provider's generation: traits, aggregates, inventories.
//
// A part is handled as an object: inventories by class, traits and aggregates as {NAME: true}.
#ifndef TENURE_CLI_COMMAND_PROVIDER_PART_H
#define TENURE_CLI_COMMAND_PROVIDER_PART_H

#include "cli/command/placement.h"
#include "repr/json/doc.h"

struct cli;

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

#endif
