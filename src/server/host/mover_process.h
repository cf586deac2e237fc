// SPDX-License-Identifier: Apache-2.0
// The mover: the process that carries out background moves, and deletes large namespaces. It is a child of the host service
// or, if none runs, of a worker that has no master.
#ifndef TENURE_SERVER_HOST_MOVER_PROCESS_H
#define TENURE_SERVER_HOST_MOVER_PROCESS_H

#include <sys/types.h>

#include "base/base.h"

struct config;
struct shared; // base/shared.h: host is the memory that all processes of the host share; NULL: none

// Main function of the host service's child: works until SIGTERM, SIGINT or SIGQUIT, which the caller has blocked. Returns the
// exit code.
int mover_process_main(const struct config *config, struct shared *host);

// What a worker without a master knows of its mover; it has at most one at a time.
struct mover_kick {
	pid_t pid;   // 0: no mover was started yet
	bool wanted; // a mover was asked for while another ran, which perhaps looks for work no more
};
// Forks a mover, unless this worker's is running, or a host service does the work. The caller ignores SIGCHLD, so that no zombies
// stay. While kick->wanted is set, the caller calls this again from time to time.
void mover_kick(struct mover_kick *kick, const struct config *config, const struct shared *host);

#endif
