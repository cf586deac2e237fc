// SPDX-License-Identifier: Apache-2.0
// What an operator changes for all processes of a host while they run, in the shared memory (base/shared.h): the level of log
// lines. It is lost with that memory, at a reboot at the latest; then the configuration holds again.
#ifndef TENURE_BASE_CONTROL_H
#define TENURE_BASE_CONTROL_H

#include "base/log.h"
#include "base/shared.h"

// Sets the level for all processes; is_set false: each goes back to what its configuration says. They take it within a second, or
// with their next request.
void control_set_log_level(const struct shared *shared, bool is_set, enum log_level level);
// Returns whether a level is set, and it in *level.
bool control_log_level(const struct shared *shared, enum log_level *level);
// Makes this process log as is set now. Each process calls it often: it costs a few instructions. shared NULL: nothing is done.
void control_apply(const struct shared *shared);

#endif
