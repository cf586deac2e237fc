// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/setup/child.h"

void child_ended(struct child *child, int64_t now_us)
{
	bool ready = child->life != NULL && atomic_load(&child->life->ready);

	if (ready || now_us - child->started_us >= CHILD_STEADY_MS * INT64_C(1000) || child->delay_ms == CHILD_DELAY_READY_MS)
		child->delay_ms = 0;
	child->delay_ms = ready ? CHILD_DELAY_READY_MS : child->delay_ms == 0 ? CHILD_DELAY_FIRST_MS
									      : child->delay_ms * 2;
	if (child->delay_ms > CHILD_DELAY_MAX_MS)
		child->delay_ms = CHILD_DELAY_MAX_MS;
	child->stopped_us = 0;
	child->due_us = now_us + child->delay_ms * INT64_C(1000);
	child->pid = 0;
}

const char *child_reason_to_kill(const struct child *child, int64_t now_us, unsigned deadline_s)
{
	int64_t busy_us = child->life != NULL ? atomic_load(&child->life->busy_us) : 0;

	if (child->pid == 0)
		return NULL;
	if (child->stopped_us != 0 && now_us - child->stopped_us >= CHILD_STOPPED_S * INT64_C(1000000))
		return "it was stopped by a signal";
	if (deadline_s != 0 && busy_us != 0 && now_us - busy_us >= deadline_s * INT64_C(1000000))
		return "its request takes longer than worker_deadline";
	return NULL;
}

const char *child_name(const struct child *child)
{
	static const char *const names[] = {
		[CHILD_WORKER] = "worker",
		[CHILD_HOST] = "host service",
		[CHILD_SENDER] = "sender",
		[CHILD_WATCH] = "watch process",
		[CHILD_MOVER] = "mover",
		[CHILD_REAPER] = "reaper",
		[CHILD_OBSERVER] = "observer",
		[CHILD_WRITER_WATCH] = "writer watch",
		[CHILD_USAGE] = "usage counter",
		[CHILD_DELIVERER] = "deliverer",
	};

	assert((size_t)child->kind < COUNT_OF(names));
	return names[child->kind];
}

bool child_fork(struct child *child)
{
	assert(child->pid == 0 && child->life != NULL);
	atomic_store(&child->life->ready, false);
	atomic_store(&child->life->busy_us, 0);
	pid_t pid = fork();

	if (pid == 0)
		return true;
	child->started_us = clock_tick_us();
	if (pid < 0) {
		log_error("can't fork a %s: %s", child_name(child), strerror(errno));
		child_ended(child, child->started_us);
		return false;
	}
	child->pid = pid;
	return false;
}

void child_note_stop(struct child *child, bool stopped)
{
	assert(child->pid != 0);
	child->stopped_us = stopped ? clock_tick_us() : 0;
	if (stopped)
		log_warning("%s %ld is stopped by a signal", child_name(child), (long)child->pid);
}

void child_describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		(void)snprintf(text, size, "by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, size, "with code %d", WEXITSTATUS(status));
}

bool children_make(struct children *children, size_t n)
{
	assert(n > 0);
	void *lives = mmap(NULL, n * sizeof(*children->lives), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child *list = lives != MAP_FAILED ? calloc(n, sizeof(*list)) : NULL;

	*children = (struct children){ .list = list };
	if (list == NULL) {
		if (lives != MAP_FAILED)
			(void)munmap(lives, n * sizeof(*children->lives));
		return false;
	}
	children->n = n;
	children->lives = lives;
	for (size_t i = 0; i < n; i++)
		list[i].life = &children->lives[i];
	return true;
}

void children_free(struct children *children)
{
	if (children->lives != NULL)
		(void)munmap(children->lives, children->n * sizeof(*children->lives));
	free(children->list);
	*children = (struct children){ .list = NULL };
}

struct child *children_find(const struct children *children, pid_t pid)
{
	assert(pid > 0);
	for (size_t i = 0; i < children->n; i++) {
		if (children->list[i].pid == pid)
			return &children->list[i];
	}
	return NULL;
}

bool children_any_running(const struct children *children)
{
	for (size_t i = 0; i < children->n; i++) {
		if (children->list[i].pid != 0)
			return true;
	}
	return false;
}

void children_signal(const struct children *children, int signal)
{
	assert(signal > 0);
	for (size_t i = 0; i < children->n; i++) {
		if (children->list[i].pid != 0)
			(void)kill(children->list[i].pid, signal);
	}
}

void children_kill_hanging(const struct children *children, int64_t now_us, unsigned deadline_s)
{
	for (size_t i = 0; i < children->n; i++) {
		const struct child *child = &children->list[i];
		const char *why = child_reason_to_kill(child, now_us, deadline_s);
		if (why == NULL)
			continue;
		log_error("%s %ld is killed: %s", child_name(child), (long)child->pid, why);
		(void)kill(child->pid, SIGKILL);
	}
}
