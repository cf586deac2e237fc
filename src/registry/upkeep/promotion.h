// SPDX-License-Identifier: Apache-2.0
// Servers without Galera, one of which is the primary of the others: makes one of them the primary. An operator decides it, never
// a program. doc/cluster.md, "Primary and replica", says what is promised.
#ifndef TENURE_REGISTRY_UPKEEP_PROMOTION_H
#define TENURE_REGISTRY_UPKEEP_PROMOTION_H

#include "registry/upkeep/cluster.h"

// Returns why cluster->nodes[target] can't become the primary now, a reason in each line; "" if it can. Call cluster_look()
// first, on a cluster opened as the admin user. force: the primary does not answer, and the operator accepts what may be lost.
struct str promotion_refusal(struct cluster *cluster, size_t target, bool force);

// Makes it the primary, and all others that answer its replicas. Call it only if promotion_refusal() has no reason. The present
// primary, if it answers, takes no changes any more, and the target has applied all of its changes before it takes any. If it is
// the primary already, others become its replicas that are none. *why: why it failed. The present primary goes on then, or *why
// says as well that nobody is the writer; in either case the command may be run again. *notes: what an operator has to know of
// the others, a line each.
enum cluster_outcome promotion_run(struct cluster *cluster, size_t target, bool force, struct str reason, struct str *why, struct str *notes);

// Does a contain all of b? Both are lists of GTIDs as MariaDB has them: "0-1-17,3-2-5", the last of each domain. Exported for
// tests.
bool promotion_covers(struct str a, struct str b);

// *host: where the other servers that [database] host names reach nodes[target], for CHANGE MASTER: its report_host, else as the setting names it. It
// lives as long as cluster's texts. False: nobody knows, since that is the unix socket, or a loopback address while another
// server is on another machine, where that address is the server itself. Exported for tests.
bool promotion_address(const struct cluster *cluster, size_t target, struct str *host);

#endif
