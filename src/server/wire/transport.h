// SPDX-License-Identifier: Apache-2.0
// What the transport hands on beside a request: what is wrong with it, and the share of a watch that a connection holds.
#ifndef TENURE_SERVER_WIRE_TRANSPORT_H
#define TENURE_SERVER_WIRE_TRANSPORT_H

#include "base/base.h"

// Why the transport could not hand over a whole request; told in the words of the dialect its path belongs to.
enum transport_fault {
	TRANSPORT_OK,
	TRANSPORT_BODY_TOO_LARGE,
	TRANSPORT_BODY_CUT,      // fewer bytes than Content-Length, or the connection broke
	TRANSPORT_HEADERS_TOO_LARGE,
	TRANSPORT_NO_TARGET,     // REQUEST_URI missing: a web server not set up as httpd-conf/ shows
};

// Names a watch among processes; index 0: it is not counted.
struct limits_watch {
	uint32_t index, check;
};

#endif
