// SPDX-License-Identifier: Apache-2.0
// Figures about the service, counted by all its processes on a host in the shared memory (base/shared.h), whoever started them,
// and written as text for Prometheus by base/metrics_text.h.
//
// All processes add to the same totals, by atomic additions: nothing has to be summed, and what a process that ends has counted
// is there already. There is no lock, so a process that is killed leaves none behind; what it had not added yet is missing: of
// its last request, and of the last second what its connection and caches have counted. A request costs five additions. No figure
// is about a tenant, a user or a resource, so their number does not grow with the registry. If the file is lost, all begin at 0
// again, as after a reboot; readers of counters expect that.
//
// Rows with names: methods, by dialect and id in their WADL. A row is taken by the first process that counts for the method, and
// stays. If all rows are taken, the rest count in the row "other".
//
// Every function takes the memory of this process; NULL, or memory without a slot for this process: nothing is counted.
#ifndef TENURE_BASE_METRICS_H
#define TENURE_BASE_METRICS_H

#include <stdatomic.h>

#include "base/outcome.h"
#include "base/shared.h"

enum {
	METRICS_ROUTES = 512,  // rows; there are some 330 methods
	METRICS_NAME = 64,     // bytes of a row's name, "DIALECT ID", with its NUL
	METRICS_CLASSES = 6,   // of statuses: 1xx to 5xx, and [0] for none of these
	METRICS_BUCKETS = 13,  // of times; longer ones are in none
	METRICS_OUTCOMES = 64, // room for enum outcome
};

// Upper bounds of the buckets, in microseconds.
extern const int64_t metrics_bounds_us[METRICS_BUCKETS];

enum metrics_counter {
	// those that a worker's own connection and caches count, and that metrics_add_own() adds
	METRICS_ROUND_TRIPS,          // to the database, by workers
	METRICS_CONNECTIONS,          // to the database, by workers
	METRICS_STATEMENTS_PREPARED,  // by workers: a miss of the cache of statements
	METRICS_STATEMENTS_REUSED,    // a hit of it
	METRICS_RESOURCE_CACHE_HITS,  // lookups
	METRICS_RESOURCE_CACHE_MISSES,
	METRICS_PAGE_CACHE_HITS,
	METRICS_PAGE_CACHE_MISSES,
	METRICS__OWN,

	METRICS_RETRIES = METRICS__OWN, // of a request's transaction
	METRICS_WORKERS_STARTED,
	METRICS_WORKERS_FAILED,       // ended otherwise than a master told them to; another one took the place
	METRICS_MOVES_DONE,           // of the background
	METRICS_MOVES_FAILED,
	METRICS_SLOW_REQUESTS,        // above the setting slow_request
	METRICS_WEBHOOK_RECEIVED,     // attempts to send a message to a webhook that succeeded
	METRICS_WEBHOOK_FAILED,       // attempts that failed and will be repeated
	METRICS_WEBHOOK_GIVEN_UP,     // attempts that failed and were the last for their message
	METRICS__COUNTERS,
};

// What the host service last saw in the database, every few seconds.
enum metrics_gauge {
	METRICS_DATABASE_ANSWERS,     // 1 or 0; if 0, the other values are older
	METRICS_SCHEMA_VERSION,
	METRICS_MOVES_QUEUED,         // those that run included
	METRICS_MOVES_RUNNING,
	METRICS_OLDEST_MOVE_US,       // when the oldest queued one was accepted, since 1970; 0: none is queued
	METRICS_NAMESPACES_DELETING,
	METRICS_HORIZON_LAG,          // committed changes above the horizon of the change log; 10,000 may mean more
	METRICS_HORIZON_HELD_SINCE_US, // since 1970; 0: it is not held up
	METRICS_REAPED_AT_US,         // since 1970; 0: nobody has purged yet
	METRICS_MAINTENANCE_SINCE_US, // since 1970; 0: changes are allowed
	METRICS_USAGE_CLOSED_US,      // end of the last closed period of usage; before there is one, when counting began; 0: it has not begun
	METRICS_USAGE_DUE_SINCE_US,   // end of the oldest period that is over and not closed yet; 0: there is none
	METRICS_WEBHOOKS_ACTIVE,      // webhooks by state
	METRICS_WEBHOOKS_FAILING,
	METRICS_WEBHOOKS_PAUSED,
	METRICS_WEBHOOKS_DISABLED,
	METRICS_WEBHOOK_MESSAGES_DEAD, // that were given up; 10,000 may mean more
	METRICS_WEBHOOK_MESSAGES_QUEUED, // pings and revived messages that are to be sent; likewise
	METRICS_WEBHOOK_SENDER_WORKS, // 1 if a process of some host sends, or 0
	METRICS_WEBHOOK_WAITING_US,   // when the oldest change was made that some active webhook was not sent yet, since 1970; 0: none
	METRICS_WEBHOOK_FAILING_US,   // when the oldest change was made that some failing webhook was not sent yet; likewise
	METRICS__GAUGES,
};

