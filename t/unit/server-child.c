// SPDX-License-Identifier: Apache-2.0
// When a child that ended is started again, and all children of a process.
#include "base/base.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/setup/child.h"
#include "tap.h"

static void all_children(void)
{
	struct children children;
	pid_t pids[2];
	int status;

	ok(children_make(&children, 3), "three children");
	ok(!children_any_running(&children), "none of which runs");
	children_signal(&children, SIGKILL); // kill(0, …) would end this test
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		if (child_fork(&children.list[i])) {
			atomic_store(&children.list[i].life->ready, true);
			for (;;)
				pause();
		}
		pids[i] = children.list[i].pid;
		ok(children_find(&children, pids[i]) == &children.list[i], "child %zu is found", i);
	}
	ok(children_find(&children, getpid()) == NULL, "another process is not");
	ok(children_any_running(&children), "some run");

	children_kill_hanging(&children, children.list[0].started_us + 1, 3);
	children.list[1].stopped_us = 1;
	children_kill_hanging(&children, 1 + CHILD_STOPPED_S * INT64_C(1000000), 3);
	is_int(waitpid(-1, &status, 0), pids[1], "the one that hangs is killed");
	is_int(WTERMSIG(status), SIGKILL, "by SIGKILL");
	child_ended(&children.list[1], 5);
	ok(children_any_running(&children), "the other one runs");

	children_signal(&children, SIGTERM);
	is_int(waitpid(-1, &status, 0), pids[0], "a signal to all ends it");
	is_int(WTERMSIG(status), SIGTERM, "by that signal");
	child_ended(&children.list[0], 5);
	ok(!children_any_running(&children), "then none runs");
	children_free(&children);
	is_int((int64_t)children.n, 0, "nor is there one");
}

int main(void)
{
	const int64_t second = 1000000;
	struct child child = { .kind = CHILD_WORKER, .pid = 7, .started_us = 100 * second };
	char text[64];

	child_ended(&child, 100 * second + 1);
	is_int(child.pid, 0, "its place is free");
	is_int(child.due_us - (100 * second + 1), 100000, "the first delay is 100 ms");

	static const unsigned want[] = { 200, 400, 800, 1600, 3200, 6400, 10000, 10000 };
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		child.started_us = child.due_us;
		child_ended(&child, child.started_us + second);
		is_int(child.due_us - child.started_us - second, want[i] * 1000LL, "then %u ms", want[i]);
	}
	child.started_us = child.due_us;
	child_ended(&child, child.started_us + 10 * second);
	is_int(child.due_us - child.started_us - 10 * second, 100000, "one that lived for 10 s begins anew");

	struct child_life life = { .ready = true };
	child.life = &life;
	for (int i = 0; i < 5; i++) {
		child_ended(&child, child.started_us + 1000);
		is_int(child.delay_ms, CHILD_DELAY_READY_MS, "one that was ready is replaced at once, however often");
	}
	life.ready = false;
	child_ended(&child, child.started_us + 1000);
	is_int(child.delay_ms, CHILD_DELAY_FIRST_MS, "one that never was, with a delay");
	child_ended(&child, child.started_us + 1000);
	is_int(child.delay_ms, 2 * CHILD_DELAY_FIRST_MS, "that doubles");

	child = (struct child){ .kind = CHILD_WORKER, .pid = 7, .life = &life };
	ok(child_reason_to_kill(&child, 1000 * second, 3) == NULL, "an idle one does not hang");
	life.busy_us = 997 * second + 1;
	ok(child_reason_to_kill(&child, 1000 * second, 3) == NULL, "nor one whose request is young");
	ok(child_reason_to_kill(&child, 1000 * second + 1, 3) != NULL, "one whose request is old does");
	ok(child_reason_to_kill(&child, 1000 * second + 1, 0) == NULL, "unless it may be");
	life.busy_us = 0;
	child.stopped_us = 990 * second;
	ok(child_reason_to_kill(&child, 994 * second, 3) == NULL, "one that was stopped may be continued");
	ok(child_reason_to_kill(&child, 995 * second, 0) != NULL, "for a while");
	child.pid = 0;
	ok(child_reason_to_kill(&child, 995 * second, 3) == NULL, "where none is, none hangs");

	child_describe_end(9, text, sizeof(text));
	is_str(str_c(text), "by signal 9 (Killed)", "a signal");
	child_describe_end(3 << 8, text, sizeof(text));
	is_str(str_c(text), "with code 3", "an exit code");
	all_children();
	return done_testing();
}
