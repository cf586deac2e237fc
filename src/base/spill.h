// SPDX-License-Identifier: Apache-2.0
// The beginning of a long text, put into a file so that it need not be held in memory: a list is written as long as its
// snapshot is open, and sent afterwards, however slowly its client reads. The file has no name: nobody else can open it, and
// it is gone with the process.
#ifndef TENURE_BASE_SPILL_H
#define TENURE_BASE_SPILL_H

#include "base/str.h"

struct pool;
struct spill; // NULL stands for an empty one wherever it is read

// In the folder that TMPDIR names, else in /var/tmp, which is a disk where /tmp may be memory. Closed with the pool. NULL: no
// file can be made there; the reason is logged.
struct spill *spill_new(struct pool *pool);
// Appends. False: it could not be written; the reason is logged, and the file is of no use.
bool spill_add(struct spill *spill, struct str text);
uint64_t spill_size(const struct spill *spill);
// Reads up to n bytes from offset into to; returns how many, 0 at the end or if they can't be read.
size_t spill_read(const struct spill *spill, uint64_t offset, char *to, size_t n);
// Empties it.
void spill_clear(struct spill *spill);

#endif
