// SPDX-License-Identifier: Apache-2.0
// The one place that touches what libfcgi keeps to itself: two members of FCGX_Request that its header says not to use. There
// is no public way to give the library a connection that somebody else accepted, nor to learn whether the web server keeps
// it. configure checks that the members are there, t/unit/server-libfcgi.c that they mean what stands here.
#ifndef TENURE_SERVER_WIRE_FCGX_H
#define TENURE_SERVER_WIRE_FCGX_H

#include <fcgiapp.h>

// The connection's descriptor; < 0 if the request has none. The library closes it, and sets it to -1, when a request ends that
// is not kept, or that broke off.
static inline int fcgx_fd(const FCGX_Request *request)
{
	return request->ipcFd;
}

// Gives the request a connection that was accepted already: FCGX_Accept_r reads from it and accepts none. It is kept until the
// first request on it says otherwise; without that FCGX_Accept_r would close it before it began.
static inline void fcgx_open(FCGX_Request *request, int fd)
{
	request->ipcFd = fd;
	request->keepConnection = 1;
}

// Does the web server keep the connection behind the answer? As the request said, or as fcgx_close_after() set it.
static inline bool fcgx_keeps(const FCGX_Request *request)
{
	return request->keepConnection != 0;
}

// FCGX_Finish_r will close the connection, whatever the web server asked for.
static inline void fcgx_close_after(FCGX_Request *request)
{
	request->keepConnection = 0;
}

#endif
