// SPDX-License-Identifier: Apache-2.0
// Memory shared by all processes of the host that serve the same registry, whoever started them: the workers and the watch
// process of a tenured master, and workers started by mod_fcgid, lighttpd (bin-path), spawn-fcgi or systemd. Purpose: counts that
// are used within a request and may be lost at any time, such as those of limits (server/request/limits.h). Tokens that another
// service validated have an area of their own, as have counters for monitoring. Data that must be correct are in the database,
// never here.
//
// The file. It is RUNTIME_DIR/shared-vVERSION-REGISTRY, of a fixed size, readable and writable for its owner and group.
// VERSION changes with the layout, REGISTRY is a hash of where the database is: processes of an older version, or of another
// registry, use another file, so none of them ever meets a layout that it does not know. The first process creates the
// file: completely, under another name, then link(2), which fails if another process was faster. All its blocks are
// allocated at that time, so a full disk is noticed there and never later.
//
// What may happen to the file, and the consequence:
//   removed or replaced   each process notices within a second (shared_refresh) and maps the new file; counts start at 0
//   wrong header or size  the same: a new file takes its name. The old one is never truncated or repaired in place
//   of another boot       the same, where RUNTIME_DIR is on a disk: the times in it are of a clock that has begun anew
//   truncated             the next access faults. A handler for SIGBUS puts empty memory in its place, so the access goes on,
//                         and shared_refresh maps a new file
//   wrong content         indexes and sizes never come from the file, so nothing is read or written outside of it. Counts may
//                         be wrong until the next sweep; the owner of an area says how it corrects them
//   can't be created      the processes of one master share memory without a name instead; a process that has no master has
//                         memory of its own. It is logged once, and tried again every ten seconds
//
// Processes. Each that counts something claims a slot: an index below SHARED_PROCESSES, by a lock of fcntl(2) on the byte of the
// file that has this number. The kernel gives the lock back when the process ends, even by kill -9, so a locked slot has a living
// process, in whichever PID namespace. Once a second one of the processes sweeps: it frees slots that are not locked. Each entry
// that belongs to a process has its owner's mark (shared_self), and is invalid once the owner is dead (shared_is_alive).
//
// Areas. Each row of the table in shared.c is one: a name, a number of bytes. It begins zeroed, at a multiple of 64 bytes.
// Its user declares a struct of atomics that fits, and touches nothing but those: no locks, so no process can leave one behind.
// To add an area: a row in the table, a value in enum shared_area, and one more in SHARED_VERSION.
#ifndef TENURE_BASE_SHARED_H
#define TENURE_BASE_SHARED_H

#include "base/str.h"

enum {
	SHARED_VERSION = 11,
	SHARED_PROCESSES = 1024, // slots; a process that finds none works without
	SHARED_NONE = SHARED_PROCESSES,
};

enum shared_area {
	SHARED_REQUESTS, // in progress, by process (server/request/limits_requests.c)
	SHARED_FAILURES, // wrong tokens by address (server/request/limits_tokens.c)
	SHARED_TOKENS,   // hashes of tokens that were right lately (server/request/limits_tokens.c)
	SHARED_WATCHES,  // open watches (server/request/limits_watches.c)
	SHARED_KEYSTONE, // tokens that Keystone validated (auth/keystone/keystone_cache.c)
	SHARED_COHERENCE, // revisions of what processes cache (registry/cache/coherence.c)
	SHARED_WAITING,  // who waits for another service (auth/core/waiting.c)
	SHARED_JWT,      // public keys of issuers of JSON Web Tokens (auth/jwt/jwt_source.c)
	SHARED_METRICS,  // counters for monitoring (base/metrics.h)
	SHARED_CONTROL,  // what an operator changes at runtime (base/control.h)
	SHARED_CLUSTER,  // the newest epoch of the database's writer (db/writer.c)
	SHARED_TOKEN_USES, // when tokens were used (auth/core/token_uses.c)
	SHARED__N
};

struct shared; // one process's view of it

// Maps the file in the folder dir, which is made if only its last part is missing. registry says where the database is: any
// text that is the same for all processes that should share. Works even if there is no file (see above); NULL: no memory.
// Call it before fork: children inherit the view, and each that counts claims a slot for itself.
struct shared *shared_open(const char *dir, struct str registry);
// The same for a tool that only reads or sets what the processes of the service share: it maps the file if there is a good one,
// and never makes a file or a folder, which would belong to the wrong user. NULL: there is none, or no memory; errno says why.
struct shared *shared_attach(const char *dir, struct str registry);
// Releases the slot and unmaps the memory. The file stays.
void shared_close(struct shared **shared);
// Takes a slot for this process. False, logged: all are taken.
bool shared_claim(struct shared *shared);
// This process's slot; SHARED_NONE if it has none.
unsigned shared_slot(const struct shared *shared);
// Upper bound: only slots below this number have ever been used.
unsigned shared_used(const struct shared *shared);
// The mark of this process, to be written beside what belongs to it; 0 if it has no slot.
uint64_t shared_self(const struct shared *shared);
// May the process with this mark be alive? A process that ended is found dead within a second, at the next sweep.
bool shared_is_alive(const struct shared *shared, uint64_t mark);
// Call it often: once a second it checks whether the mapped file is still the one in the folder, and sweeps. True: another file
// is mapped now, with another slot, and all counts of this process are lost. now_us: clock_tick_us.
bool shared_refresh(struct shared *shared, int64_t now_us);
// Where the area is now; it may move with shared_refresh. bytes: how large its user's struct is, at most what the table says.
void *shared_area(const struct shared *shared, enum shared_area area, size_t bytes);
// A hash under the file's own key, never 0. Another file has another key.
uint64_t shared_hash(const struct shared *shared, struct str text);
// The same with 128 bits (base/siphash.h), any of them.
void shared_hash128(const struct shared *shared, struct str text, uint64_t hash[2]);
// A number that differs between the file that is mapped now and any other one.
uint64_t shared_file(const struct shared *shared);
// Is it the file, which other processes of the host may see, too?
bool shared_is_file(const struct shared *shared);

#endif
