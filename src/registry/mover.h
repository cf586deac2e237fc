// SPDX-License-Identifier: Apache-2.0
// Carries out what was accepted for the background: moves (202), and deletions of large namespaces. server/ decides which process
// does so: a child of the master or, without a master, one that a worker forks.
#ifndef TENURE_REGISTRY_MOVER_H
#define TENURE_REGISTRY_MOVER_H

#include <signal.h>

#include "base/base.h"

struct config;
struct shared; // base/shared.h

// host: the memory in which other processes of the host learn which definitions changed; NULL: they learn it from the database.

// Carries out waiting work until *stop is set. A transaction that is running then is finished, or rolled back and left
// waiting.
void mover_run(const struct config *config, struct shared *host, volatile sig_atomic_t *stop);
// Carries out one waiting move, and deletes one piece of one namespace. False: nothing waits, or the database does not answer.
bool mover_once(const struct config *config, const struct shared *host);

#endif
