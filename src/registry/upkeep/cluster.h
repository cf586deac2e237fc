// SPDX-License-Identifier: Apache-2.0
// The nodes of a database cluster: their state, which of them is the writer, and when another node has to become the writer.
// doc/cluster.md says what is promised, and why.
#ifndef TENURE_REGISTRY_UPKEEP_CLUSTER_H
#define TENURE_REGISTRY_UPKEEP_CLUSTER_H

#include "base/str.h"
#include "db/db.h"

struct pool;

enum { CLUSTER_NODES = 16 };

// The row of table `writer`, as a node has it.
struct cluster_writer {
	struct str node;   // "": there is none
	struct str next;   // the node that a switch in progress makes the writer; "": none
	struct str reason;
	uint64_t epoch;
	bool held;         // an operator has stopped all writes
	int64_t since_us;  // by the clock of the node that wrote the row
};

// How a server without Galera replicates. The members from known on are set only for DB_OPERATOR, which alone may ask.
struct cluster_replication {
	uint64_t server_id;
	bool logs;               // it writes a binary log, of what it receives as well: so it can be a primary
	bool waits;              // as a primary: it acknowledges a transaction after a replica has received it (semi-synchronous)
	uint64_t waits_ms;       // for that long at most
	uint64_t waiting_for;    // connected replicas that acknowledge what they receive
	bool stands_still;       // as a primary: it waits, and none of these is connected, so nothing is committed
	bool receipts;           // as a replica: it acknowledges what it receives
	struct str report_host, port;
	bool known;
	bool is_replica;         // a primary is configured
	bool receives, applies;  // its two threads run
	bool uses_gtid, tls, verifies;
	uint64_t primary_id;     // its primary's server_id; 0: it was not connected yet
	struct str primary;      // host:port
	struct str behind;       // seconds; "": not known
	struct str received;     // GTIDs
	struct str error;        // of its threads
	struct str state;        // of the thread that receives
	struct str ca, cert, key; // its files for TLS to its primary; "": none
};

// One of the servers that [database] host names. Texts live until the next cluster_look().
struct cluster_node {
	struct str host;     // as the setting names it
	struct db *db;
	bool answers;        // the members below are known
	struct str name;     // of the node in its cluster; of another server, where it listens
	struct str state;    // "Synced", "Donor/Desynced", …; "" where it is no node of Galera
	bool galera;
	bool primary;        // it is in the primary component, and takes statements
	bool synced;
	bool read_only;
	uint64_t size;       // nodes in its component
	uint64_t membership; // of that component: the number grows with each node that leaves or joins
	bool has_writer;     // writer is known: the node answers queries, and has the table
	struct cluster_writer writer;
	struct cluster_replication replication; // zeros for a node of Galera
	struct str settings; // what is wrong with the node's settings, a text for operators; "": nothing
	struct str error;    // why it does not answer
	bool connected;      // the last time that it was asked, it answered
	// Since it did not answer in time, or ended its connection, it is not asked before this clock_tick_us(), unless a node
	// has come to the cluster since then, which may be this one.
	int64_t ask_again_us;
	uint64_t silent_since; // cluster->arrivals then
};

struct cluster {
	size_t n;
	struct cluster_node nodes[CLUSTER_NODES];
	uint64_t membership; // the highest that a node of the primary component has told
	uint64_t size;       // of the component with that membership
	uint64_t arrivals;   // grows with each change of the membership that did not make the component smaller
	struct pool *pool;
	struct db_settings *settings; // with short timeouts
	enum db_account account;
};

