// SPDX-License-Identifier: Apache-2.0
// Memory that processes share: who makes it, who is counted, and what is left when processes are killed and when the file is
// removed, replaced, truncated or damaged under them.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/shared.h"
#include "process.h"
#include "tap.h"

#define ROUNDS 150
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
enum { SECOND = 1000000, CROWD = 12 };

static char dir[] = "/tmp/tenure-shared-XXXXXX";
static int64_t now_us;

static _Atomic uint64_t *cells(const struct shared *shared)
{
	return shared_area(shared, SHARED_REQUESTS, 4096);
}

static char *path_of(void)
{
	static char path[256];
	char pattern[256];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/shared-v*", dir);
	path[0] = '\0';
	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
		(void)snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

// A look that is due.
static bool look(struct shared *shared)
{
	now_us += 2 * SECOND;
	return shared_refresh(shared, now_us);
}

// In another process: claims a slot and counts one in cell 0.
static bool claim(void *inherited)
{
	struct shared *shared = inherited != NULL ? inherited : shared_open(dir, STR("here"));

	if (shared == NULL || !shared_claim(shared))
		return false;
	atomic_fetch_add(&cells(shared)[0], 1);
	atomic_store(&cells(shared)[1 + shared_slot(shared)], shared_self(shared));
	return true;
}

static void test_crowd(void)
{
	pid_t pids[CROWD];
	struct shared *mine = NULL;

	// All at once, so that several try to make the file.
	int gate[2];
	if (pipe(gate) != 0)
		abort();
	for (size_t i = 0; i < CROWD; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			char byte;
			close(gate[1]);
			ssize_t n = read(gate[0], &byte, 1); // until the gate opens
			UNUSED(n);
			struct shared *shared = shared_open(dir, STR("here"));
			bool well = shared != NULL && shared_is_file(shared) && shared_claim(shared);
			if (well)
				atomic_fetch_add(&cells(shared)[0], 1);
			_exit(well ? 0 : 1);
		}
	}
	close(gate[0]);
	close(gate[1]);
	int bad = 0, status;
	for (size_t i = 0; i < CROWD; i++) {
		(void)waitpid(pids[i], &status, 0);
		bad += status != 0;
	}
	is_int(bad, 0, "all of a crowd find the file");
	mine = shared_open(dir, STR("here"));
	ok(mine != NULL && shared_is_file(mine), "it is there");
	is_int((int64_t)atomic_load(&cells(mine)[0]), CROWD, "and it was one and the same");
	struct stat st;
	ok(stat(path_of(), &st) == 0 && (st.st_mode & 0777) == 0660, "for owner and group");

	shared_close(&mine);
}

static void test_slots(void)
{
	struct shared *mine = shared_open(dir, STR("here"));
	pid_t pids[CROWD];
	uint64_t marks[CROWD] = { 0 };
	unsigned alive = 0, differ = 1;

	atomic_store(&cells(mine)[0], 0);
	for (size_t i = 0; i < CROWD; i++)
		pids[i] = process_start(claim, i % 2 == 0 ? NULL : mine); // started by others, and by this one
	ok(shared_claim(mine), "a slot beside those of others");
	is_int(shared_slot(mine), CROWD, "the first that is free");
	is_int(shared_used(mine), CROWD + 1, "so many are in use");
	for (size_t i = 0; i < CROWD; i++) {
		marks[i] = atomic_load(&cells(mine)[1 + i]);
		alive += shared_is_alive(mine, marks[i]);
		differ &= i == 0 || marks[i] != marks[i - 1];
	}
	is_int(alive, CROWD, "all are alive");
	ok(differ, "each has a mark of its own");
	ok(shared_is_alive(mine, shared_self(mine)), "so is this one");
	ok(!shared_is_alive(mine, 0), "nobody is not");
	ok(!shared_is_alive(mine, UINT64_MAX), "nor is nonsense");

	for (size_t i = 0; i < CROWD; i += 2)
		process_kill(pids[i]);
	(void)look(mine);
	alive = 0;
	for (size_t i = 0; i < CROWD; i++)
		alive += shared_is_alive(mine, marks[i]);
	is_int(alive, CROWD / 2, "of those who were killed none is, after a sweep");
	ok(shared_is_alive(mine, shared_self(mine)), "the sweeper itself is");
	pid_t heir = process_start(claim, NULL);
	uint64_t mark = atomic_load(&cells(mine)[1]);
	ok(mark != marks[0] && shared_is_alive(mine, mark), "another takes the first slot, with another mark");
	ok(!shared_is_alive(mine, marks[0]), "which does not bring back the first");
	process_kill(heir);

	// A slot that is taken anew before any sweep.
	pid_t quick = process_start(claim, NULL);
	mark = atomic_load(&cells(mine)[1]);
	process_kill(quick);
	quick = process_start(claim, NULL);
	ok(!shared_is_alive(mine, mark) && shared_is_alive(mine, atomic_load(&cells(mine)[1])),
		"a slot that is taken anew at once has another mark, too");
	process_kill(quick);
	for (size_t i = 1; i < CROWD; i += 2)
		process_kill(pids[i]);
	shared_close(&mine);
}

