// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/memory.h"
#include "base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/siphash.h"

enum {
	LOOK_US = 1000000,        // between two checks whether the file is still the same
	RETRY_US = 10000000,      // between two attempts if there is no file
	ATTEMPTS = 5,             // to open a file that other processes make or replace at the same time
	LINE = 64,                // bytes of a cache line: areas begin with one
	MAPPINGS = 8,             // of one process; only tests have several
	PATH_ROOM = 4096,
	TEXT_ROOM = 64,
};

static const char magic[16] = "tenure shared 1";

// The layout of the file behind the header and the slots, in this order.
static const struct {
	const char *name;
	size_t bytes;
} areas[SHARED__N] = {
	[SHARED_REQUESTS] = { "requests", 49152 },
	[SHARED_FAILURES] = { "failures", 65536 },
	[SHARED_TOKENS] = { "tokens", 131072 },
	[SHARED_WATCHES] = { "watches", 1048576 },
	[SHARED_KEYSTONE] = { "keystone", 6307904 },
	[SHARED_COHERENCE] = { "coherence", 64 },
	[SHARED_WAITING] = { "waiting", 16384 },
	[SHARED_JWT] = { "jwt", 524800 },
	[SHARED_METRICS] = { "metrics", 147456 },
	[SHARED_CONTROL] = { "control", 64 },
	[SHARED_CLUSTER] = { "cluster", 64 },
	[SHARED_TOKEN_USES] = { "token uses", 262144 },
};

struct header {
	char magic[sizeof(magic)];
	uint32_t version, size;
	uint64_t registry;
	uint64_t boot;            // of which boot its times of clock_tick_us() are
	uint64_t key[SIPHASH_KEY];
	_Atomic int64_t swept_us; // clock_tick_us() of the last sweep
	_Atomic uint32_t used;    // one more than the highest slot ever taken
};

// generation is odd while a process owns the slot, and grows at each change of owner. What proves ownership is the lock on the
// slot's byte.
struct slot {
	_Atomic uint32_t generation;
};

enum {
	SLOTS_AT = 4096,
	AREAS_AT = SLOTS_AT + SHARED_PROCESSES * (int)sizeof(struct slot),
};
static_assert(sizeof(struct header) <= SLOTS_AT && AREAS_AT % LINE == 0, "the layout");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
	"processes share them");

struct shared {
	char *dir, *path;
	uint64_t registry, boot;
	int fd;
	char *base;
	size_t size;
	size_t at[SHARED__N]; // where each area begins
	struct header known;  // the header as it was when the file was mapped
	dev_t device;
	ino_t inode;
	bool is_file;         // false: memory without a name
	bool logged;          // true: the absence of a file was logged
	bool wants_slot;      // shared_claim() was called
	unsigned slot;
	pid_t pid;            // the process that claimed the slot
	uint32_t generation;
	int64_t looked_us, tried_us;
	size_t mapping;       // index in mappings
};

// Offset of an area in the file; of SHARED__N: the size of the file.
static size_t area_offset(enum shared_area area)
{
	size_t at = AREAS_AT;

	for (enum shared_area i = 0; i < area; i++)
		at += (areas[i].bytes + LINE - 1) / LINE * LINE;
	return at;
}

static struct header *header_of(const struct shared *shared)
{
	return (struct header *)(void *)shared->base;
}

static struct slot *slots_of(const struct shared *shared)
{
	return (struct slot *)(void *)(shared->base + SLOTS_AT);
}

// ---- a file that is truncated while it is mapped

// What the handler of SIGBUS needs: each mapping of the shared file, and whether the handler has replaced it by empty memory.
static struct mapping {
	char *volatile base;
	volatile size_t size;
	volatile sig_atomic_t lost;
} mappings[MAPPINGS];

