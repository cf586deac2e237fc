// SPDX-License-Identifier: Apache-2.0
// Reports the state of the service: to systemd by a datagram (sd_notify(3)), to scripts by a file with the process id.
#ifndef TENURE_SERVER_SETUP_NOTIFY_H
#define TENURE_SERVER_SETUP_NOTIFY_H

#include "base/base.h"

// Sends "READY=1", "RELOADING=1" or "STOPPING=1". Does nothing if NOTIFY_SOCKET is not set.
void notify_supervisor(const char *state);
// Writes this process's id and a newline. The file appears complete, by rename(2), and everybody may read it. False with *error
// from malloc.
bool notify_write_pid(const char *path, char **error);
// Removes the file, unless another process has written its id there meanwhile.
void notify_remove_pid(const char *path);

#endif
