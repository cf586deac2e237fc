// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/memory.h"
#include "registry/mover.h"
#include "server/host/mover_process.h"
#include "server/setup/host.h"
#include "server/setup/signals.h"

static volatile sig_atomic_t stop; // a global, for the signal handler

static void on_stop(int signal)
{
	UNUSED(signal);
	stop = 1;
}

int mover_process_main(const struct config *config, struct shared *host)
{
	signals_stop_by(on_stop);
	mover_run(config, host, &stop);
	return 0;
}

_Noreturn static void carry_out(const struct config *config, const struct shared *host)
{
	memory_end_with_code("the mover");
	descriptors_drop(); // the worker's connection to the database is closed, too, without being used
	signals_stop_by(SIG_DFL); // a signal may end the process: a move in progress is rolled back and stays queued
	log_request(STR(""));
	while (mover_once(config, host))
		;
	_exit(0);
}

void mover_kick(struct mover_kick *kick, const struct config *config, const struct shared *host)
{
	pid_t holder;

	kick->wanted = kick->pid != 0 && kill(kick->pid, 0) == 0;
	if (kick->wanted || host_service_find(config, &holder) == HOST_SERVICE_RUNS)
		return;
	pid_t pid = fork();
	if (pid == 0)
		carry_out(config, host);
	if (pid < 0)
		log_error("can't fork for a move: %s", strerror(errno));
	kick->wanted = pid < 0;
	kick->pid = pid < 0 ? 0 : pid;
}
