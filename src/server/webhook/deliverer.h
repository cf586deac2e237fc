// SPDX-License-Identifier: Apache-2.0
// The deliverer: the process that sends messages to webhooks. It is a child of the host service. Of all hosts' deliverers the one
// works that holds the lease (registry/webhook/delivery.h); the others look at it once a second.
//
// The one that works remembers how far each webhook is. While nothing changes and nothing is due it asks the database for the
// horizon of the change log and for the lease, and for no webhook. What it sends is in order for each webhook: a message is begun
// when the one before was received or given up. Webhooks don't wait for each other.
#ifndef TENURE_SERVER_WEBHOOK_DELIVERER_H
#define TENURE_SERVER_WEBHOOK_DELIVERER_H

#include "base/base.h"

struct config;
struct shared; // base/shared.h
struct uuid;

// Works until SIGTERM, SIGINT or SIGQUIT, which the caller has blocked. claim: the name under which it holds the lease; a process
// that follows one with the same claim takes the lease at once, so its predecessor must have ended. Returns the exit code.
int deliverer_run(const struct config *config, struct shared *host, const struct uuid *claim);

#endif
