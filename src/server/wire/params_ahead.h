// SPDX-License-Identifier: Apache-2.0
// Checks a request's parameters before libfcgi reads them. The library allocates what each length claims, up to 2 GiB, and keeps
// any number of parameters, each in its own allocation; its public interface has no limit for either. So the worker peeks at the
// bytes in the socket, and gives the connection to the library only if all parameters are there and within limits.
#ifndef TENURE_SERVER_WIRE_PARAMS_AHEAD_H
#define TENURE_SERVER_WIRE_PARAMS_AHEAD_H

#include "base/base.h"

enum { PARAMS_MOST = 10000 }; // parameters of a request

enum params_ahead {
	PARAMS_WHOLE,    // all parameters are among the bytes, and within limits; or the bytes are not FastCGI, which the library
	                 // finds out when it reads them
	PARAMS_PART,     // the parameters among the bytes are within limits, but more follow
	PARAMS_TOO_MUCH, // names and values claim more than max bytes together, or there are more than PARAMS_MOST parameters
};

// bytes: the first n bytes of a connection, from the beginning of a request. max: limit in bytes of all names and values. Reads
// records as in the FastCGI specification 1.0, sections 3.3 and 3.4.
enum params_ahead params_ahead_look(const unsigned char *bytes, size_t n, size_t max);

#endif
