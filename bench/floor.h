// SPDX-License-Identifier: Apache-2.0
// The floor: prefork workers in libfcgi's own accept loop, which do nothing that an answer can do without.
#ifndef TENURE_BENCH_FLOOR_H
#define TENURE_BENCH_FLOOR_H

#include "bench.h"

#include <fcgiapp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLOOR_MAX_BODY = 1 << 20, FLOOR_MAX_COLUMN = 1 << 16, FLOOR_MAX_WORKERS = 256 };

// As many bytes of header fields as Tenure sends with a resource, and about as many as with a trait.
static inline void floor_answer(FCGX_Request *request, const char *body, size_t n)
{
	static const char id[] = "7b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d";

	if (n == 0) {
		FCGX_FPrintF(request->out,
			"Status: 204 No Content\r\nETag: W/\"%064d%064d\"\r\nX-Request-Id: %s\r\nVary: Accept\r\n"
			"Cache-Control: no-cache\r\n\r\n",
			0, 0, id);
		return;
	}
	FCGX_FPrintF(request->out,
		"Status: 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
		"ETag: W/\"%064d%064d\"\r\nX-Request-Id: %s\r\nVary: Accept\r\nCache-Control: no-cache\r\n\r\n",
		(int)n, 0, 0, id);
	FCGX_PutStr(body, (int)n, request->out);
}

static inline void floor_work(int fd, void (*answer)(void *arg, FCGX_Request *request), void *arg)
{
	FCGX_Request request;
	char drain[512];

	if (FCGX_Init() != 0 || FCGX_InitRequest(&request, fd, 0) != 0)
		die("FCGX_InitRequest failed");
	(void)signal(SIGTERM, SIG_DFL);
	while (FCGX_Accept_r(&request) == 0) {
		while (FCGX_GetStr(drain, sizeof(drain), request.in) > 0)
			continue;
		answer(arg, &request);
		FCGX_Detach(&request); // close without waiting for the peer, who has sent all
		FCGX_Finish_r(&request);
	}
}

// Serves the socket with so many processes until SIGTERM. open runs once in each.
static inline int floor_serve(const char *path, unsigned workers, void *(*open)(void),
	void (*answer)(void *arg, FCGX_Request *request))
{
	sigset_t end;
	int number;

	if (FCGX_Init() != 0)
		die("FCGX_Init failed");
	int fd = FCGX_OpenSocket(path, 1024);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	for (unsigned i = 0; i < workers; i++) {
		if (fork() != 0)
			continue;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		floor_work(fd, answer, open != NULL ? open() : NULL);
		exit(0);
	}
	(void)sigprocmask(SIG_BLOCK, &end, NULL);
	(void)sigwait(&end, &number);
	return 0;
}

#endif
