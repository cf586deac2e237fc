// SPDX-License-Identifier: Apache-2.0
// What the FastCGI code passes to the pipeline beside a request: its faults, and the count that a watch's connection holds.
#ifndef TENURE_SERVER_WIRE_TRANSPORT_H
#define TENURE_SERVER_WIRE_TRANSPORT_H

#include "base/base.h"

enum { TRANSPORT_BODY_S = 30 }; // seconds that a request's body may take: its worker does nothing else meanwhile

// Why a request was not received completely. The dialect that the path belongs to words the answer.
enum transport_fault {
	TRANSPORT_OK,
	TRANSPORT_BODY_TOO_LARGE,
	TRANSPORT_BODY_CUT,      // fewer bytes than Content-Length said, or the connection broke
	TRANSPORT_BODY_LATE,     // it took longer than TRANSPORT_BODY_S
	TRANSPORT_HEADERS_TOO_LARGE,
	TRANSPORT_NO_TARGET,     // REQUEST_URI is missing: the web server is not configured as httpd-conf/ shows
};

// Identifies a counted watch in all processes of the host; index 0: it is not counted.
struct limits_watch {
	uint32_t index, check;
};

#endif
