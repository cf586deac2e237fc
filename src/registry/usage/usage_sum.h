// SPDX-License-Identifier: Apache-2.0
// Sums of usage: microseconds of many resources together, or of their bytes, which need more than 64 bits.
#ifndef TENURE_REGISTRY_USAGE_USAGE_SUM_H
#define TENURE_REGISTRY_USAGE_USAGE_SUM_H

#include "base/str.h"

__extension__ typedef __int128 usage_sum;

enum { USAGE_SECONDS = 48 }; // bytes of the longest number of seconds as text, with its NUL

// Reads a DECIMAL(36,0) as the database writes it. STR_NONE, a NULL, is 0.
usage_sum usage_sum_of_text(struct str text);
// Writes microseconds as seconds with six decimals: "-0.000001".
void usage_sum_write(char text[USAGE_SECONDS], usage_sum us);

#endif
