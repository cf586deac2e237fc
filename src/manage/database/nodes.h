// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: indexes that are built on one node of a Galera cluster after the other. What Galera does to a table
// on all nodes at once holds up all writers of the cluster until it is done; an index of a large table takes longer than anybody
// may wait.
#ifndef TENURE_MANAGE_DATABASE_NODES_H
#define TENURE_MANAGE_DATABASE_NODES_H

#include "manage/core/manage.h"

struct nodes;

// Looks at the nodes of [database] host. NULL: they are not to be built on one by one, since there is one server, or it has no
// Galera, or not all nodes of the cluster are named, answer and are synced; in the last case a message says so. nodes_close()
// frees it.
struct nodes *nodes_open(struct manage *manage);
// NULL is allowed.
void nodes_close(struct nodes **nodes);

// Runs statements that change nothing but indexes which are not unique, and may be run again. First on the nodes that are not the
// writer: each leaves the others' flow control meanwhile, and is waited for until it has caught up. Then one of them becomes the
// writer, and the last node gets them. Between two writers nobody writes for about half a second. manage->db and *guard (see
// step_run()) are connected to the new writer afterwards. run: runs one statement by these two connections, and says by a message
// what it waits for. EX_OK, or an exit code after a message: some nodes may have the indexes then, and running it again completes
// them.
typedef enum db_result nodes_run(struct db *db, struct db *guard, struct str statement);
int nodes_build(struct nodes *nodes, struct manage *manage, struct db **guard, struct str statements, nodes_run *run);

#endif