// Never NULL. account: DB_OPERATOR to see how servers without Galera replicate (replication.known), and to promote one.
struct cluster *cluster_open(const struct db_settings *settings, enum db_account account);
void cluster_close(struct cluster **cluster);
// Asks all nodes how they are. One that hangs takes seconds, and is not asked again at once.
void cluster_look(struct cluster *cluster);
// The same for a caller that looks repeatedly, and may have to switch. It does not ask the node that was the writer at the last
// look if all members of the others' component have answered: that node is no member then, and one that is stopping may keep
// callers waiting. Without Galera there are no members: it asks all.
void cluster_glance(struct cluster *cluster);
// May workers write to that node, as far as it says itself?
bool cluster_is_usable(const struct cluster_node *node);
// Is any of them, of those that answer, a node of Galera?
bool cluster_has_galera(const struct cluster *cluster);
// The newest row of the writer that a usable node has; NULL: none.
const struct cluster_writer *cluster_writer(const struct cluster *cluster);
// How many nodes the Galera cluster of that server has, an arbitrator included; 0: it belongs to none, or does not say.
uint64_t cluster_size_at(struct db *db, struct pool *pool);
// The index of the node of that name, or that is named so in [database] host; cluster->n: none.
size_t cluster_find(const struct cluster *cluster, struct str name);

enum cluster_outcome {
	CLUSTER_DONE,
	CLUSTER_OVERTAKEN, // somebody else has switched meanwhile
	CLUSTER_FAILED,    // *why says why; the state may be any
};
// Makes the node of that name the writer, by statements to nodes[via], which must be usable. First nobody is the writer, for
// longer than any read of the earlier writer may last. The caller has checked that the node is usable. It fails after some 20
// seconds if the server does not answer.
enum cluster_outcome cluster_switch(struct cluster *cluster, size_t via, struct str node, struct str reason, struct str *why);
// Stops all writes, until somebody calls cluster_switch().
enum cluster_outcome cluster_fence(struct cluster *cluster, size_t via, struct str reason, struct str *why);

// A change of the row of the writer.
struct cluster_change {
	uint64_t epoch;  // that the row must have; otherwise the outcome is CLUSTER_OVERTAKEN
	struct str node; // the name of the writer to be; "": none
	struct str reason;
};
// The two halves of a switch, for promotion.c; each is one transaction on the server of db. resign: the epoch change->epoch + 1
// has no writer, and change->node is the one to follow; held: an operator stops all writes. promote: change->node is the writer,
// in the epoch raised, which is > change->epoch.
enum cluster_outcome cluster_resign(struct cluster *cluster, struct db *db, const struct cluster_change *change, bool held, struct str *why);
enum cluster_outcome cluster_promote(struct cluster *cluster, struct db *db, const struct cluster_change *change, uint64_t raised,
	struct str *why);
// Takes the lock of the schema on the server of db, for as long as that connection lasts. Who changes tables or empties the
// registry holds it on the writer: these statements have no fence. CLUSTER_OVERTAKEN: somebody holds it; CLUSTER_FAILED: the
// server does not say; *why in either case.
enum cluster_outcome cluster_lock_schema(struct cluster *cluster, struct db *db, struct str *why);
// A connection to that node which waits for answers for some 20 seconds. settings: room for its settings, which must outlive it.
struct db *cluster_open_patient(const struct cluster *cluster, struct db_settings *settings, size_t node);
// Asks a server without Galera again how it replicates. False: it does not say, and node->error is why.
bool cluster_ask_replication(struct cluster *cluster, struct cluster_node *node);

// What was seen in earlier looks; begin with zeros.
struct cluster_memory {
	uint64_t epoch;
	int64_t gone_us, weak_us, vacant_us; // clock_tick_us() since when the writer is gone, is not usable, or there is none; 0: it is not so
	int64_t looked_us;                   // of the last look
	int64_t switched_us;                 // of the last switch that was seen
};
// Does another node of Galera have to be the writer? now_us: clock_tick_us(). True: cluster_switch(via, name of target) for that
// reason. Never without a primary component.
bool cluster_must_switch(const struct cluster *cluster, struct cluster_memory *memory, int64_t now_us, size_t *via, size_t *target,
	struct str *reason);

#endif