// Children that come, count and are killed at any moment, while others look.
static void test_kills(void)
{
	struct shared *mine = shared_open(dir, STR("here"));
	pid_t pids[CROWD] = { 0 };
	unsigned alive = 0;

	(void)shared_claim(mine);
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t i = (size_t)(round * 7 % CROWD);
		if (pids[i] != 0)
			process_kill(pids[i]);
		pids[i] = fork();
		if (pids[i] == 0) {
			struct shared *shared = shared_open(dir, STR("here"));
			int64_t at_us = (int64_t)round * 10 * SECOND;
			if (shared == NULL || !shared_claim(shared))
				_exit(1);
			for (;; at_us += 2 * SECOND) {
				(void)shared_refresh(shared, at_us);
				(void)usleep(500);
			}
		}
		if (round % 16 == 0)
			(void)look(mine);
	}
	for (size_t i = 0; i < CROWD; i++)
		process_kill(pids[i]);
	now_us += (int64_t)10000 * SECOND; // past what they wrote
	(void)look(mine);
	for (unsigned i = 0; i < SHARED_PROCESSES; i++) {
		for (uint32_t generation = 1; generation < 512; generation += 2)
			alive += shared_is_alive(mine, (uint64_t)generation << 32 | (i + 1));
	}
	is_int(alive, 1, "after " TEXT(ROUNDS) " that came and were killed, this one alone is alive");
	ok(shared_used(mine) <= CROWD + 2, "and no more slots were used than there were processes");
	shared_close(&mine);
}

static void damage(size_t at, const char *with, size_t n)
{
	int fd = open(path_of(), O_WRONLY);

	if (fd < 0 || pwrite(fd, with, n, (off_t)at) != (ssize_t)n)
		abort();
	close(fd);
}

// Whatever happens to the file, what follows is a file that all share again.
static void check_again(struct shared *mine, const char *what)
{
	struct shared *other = shared_open(dir, STR("here"));

	ok(other != NULL && shared_is_file(other) && shared_is_file(mine), "%s: there is a file", what);
	atomic_store(&cells(mine)[5], 77);
	is_int((int64_t)atomic_load(&cells(other)[5]), 77, "%s: it is shared", what);
	ok(shared_slot(mine) != SHARED_NONE && shared_is_alive(other, shared_self(mine)), "%s: with its slot", what);
	shared_close(&other);
}

static void test_damage(void)
{
	struct shared *mine = shared_open(dir, STR("here"));
	char garbage[8192];
	struct stat st;

	(void)shared_claim(mine);
	ok(!look(mine), "nothing has happened");
	uint64_t hash = shared_hash(mine, STR("name"));
	(void)unlink(path_of());
	atomic_store(&cells(mine)[5], 1);
	ok(look(mine), "removed");
	ok(shared_hash(mine, STR("name")) != hash, "another file has another key");
	check_again(mine, "removed");

	if (truncate(path_of(), 0) != 0)
		abort();
	atomic_store(&cells(mine)[5], 2);
	is_int((int64_t)atomic_load(&cells(mine)[5]), 2, "truncated: an access goes on");
	ok(look(mine), "truncated");
	check_again(mine, "truncated");
	if (truncate(path_of(), 5000) != 0)
		abort();
	struct shared *other = shared_open(dir, STR("here"));
	ok(stat(path_of(), &st) == 0 && st.st_size > 5000, "one that comes does not lengthen it, but makes another");
	shared_close(&other);
	ok(look(mine), "the first notices");
	check_again(mine, "shortened");

	damage(0, "TENURE", 6);
	ok(look(mine), "its header damaged");
	check_again(mine, "damaged");
	damage(20, "\xff\xff\xff\x7f", 4); // the size
	ok(look(mine), "its size damaged");
	check_again(mine, "of another size");
	damage(32, "reboots!", 8);
	errno = 0;
	ok(shared_attach(dir, STR("here")) == NULL && errno == ENOENT, "a file of another boot is none");
	ok(look(mine), "and gives way");
	check_again(mine, "of another boot");
	damage(32, "\0\0\0\0\0\0\0", 8);
	other = shared_attach(dir, STR("here"));
	ok(other != NULL, "a file of processes that do not know their boot is used");
	shared_close(&other);

	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (char)(i * 37 + 11);
	damage(72, garbage, sizeof(garbage));
	ok(shared_used(mine) <= SHARED_PROCESSES, "garbage behind the header: no index is out of bounds");
	(void)shared_is_alive(mine, shared_self(mine));
	(void)look(mine);
	(void)look(mine);
	other = shared_open(dir, STR("here"));
	ok(shared_claim(other), "and who comes finds a slot");
	shared_close(&other);

	int fd = open(path_of(), O_RDWR);
	(void)fchmod(fd, 0666);
	close(fd);
	other = shared_open(dir, STR("here"));
	ok(stat(path_of(), &st) == 0 && (st.st_mode & 07) == 0, "one that everybody can write to is replaced");
	shared_close(&other);
	(void)look(mine);
	check_again(mine, "replaced");
	shared_close(&mine);
}

