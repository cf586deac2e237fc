// SPDX-License-Identifier: Apache-2.0
// The signals that each worker handles.
#include "base/base.h"

#include "server/setup/signals.h"

void signals_fill(sigset_t *set)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1 };

	sigemptyset(set);
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		sigaddset(set, signals[i]);
}
