// SPDX-License-Identifier: Apache-2.0
// The only place that uses private parts of libfcgi: two members of FCGX_Request that its header says not to use, and two of
// FCGX_Stream. The library has no public way to pass it a connection that was accepted elsewhere, nor to learn whether the web
// server keeps a connection open, or how much of a body can be read without waiting. configure checks that the first two exist,
// t/unit/server-libfcgi.c that all mean what is written here.
#ifndef TENURE_SERVER_WIRE_FCGX_H
#define TENURE_SERVER_WIRE_FCGX_H

#include <fcgiapp.h>

// The connection's descriptor; negative if the request has none. The library closes it and sets it to -1 when a request ends,
// unless the connection is kept, and when the connection breaks.
static inline int fcgx_fd(const FCGX_Request *request)
{
	return request->ipcFd;
}

// Gives the request a connection that was accepted already: FCGX_Accept_r() reads from it and accepts none. keepConnection must
// be set at first, else FCGX_Accept_r() would close the connection before reading; the first request on it sets it anew.
static inline void fcgx_open(FCGX_Request *request, int fd)
{
	request->ipcFd = fd;
	request->keepConnection = 1;
}

// Does the web server keep the connection after the answer? The request said so, unless fcgx_close_after() was called.
static inline bool fcgx_keeps(const FCGX_Request *request)
{
	return request->keepConnection != 0;
}

// Makes FCGX_Finish_r() close the connection, whatever the web server asked for.
static inline void fcgx_close_after(FCGX_Request *request)
{
	request->keepConnection = 0;
}

// How many bytes of the body were received already, so that FCGX_GetStr() returns them without waiting. 0: it may wait.
static inline size_t fcgx_ready(const FCGX_Stream *in)
{
	return (size_t)(in->stop - in->rdNext);
}

#endif
