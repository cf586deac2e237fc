// SPDX-License-Identifier: Apache-2.0
// The master process: owns the listening socket, starts the workers, the sender, the watch process, and a host service, which
// works if no other one of the host does (host/host.h); and replaces each that ends. Signals:
//   TERM, INT, QUIT  remove the socket's name, serve the connections that were made, then end. The queue of an inherited socket is
//                    left to the next process that serves it
//   HUP              load configuration and WADL again; new workers take over the same socket, then the old workers end.
//                    If loading fails, the error is logged and nothing changes
//   USR1             reopen the access log
#ifndef TENURE_SERVER_MASTER_H
#define TENURE_SERVER_MASTER_H

#include "server/setup/listen.h"
#include "server/setup/setup.h"

struct master_options {
	const char *config;   // path of the configuration file, for reloading
	const char *endpoint;
	const char *pid_file; // NULL: no file is written
};

// Runs until a signal ends the service. The master becomes the owner of *setup and *listener: it frees and closes them. Returns
// the exit code.
int master_run(const struct master_options *options, struct setup *setup, struct listener *listener);

#endif
