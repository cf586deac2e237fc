// SPDX-License-Identifier: Apache-2.0
// The host service: the process that does for a host what has to be done once, whatever serves it: a master of tenured, or
// workers that a web server started. It starts the mover, the reaper and the observer, replaces each that ends, and
// serves GET /metrics.
//
// Any number of processes may run host_main(): the program tenured-host, and a child of each master of tenured. One of them holds
// the lock (setup/host.h) and works; the others look once a second whether they can take it, have no connection to
// the database and no children. So the work goes on wherever a process dies, and a second tenured-host does no harm.
//
// Signals: TERM, INT, QUIT end it, once its children have ended. HUP loads the configuration again, if options.config is set:
// then children with the new configuration replace the old ones. If loading fails, it is logged and nothing changes.
#ifndef TENURE_SERVER_HOST_HOST_H
#define TENURE_SERVER_HOST_HOST_H

struct config;
struct shared;

struct host_options {
	const char *path;     // of the configuration, for reloading; NULL: a master reloads, and starts another process then
	const char *program;  // "tenured-host", for the log; with path only
};

// Runs until a signal ends it. The caller has blocked the signals of signals_fill(), and SIGCHLD. *config is the caller's, and
// may be another one afterwards. shared: the host's memory; NULL: none. Returns the exit code.
int host_main(const struct host_options *options, struct config **config, struct shared *shared);

#endif