// mmap(2) is a plain system call on Linux, so a signal handler may call it.
static void on_fault(int signal, siginfo_t *info, void *context)
{
	char *at = info->si_addr;

	UNUSED(context);
	for (size_t i = 0; i < MAPPINGS; i++) {
		struct mapping *mapping = &mappings[i];
		if (mapping->base == NULL || at < mapping->base || at >= mapping->base + mapping->size)
			continue;
		if (mmap(mapping->base, mapping->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
			MAP_FAILED) {
			mapping->lost = 1;
			return;
		}
	}
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	(void)sigaction(signal, &standard, NULL); // the fault is not in the shared memory: the access is repeated, and the
	                                          // default action ends the process
}

// Enters the mapping into the handler's table, and installs the handler of SIGBUS. False: the table is full.
static bool guard(struct shared *shared)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

	for (size_t i = 0; i < MAPPINGS; i++) {
		if (mappings[i].base != NULL)
			continue;
		mappings[i].lost = 0;
		mappings[i].size = shared->size;
		mappings[i].base = shared->base;
		shared->mapping = i;
		return sigaction(SIGBUS, &action, NULL) == 0;
	}
	return false;
}

// ---- making and opening the file

// The key of the hashes is random, so that clients can't choose names that collide.
static void fill_header(struct header *header, const struct shared *shared)
{
	*header = (struct header){ .version = SHARED_VERSION, .size = (uint32_t)shared->size, .registry = shared->registry, .boot = shared->boot };
	memcpy(header->magic, magic, sizeof(magic));
	digest_random(header->key, sizeof(header->key));
}

// Compares the parts of the header that never change.
static bool is_same_header(const struct header *a, const struct header *b)
{
	return memcmp(a, b, offsetof(struct header, swept_us)) == 0;
}

// Was the file left from before the host was started anew? Processes that can't know their boot (boot_now()) share one with those
// that do.
static bool is_of_other_boot(const struct shared *shared, const struct header *header)
{
	return header->boot != 0 && shared->boot != 0 && header->boot != shared->boot;
}

// Is it the header of a file of this version, size, registry and boot?
static bool is_good_header(const struct shared *shared, const struct header *header)
{
	return memcmp(header->magic, magic, sizeof(magic)) == 0 && header->version == SHARED_VERSION &&
		header->size == shared->size && header->registry == shared->registry && !is_of_other_boot(shared, header);
}

// Allocates all blocks of the file: a store into a mapped page for which the disk has no room would raise SIGBUS.
static bool fill_file(const struct shared *shared, int fd)
{
	struct header header;

	fill_header(&header, shared);
	int failure = posix_fallocate(fd, 0, (off_t)shared->size);
	if (failure != 0)
		errno = failure;
	return failure == 0 && fchmod(fd, 0660) == 0 && pwrite(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header);
}

// Makes a complete file under another name, and then gives it the real name. replace: even if a file has that name; else an
// existing file stays.
static bool make_file(const struct shared *shared, bool replace)
{
	char fresh[PATH_ROOM];
	int n = snprintf(fresh, sizeof(fresh), "%s.%ld", shared->path, (long)getpid());

	if (n < 0 || (size_t)n >= sizeof(fresh)) {
		errno = ENAMETOOLONG;
		return false;
	}
	(void)unlink(fresh); // left by a process with the same id that was killed
	int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	bool made = fill_file(shared, fd);
	if (made)
		made = replace ? rename(fresh, shared->path) == 0 : link(fresh, shared->path) == 0 || errno == EEXIST;
	int saved = errno;
	(void)unlink(fresh);
	close(fd);
	errno = saved;
	return made;
}

// Can this version use the file, and can only its owner and group write to it?
static bool is_usable(const struct shared *shared, int fd, const struct stat *st)
{
	struct header header;

	return S_ISREG(st->st_mode) && st->st_size == (off_t)shared->size && (st->st_mode & S_IRWXO) == 0 &&
		pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) && is_good_header(shared, &header);
}

// Is it good but for its boot? That is nothing to warn of.
static bool is_left_over(const struct shared *shared, int fd)
{
	struct header header;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || !is_of_other_boot(shared, &header))
		return false;
	header.boot = shared->boot;
	return is_good_header(shared, &header);
}