enum metrics_kind { METRICS_NO_PROCESS, METRICS_WORKER, METRICS_WATCH };

// The area SHARED_METRICS. Only metrics.c and metrics_text.c touch it.
struct metrics_times {
	_Atomic uint64_t buckets[METRICS_BUCKETS]; // each without those below it
	_Atomic uint64_t n, sum_us;
};
struct metrics_route {
	_Atomic uint64_t key;                            // shared_hash() of the name; 0: the row is free
	_Atomic uint64_t name[METRICS_NAME / sizeof(uint64_t)]; // written by all that take or find the row, always the same
	_Atomic uint64_t by_class[METRICS_CLASSES];
	struct metrics_times times;
};
struct metrics_dialect {
	_Atomic uint64_t key;
	_Atomic uint64_t name[METRICS_NAME / sizeof(uint64_t)];
	_Atomic uint64_t by_outcome[METRICS_OUTCOMES];
};
// Of a slot of the shared memory. Only the process of the slot writes it.
struct metrics_process {
	_Atomic uint64_t mark;  // shared_self(): other values are of a process that ended
	_Atomic uint32_t kind;  // enum metrics_kind
	_Atomic uint32_t value; // a worker's: 1 while it serves a request; the watch process's: open watches
};
enum { METRICS_DIALECTS = 8 };
struct metrics {
	struct metrics_route routes[METRICS_ROUTES];
	struct metrics_dialect dialects[METRICS_DIALECTS];
	_Atomic uint64_t counters[METRICS__COUNTERS];
	_Atomic int64_t gauges[METRICS__GAUGES];
	_Atomic int64_t gauges_at_us; // clock_now_us() when they were written; 0: never
	struct metrics_process processes[SHARED_PROCESSES];
};

// A worker's memory of which rows its methods have, so that it searches for each row once. Zeroed: none known yet.
enum { METRICS_KNOWN = 2 * METRICS_ROUTES };
struct metrics_rows {
	uint64_t file; // shared_file() of the file that the rows are in
	struct {
		const void *method; // its address is the key; NULL: free
		uint16_t route, dialect;
	} known[METRICS_KNOWN];
	size_t n;
};

// One request, for metrics_request().
struct metrics_of_request {
	const void *method; // the same for all requests of the method, as long as the process lives; NULL: no method was found
	const char *dialect, *id; // id "" with method NULL
	enum outcome outcome;
	int status;
	int64_t us; // of worker time
};

void metrics_request(const struct shared *shared, struct metrics_rows *rows, const struct metrics_of_request *request);
void metrics_add(const struct shared *shared, enum metrics_counter counter, uint64_t n);
// Adds to each counter below METRICS__OWN by how much the process's own count has grown since the last call. now: the process's
// own counts. added: these at the last call, 0 before the first; set to now.
void metrics_add_own(const struct shared *shared, const uint64_t now[METRICS__OWN], uint64_t added[METRICS__OWN]);
// Says what this process is, and how it is at the moment: a worker 1 while it serves a request, the watch process its watches.
// Call it again after shared_refresh() has mapped another file; it costs little.
void metrics_process(const struct shared *shared, enum metrics_kind kind, uint32_t value);
// Changes the value alone.
void metrics_process_value(const struct shared *shared, uint32_t value);
// Sets all gauges.
void metrics_observe(const struct shared *shared, const int64_t gauges[METRICS__GAUGES], int64_t now_us);
// Sets METRICS_DATABASE_ANSWERS to 0, and leaves the others as they are.
void metrics_observe_nothing(const struct shared *shared, int64_t now_us);

// The area; never NULL. For metrics_text.c.
struct metrics *metrics_area(const struct shared *shared);

#endif
