// SPDX-License-Identifier: Apache-2.0
// The process that carries out background moves: a child of the master's, or of a worker that has no master.
#ifndef TENURE_SERVER_MOVER_PROCESS_H
#define TENURE_SERVER_MOVER_PROCESS_H

#include <sys/types.h>

#include "base/base.h"

struct config;

// The master's child: works until SIGTERM, SIGINT or SIGQUIT, which come blocked. Returns the exit code.
int mover_main(const struct config *config);

// A worker's view of the one child it may have for moves.
struct mover_kick {
	pid_t pid;   // 0: there was none yet
	bool wanted; // asked for while one was running, which may have looked for work for the last time
};
// Forks a child that carries out what is waiting, unless one is running. Children must not become zombies (SIGCHLD
// ignored). Call it again, now and then, while kick->wanted.
void mover_kick(struct mover_kick *kick, const struct config *config);

#endif