// Opens the file or makes it. -1 with errno: there is none, and none can be made.
static int open_file(const struct shared *shared, struct stat *st)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		// O_NOFOLLOW and O_NONBLOCK: the name may belong to a link or a pipe that somebody placed there.
		int fd = open(shared->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0 && (errno != ENOENT || !make_file(shared, false)))
			return -1;
		if (fd < 0)
			continue;
		if (fstat(fd, st) == 0 && is_usable(shared, fd, st))
			return fd;
		bool left_over = is_left_over(shared, fd);
		close(fd);
		if (!left_over)
			log_warning("%s is damaged, or not what it should be: another takes its place", shared->path);
		if (!make_file(shared, true))
			return -1;
	}
	errno = EAGAIN;
	return -1;
}

// Memory without a name, in the layout of the file. Processes forked from this one share it.
static int open_memory(const struct shared *shared)
{
	struct header header;
	int fd = memfd_create("tenure-shared", MFD_CLOEXEC);

	fill_header(&header, shared);
	if (fd < 0 || (ftruncate(fd, (off_t)shared->size) == 0 && pwrite(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header)))
		return fd;
	close(fd);
	return -1;
}

// ---- mapping

static void unmap(struct shared *shared)
{
	if (shared->base == NULL)
		return;
	mappings[shared->mapping].base = NULL;
	(void)munmap(shared->base, shared->size);
	close(shared->fd); // this also releases the lock of the slot
	shared->base = NULL;
	shared->fd = -1;
	shared->slot = SHARED_NONE;
}

// Maps the file or memory, and keeps a copy of its header. False: it is not usable; fd stays open.
static bool map(struct shared *shared, int fd)
{
	void *memory = mmap(NULL, shared->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return false;
	shared->base = memory;
	shared->fd = fd;
	memcpy(&shared->known, memory, sizeof(shared->known));
	if (is_good_header(shared, &shared->known) && guard(shared))
		return true;
	(void)munmap(memory, shared->size);
	shared->base = NULL;
	return false;
}

// Maps the file if possible, else memory without a name.
static bool map_any(struct shared *shared)
{
	struct stat st = { .st_ino = 0 };
	int fd = open_file(shared, &st);

	shared->is_file = fd >= 0;
	shared->device = st.st_dev;
	shared->inode = st.st_ino;
	if (fd < 0) {
		if (!shared->logged)
			log_warning("%s can't be made or used: %s. Limits hold among the processes of this master alone", shared->path,
				strerror(errno));
		shared->logged = true;
		fd = open_memory(shared);
	} else {
		shared->logged = false;
	}
	if (fd >= 0 && map(shared, fd))
		return true;
	if (fd >= 0)
		close(fd);
	return false;
}

// Makes only the last folder of the path; the folders above are the operator's. Its group may write there, whatever the umask:
// the host service may run as another user than the workers that a web server starts.
static void make_dir(const char *dir)
{
	mode_t saved = umask(0);
	bool made = mkdir(dir, 0770) == 0;

	umask(saved);
	if (made)
		log_info("made the folder %s", dir);
}

// A number for this boot of the host; 0: not known, as in a unit of systemd with ProcSubset=pid, and then files of other boots
// are used as well.
static uint64_t boot_now(void)
{
	static const uint64_t no_key[SIPHASH_KEY] = { 0 };
	char id[TEXT_ROOM];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, id, sizeof(id)) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 ? siphash(no_key, str_n(id, (size_t)n)) : 0;
}

// Fills in where the file is. NULL: no memory.
static struct shared *shared_new(const char *dir, struct str registry)
{
	static const uint64_t no_key[SIPHASH_KEY] = { 0 };
	struct shared *shared = calloc(1, sizeof(*shared));

	if (shared == NULL)
		return NULL;
	shared->fd = -1;
	shared->slot = SHARED_NONE;
	shared->size = area_offset(SHARED__N);
	for (enum shared_area i = 0; i < SHARED__N; i++)
		shared->at[i] = area_offset(i);
	shared->registry = siphash(no_key, registry);
	shared->boot = boot_now();
	shared->dir = strdup(dir);
	if (shared->dir == NULL || asprintf(&shared->path, "%s/shared-v%d-%016llx", dir, SHARED_VERSION,
		(unsigned long long)shared->registry) < 0) {
		shared->path = NULL;
		shared_close(&shared);
	}
	return shared;
}

