// SPDX-License-Identifier: Apache-2.0
// A child of the host service where [database] host names several servers: sees to it that one of them is the writer.
#ifndef TENURE_SERVER_HOST_WRITER_WATCH_H
#define TENURE_SERVER_HOST_WRITER_WATCH_H

struct config;
struct shared;

// Looks at the nodes several times a second, and appoints another writer when the writer is gone or not usable. Several hosts may
// do so at the same time: one of them succeeds.
_Noreturn void writer_watch_run(const struct config *config, const struct shared *host);

#endif
