// SPDX-License-Identifier: Apache-2.0
// Carries out the moves that were accepted for the background (202). server/ decides which process does so: a child of the
// master or, without a master, one that a worker forks.
#ifndef TENURE_REGISTRY_MOVE_MOVER_H
#define TENURE_REGISTRY_MOVE_MOVER_H

#include <signal.h>

#include "base/base.h"

struct config;

// Carries out waiting moves until *stop is set. If a move is being carried out then, it is finished, or rolled back and left
// waiting.
void mover_run(const struct config *config, volatile sig_atomic_t *stop);
// Carries out one waiting move. False: none waits, or the database does not answer.
bool mover_once(const struct config *config);

#endif
