// SPDX-License-Identifier: Apache-2.0
// The master: owns the listening socket, starts the workers and the mover, starts anew what dies.
//   TERM, INT, QUIT  no new connections; what was accepted is served; then ends
//   HUP              loads configuration and WADL anew; new workers take over the same socket, then the old ones
//                    retire. What can't be loaded is logged, and everything stays as it was
//   USR1             reopens the access log
#ifndef TENURE_SERVER_MASTER_H
#define TENURE_SERVER_MASTER_H

#include "server/setup/listen.h"
#include "server/setup/setup.h"

struct master_options {
	const char *config;   // for reloading
	const char *endpoint;
	const char *pid_file; // NULL: none
};

// Runs until told to end. *setup and *listener become the master's, who frees and closes them. Returns the exit code.
int master_run(const struct master_options *options, struct setup *setup, struct listener *listener);

#endif
