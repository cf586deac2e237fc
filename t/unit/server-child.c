// SPDX-License-Identifier: Apache-2.0
// When a child that ended is started again.
#include "base/base.h"

#include "server/child.h"
#include "tap.h"

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

	child_describe_end(9, text, sizeof(text));
	is_str(str_c(text), "by signal 9 (Killed)", "a signal");
	child_describe_end(3 << 8, text, sizeof(text));
	is_str(str_c(text), "with code 3", "an exit code");
	return done_testing();
}
