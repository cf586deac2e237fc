// SPDX-License-Identifier: Apache-2.0
// The beginning of a watch.
#ifndef TENURE_API_SPACES_WATCH_WATCH_H
#define TENURE_API_SPACES_WATCH_WATCH_H

#include "api/spaces/common/spaces.h"

// Answers GET of a collection with watch=true: sends the first events, and writes the handover for the watch process.
enum outcome watch_in_space(struct call *call, const struct target *target);

#endif
