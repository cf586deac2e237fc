// SPDX-License-Identifier: Apache-2.0
// A child of the host service that counts usage (registry/usage/usage_count.h).
#ifndef TENURE_SERVER_HOST_USAGE_COUNTER_H
#define TENURE_SERVER_HOST_USAGE_COUNTER_H

struct config;
struct shared;

// Counts as changes come, and closes each period soon after its end. Several hosts may do so at the same time: each step is done
// by one of them. It may be killed at any time.
_Noreturn void usage_counter_run(const struct config *config, struct shared *host);

#endif
