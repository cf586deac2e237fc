// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <sys/wait.h>

#include "server/setup/child.h"

void child_ended(struct child *child, int64_t now_us)
{
	bool ready = child->life != NULL && atomic_load(&child->life->ready);

	if (ready || now_us - child->started_us >= CHILD_STEADY_MS * INT64_C(1000) || child->delay_ms == CHILD_DELAY_READY_MS)
		child->delay_ms = 0;
	child->delay_ms = ready ? CHILD_DELAY_READY_MS : child->delay_ms == 0 ? CHILD_DELAY_FIRST_MS : child->delay_ms * 2;
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
	};

	assert((size_t)child->kind < COUNT_OF(names));
	return names[child->kind];
}

void child_describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		(void)snprintf(text, size, "by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, size, "with code %d", WEXITSTATUS(status));
}
