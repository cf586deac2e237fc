// SPDX-License-Identifier: Apache-2.0
// What the processes of a host that serve the same registry have together: memory (base/shared.h), and a lock that one of them
// holds, the host service (server/host/host.h). Both are files in runtime_dir, named by a hash of where the database is.
//
// The lock is one of fcntl(2) on the file RUNTIME_DIR/host-REGISTRY.lock, so the kernel releases it when its holder ends,
// even by kill -9. It only prevents that several processes of a host do the same work at the same time: nothing goes wrong if two
// hold it, as after somebody removed the file. What must be done once is claimed in the database.
#ifndef TENURE_SERVER_SETUP_HOST_H
#define TENURE_SERVER_SETUP_HOST_H

#include <sys/types.h>

#include "base/base.h"

struct config;
struct shared;

// Opens the memory that is shared by all processes of this configuration's registry (shared_open()). NULL: there is no memory;
// logged.
struct shared *host_shared_open(const struct config *config);

// The same for a tool (shared_attach()): NULL if no process has made it, or this user may not use it; errno says why.
struct shared *host_shared_attach(const struct config *config);

// Do both configurations name the same registry and runtime_dir, so that their processes share memory and lock?
bool host_is_same(const struct config *a, const struct config *b);

// The lock, for a process that wants to be the host service. Zeroed: it is not held.
struct host_lock {
	char *path; // NULL: not held
	int fd;
	dev_t device;
	ino_t inode;
};

enum host_lock_result {
	HOST_LOCK_HELD,      // this process holds it now
	HOST_LOCK_ELSEWHERE, // another process holds it
	HOST_LOCK_FAILED,    // the file can't be made or locked; errno says why
};
// Tries to take the lock; never waits. *holder: the process that has it, if it is another one and visible from here; else 0.
enum host_lock_result host_lock_take(struct host_lock *lock, const struct config *config, pid_t *holder);
// Is the lock that was taken still the one that others ask for? False: its file was removed or replaced.
bool host_lock_is_valid(const struct host_lock *lock);
// Does nothing if it is not held. The file stays: removing it could take it from a process that has just opened it.
void host_lock_release(struct host_lock *lock);

// What can be said of the host service from outside.
enum host_service {
	HOST_SERVICE_RUNS,
	HOST_SERVICE_ABSENT,
	HOST_SERVICE_UNKNOWN, // this process may not look; errno says why
};
// Does a process of this host hold the lock? *holder as above. The service itself must not call it: closing the file would
// release its lock.
enum host_service host_service_find(const struct config *config, pid_t *holder);

#endif
