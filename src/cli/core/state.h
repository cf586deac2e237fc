// SPDX-License-Identifier: Apache-2.0
// What was shown last of each document, for --etag auto.
#ifndef TENURE_CLI_CORE_STATE_H
#define TENURE_CLI_CORE_STATE_H

#include "base/str.h"
#include "repr/json/doc.h"

struct cli;

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

#endif