static void test_strangers(void)
{
	struct shared *here = shared_open(dir, STR("here")), *there = shared_open(dir, STR("there"));

	atomic_store(&cells(here)[5], 8);
	atomic_store(&cells(there)[5], 9);
	is_int((int64_t)atomic_load(&cells(here)[5]), 8, "another registry has another file");
	shared_close(&there);
	shared_close(&here);

	struct shared *none = shared_open("/proc/nothing/there", STR("here"));
	ok(none != NULL && !shared_is_file(none), "where no file can be made there is memory all the same");
	ok(shared_claim(none), "with a slot");
	pid_t child = process_start(claim, none);
	is_int((int64_t)atomic_load(&cells(none)[0]), 1, "which a child shares");
	uint64_t mark = atomic_load(&cells(none)[2]);
	ok(shared_is_alive(none, mark), "and in which it is alive");
	process_kill(child);
	(void)look(none);
	ok(!shared_is_alive(none, mark), "and dead once it was killed");
	shared_close(&none);
}

// A place where there is a link, or a folder, is nobody's file.
static void test_places(void)
{
	char path[256], aim[256];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s", path_of());
	(void)unlink(path);
	struct shared *mine = shared_open(dir, STR("elsewhere"));
	(void)snprintf(path, sizeof(path), "%s", path_of());
	shared_close(&mine);
	(void)unlink(path);
	(void)snprintf(aim, sizeof(aim), "%s/aim", dir);
	int fd = open(aim, O_WRONLY | O_CREAT, 0600);
	ok(fd >= 0 && write(fd, "precious", 8) == 8 && symlink(aim, path) == 0, "a link lies in its place");
	close(fd);
	mine = shared_open(dir, STR("elsewhere"));
	ok(mine != NULL && !shared_is_file(mine), "it is not followed");
	ok(stat(aim, &st) == 0 && st.st_size == 8, "and where it leads nothing was written");
	(void)unlink(path);
	now_us += 20 * SECOND;
	ok(shared_refresh(mine, now_us) && shared_is_file(mine), "once it is gone there is a file");
	shared_close(&mine);
	(void)unlink(path);
	(void)unlink(aim);
}

// A folder that is not there is made so that a process of the same group, and of another user, can use it.
static void test_folder(void)
{
	char below[64], pattern[80];
	struct stat st;
	glob_t found = { .gl_pathc = 0 };
	mode_t saved = umask(077);

	(void)snprintf(below, sizeof(below), "%s/below", dir);
	struct shared *shared = shared_open(below, STR("here"));
	umask(saved);
	ok(shared != NULL && stat(below, &st) == 0 && (st.st_mode & 07777) == 0770, "the group may write to the folder, whatever the umask");
	(void)snprintf(pattern, sizeof(pattern), "%s/*", below);
	ok(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1 && stat(found.gl_pathv[0], &st) == 0 && (st.st_mode & 07777) == 0660,
		"... and to the file");
	if (found.gl_pathc > 0)
		(void)unlink(found.gl_pathv[0]);
	globfree(&found);
	shared_close(&shared);
	ok(rmdir(below) == 0, "... which is all that is made there");
}

int main(void)
{
	now_us = clock_tick_us();
	log_open("shared.t", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	if (mkdtemp(dir) == NULL)
		abort();
	test_crowd();
	test_slots();
	test_kills();
	test_damage();
	char *path = path_of();
	if (path[0] != '\0')
		(void)unlink(path);
	test_strangers();
	glob_t found;
	char pattern[64];
	(void)snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	test_places();
	test_folder();
	ok(rmdir(dir) == 0, "nothing else was left behind");
	return done_testing();
}
