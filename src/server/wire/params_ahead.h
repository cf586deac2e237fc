// SPDX-License-Identifier: Apache-2.0
// A look at a request's parameters before libfcgi reads them. The library allocates what each length claims, up to 2 GiB, and
// keeps any number of parameters, each in an allocation of its own; its public interface has no limit for either. So the worker
// peeks at what the socket holds, and gives the connection to the library only if all parameters are there and fit.
#ifndef TENURE_SERVER_WIRE_PARAMS_AHEAD_H
#define TENURE_SERVER_WIRE_PARAMS_AHEAD_H

#include "base/base.h"

enum { PARAMS_MOST = 10000 }; // parameters of a request

enum params_ahead {
	PARAMS_WHOLE,    // all parameters are among the bytes, and fit; or it is no FastCGI, as the library will tell
	PARAMS_PART,     // what is among the bytes fits, and there are more parameters
	PARAMS_TOO_MUCH, // lengths claim more than max bytes, or there are more than PARAMS_MOST of them
};

// bytes: the first n that a connection holds from the beginning of a request on. max: bytes of all names and values. Reads
// records as the FastCGI specification 1.0 has them (sections 3.3, 3.4).
enum params_ahead params_look_ahead(const unsigned char *bytes, size_t n, size_t max);

#endif
