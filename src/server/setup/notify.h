// SPDX-License-Identifier: Apache-2.0
// Telling whoever started us how far we are: systemd by a datagram (sd_notify(3)), scripts by a file.
#ifndef TENURE_SERVER_SETUP_NOTIFY_H
#define TENURE_SERVER_SETUP_NOTIFY_H

#include "base/base.h"

// "READY=1", "RELOADING=1", "STOPPING=1". Does nothing when NOTIFY_SOCKET isn't set.
void notify_supervisor(const char *state);
// Writes this process's id and a newline; the file appears whole. False with *error (malloc).
bool notify_write_pid(const char *path, char **error);

#endif