struct shared *shared_open(const char *dir, struct str registry)
{
	struct shared *shared = shared_new(dir, registry);

	assert(dir != NULL && registry.n > 0);
	if (shared == NULL)
		return NULL;
	make_dir(dir);
	if (!map_any(shared))
		shared_close(&shared);
	return shared;
}

struct shared *shared_attach(const char *dir, struct str registry)
{
	struct shared *shared = shared_new(dir, registry);
	struct stat st;

	assert(dir != NULL && registry.n > 0);
	if (shared == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	int fd = open(shared->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int failure = errno;
	if (fd >= 0 && fstat(fd, &st) == 0 && is_usable(shared, fd, &st) && map(shared, fd)) {
		shared->is_file = true;
		shared->device = st.st_dev;
		shared->inode = st.st_ino;
		return shared;
	}
	if (fd >= 0) {
		failure = is_left_over(shared, fd) ? ENOENT : EINVAL; // no process of this boot has made one
		close(fd);
	}
	shared_close(&shared);
	errno = failure;
	return NULL;
}

void shared_close(struct shared **shared)
{
	if (*shared == NULL)
		return;
	if ((*shared)->slot != SHARED_NONE && (*shared)->pid == getpid() && !mappings[(*shared)->mapping].lost)
		atomic_store(&slots_of(*shared)[(*shared)->slot].generation, (*shared)->generation + 1);
	unmap(*shared);
	free((*shared)->dir);
	free((*shared)->path);
	free(*shared);
	*shared = NULL;
}

// ---- slots of processes

// Takes (F_WRLCK) or releases (F_UNLCK) the lock on the slot's byte. Never waits.
static bool lock_slot(const struct shared *shared, unsigned slot, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1 };

	return fcntl(shared->fd, F_SETLK, &lock) == 0;
}

static bool is_locked(const struct shared *shared, unsigned slot)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1 };

	return fcntl(shared->fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static void raise_used(const struct shared *shared, uint32_t used)
{
	_Atomic uint32_t *all = &header_of(shared)->used;
	uint32_t now = atomic_load(all);

	while (now < used && !atomic_compare_exchange_weak(all, &now, used))
		;
}

bool shared_claim(struct shared *shared)
{
	assert(shared->slot == SHARED_NONE || shared->pid != getpid()); // a child must not use its parent's slot
	shared->slot = SHARED_NONE;
	shared->wants_slot = true;
	shared->pid = getpid();
	// Takes the first free slot, so that few slots have to be looked through.
	for (unsigned i = 0; i < SHARED_PROCESSES; i++) {
		if (!lock_slot(shared, i, F_WRLCK))
			continue;
		struct slot *slot = &slots_of(shared)[i];
		shared->generation = (atomic_load(&slot->generation) + 1) | 1;
		atomic_store(&slot->generation, shared->generation);
		shared->slot = i;
		raise_used(shared, i + 1);
		return true;
	}
	log_warning("more than %d processes share %s: this one counts nothing", SHARED_PROCESSES, shared->path);
	return false;
}

unsigned shared_slot(const struct shared *shared)
{
	return shared->slot;
}

unsigned shared_used(const struct shared *shared)
{
	uint32_t used = atomic_load_explicit(&header_of(shared)->used, memory_order_relaxed);

	return used < SHARED_PROCESSES ? used : SHARED_PROCESSES;
}

uint64_t shared_self(const struct shared *shared)
{
	return shared->slot == SHARED_NONE ? 0 : (uint64_t)shared->generation << 32 | (shared->slot + 1);
}

bool shared_is_alive(const struct shared *shared, uint64_t mark)
{
	uint32_t slot = (uint32_t)mark - 1, generation = (uint32_t)(mark >> 32);

	return slot < SHARED_PROCESSES && (generation & 1) != 0 &&
		atomic_load_explicit(&slots_of(shared)[slot].generation, memory_order_relaxed) == generation;
}

// Frees the slots of processes that ended without releasing them. Only the holder of a slot's lock may change it, so a process
// that wants to claim this slot at the same time takes another one.
static void free_dead(const struct shared *shared)
{
	unsigned used = shared_used(shared);

	for (unsigned i = 0; i < used; i++) {
		struct slot *slot = &slots_of(shared)[i];
		if (i == shared->slot || (atomic_load(&slot->generation) & 1) == 0 || is_locked(shared, i))
			continue;
		if (!lock_slot(shared, i, F_WRLCK))
			continue;
		if ((atomic_load(&slot->generation) & 1) != 0)
			atomic_fetch_add(&slot->generation, 1);
		(void)lock_slot(shared, i, F_UNLCK);
	}
}

// One process sweeps for all: the one that sets the time of the last sweep. A time in the future is from before a reboot or
// invalid.
static void sweep(const struct shared *shared, int64_t now_us)
{
	_Atomic int64_t *swept_us = &header_of(shared)->swept_us;
	int64_t last_us = atomic_load(swept_us);

	if ((last_us > now_us || now_us - last_us >= LOOK_US) && atomic_compare_exchange_strong(swept_us, &last_us, now_us))
		free_dead(shared);
}

// ---- checking the file from time to time

static bool is_mine_still(const struct shared *shared)
{
	struct stat st;

	if (mappings[shared->mapping].lost)
		return false;
	if (!shared->is_file)
		return is_same_header(header_of(shared), &shared->known);
	return lstat(shared->path, &st) == 0 && st.st_dev == shared->device && st.st_ino == shared->inode &&
		st.st_size == (off_t)shared->size && is_same_header(header_of(shared), &shared->known);
}

// The file is damaged, but still has its name. Removes that name, so that no process maps it again, and maps another file.
static void remap(struct shared *shared)
{
	bool wants_slot = shared->wants_slot;
	struct stat st;
	bool named = shared->is_file && lstat(shared->path, &st) == 0 && st.st_dev == shared->device && st.st_ino == shared->inode;

	if (shared->is_file)
		log_warning("%s was %s while in use: counts begin anew", shared->path, named ? "damaged" : "removed or replaced");
	unmap(shared);
	if (named)
		(void)make_file(shared, true);
	if (!map_any(shared)) {
		log_error("no memory to share: %s", strerror(errno));
		memory_end(0); // the master then starts another process
	}
	if (wants_slot)
		(void)shared_claim(shared);
}

// Used while there is no file: tries to make one. What was counted in memory without a name is lost then.
static bool try_file(struct shared *shared)
{
	struct stat st;
	int fd = open_file(shared, &st);

	if (fd < 0)
		return false;
	close(fd);
	remap(shared);
	return true;
}

bool shared_refresh(struct shared *shared, int64_t now_us)
{
	if (now_us - shared->looked_us < LOOK_US)
		return false;
	shared->looked_us = now_us;
	if (!is_mine_still(shared)) {
		remap(shared);
		return true;
	}
	sweep(shared, now_us);
	if (shared->is_file || now_us - shared->tried_us < RETRY_US)
		return false;
	shared->tried_us = now_us;
	return try_file(shared);
}

void *shared_area(const struct shared *shared, enum shared_area area, size_t bytes)
{
	assert(area < SHARED__N && bytes <= areas[area].bytes);
	UNUSED(bytes);
	return shared->base + shared->at[area];
}

uint64_t shared_hash(const struct shared *shared, struct str text)
{
	uint64_t hash = siphash(shared->known.key, text);

	return hash != 0 ? hash : 1;
}

void shared_hash128(const struct shared *shared, struct str text, uint64_t hash[2])
{
	siphash_128(shared->known.key, text, hash);
}

uint64_t shared_file(const struct shared *shared)
{
	return shared->known.key[0];
}

bool shared_is_file(const struct shared *shared)
{
	return shared->is_file;
}
