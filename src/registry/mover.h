// SPDX-License-Identifier: Apache-2.0
// Carries out the moves that were accepted to be done in the background (202). Which process does so is server/'s
// matter: a child of the master's, or, where there is no master, one that a worker forks off.
#ifndef TENURE_REGISTRY_MOVE_MOVER_H
#define TENURE_REGISTRY_MOVE_MOVER_H

#include <signal.h>

#include "base/base.h"

struct config;

// Looks for work and does it, until *stop; a move being carried out when *stop is set is finished or given back.
void mover_run(const struct config *config, volatile sig_atomic_t *stop);
// Carries out one waiting move. False when none is waiting, or the database is away.
bool mover_once(const struct config *config);

#endif
