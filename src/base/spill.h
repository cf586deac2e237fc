// SPDX-License-Identifier: Apache-2.0
// Appended text that is kept in a file, so that it need not be held in memory. A long list is written while its snapshot is open,
// and sent afterwards, however slowly its client reads. The file has no name: no other process can open it, and it is gone when
// the process ends.
#ifndef TENURE_BASE_SPILL_H
#define TENURE_BASE_SPILL_H

#include <stdio.h>

#include "base/str.h"

struct pool;
struct spill; // functions that read accept NULL for an empty one

// Makes such a file for a tool, as a stream; its caller closes it. tmpfile(3) takes /tmp, which may be in memory, whatever TMPDIR
// says.
// *folder: where, for messages: TMPDIR, else /var/tmp. NULL: errno says why it can't be made there.
FILE *spill_file(const char **folder);

// Makes a file in the folder that TMPDIR names, else in /var/tmp (on disk, while /tmp may be in memory). The pool closes it.
// NULL: no file can be made there; the reason is logged.
struct spill *spill_new(struct pool *pool);
// Appends text. False: it could not be written; the reason is logged, and the spill is as before.
bool spill_add(struct spill *spill, struct str text);
uint64_t spill_size(const struct spill *spill);
// Reads up to n bytes from offset into the buffer `to`. Returns how many; 0 at the end or if they can't be read.
size_t spill_read(const struct spill *spill, uint64_t offset, char *to, size_t n);
// Empties it.
void spill_clear(struct spill *spill);

#endif
