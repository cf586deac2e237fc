// SPDX-License-Identifier: Apache-2.0
// The reaper: the process that purges what is past its retention, every reap_interval. It is a child of the host service.
#ifndef TENURE_SERVER_HOST_REAPER_H
#define TENURE_SERVER_HOST_REAPER_H

struct config;
struct shared; // base/shared.h: host is the memory that all processes of the host share; NULL: none

// Works until a signal ends the process: a purge consists of small transactions, so nothing is lost but the present one. While
// the database is away it waits. reap_interval must not be 0.
_Noreturn void reaper_run(const struct config *config, struct shared *host);

#endif
