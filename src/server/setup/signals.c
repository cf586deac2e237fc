// SPDX-License-Identifier: Apache-2.0
// The signals that each process of the service handles.
#include "base/base.h"

#include "server/setup/signals.h"

void signals_fill(sigset_t *set)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1 };

	sigemptyset(set);
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		sigaddset(set, signals[i]);
}

void signals_stop_by(void (*handler)(int signal))
{
	static const int signals[] = { SIGTERM, SIGINT, SIGQUIT };
	struct sigaction action = { .sa_handler = handler };
	sigset_t set;

	sigemptyset(&action.sa_mask);
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		(void)sigaction(signals[i], &action, NULL);
		sigaddset(&set, signals[i]);
	}
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}
