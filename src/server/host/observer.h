// SPDX-License-Identifier: Apache-2.0
// The observer: the process that looks every few seconds at what monitoring wants to know of the database, and writes it into the
// shared memory (base/metrics.h). So who reads the metrics needs no database. It is a child of the host service.
#ifndef TENURE_SERVER_HOST_OBSERVER_H
#define TENURE_SERVER_HOST_OBSERVER_H

struct config;
struct shared; // base/shared.h

// Works until a signal ends the process. It logs once when the database stops to answer, and once when it answers again.
_Noreturn void observer_run(const struct config *config, struct shared *host);

#endif
