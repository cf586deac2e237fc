// SPDX-License-Identifier: Apache-2.0
// Lets signals stop long work cleanly.
#include "base/base.h"

#include <signal.h>

#include "manage/core/manage.h"

// Set by a signal: the work ends behind the slice that it is at.
static volatile sig_atomic_t must_stop;

static void note_signal(int number)
{
	UNUSED(number);
	must_stop = 1;
}

const volatile sig_atomic_t *manage_stop_by_signals(void)
{
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART }, before;
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	must_stop = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) // nohup
			(void)sigaction(numbers[i], &action, NULL);
	}
	return &must_stop;
}
