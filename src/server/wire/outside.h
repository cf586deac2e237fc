// SPDX-License-Identifier: Apache-2.0
// Records of a connection on which no request is in progress: management records, by which a web server asks what the application
// can do, and late records of a request that has ended, such as FCGI_ABORT_REQUEST for a client that went away meanwhile (FastCGI
// specification 1.0, sections 3.3 and 4.1). They are taken off the connection before params_ahead.h looks for a request.
#ifndef TENURE_SERVER_WIRE_OUTSIDE_H
#define TENURE_SERVER_WIRE_OUTSIDE_H

#include "base/base.h"

// Do the first n bytes of a connection begin a record that belongs to no request? False if they begin a request, or are not
// FastCGI, which the library finds out when it reads them.
bool outside_begins(const unsigned char *bytes, size_t n);
// Takes the records off that come before the next request, and answers FCGI_GET_VALUES and management records of unknown type.
// Waits for the rest of an incomplete record, for patience_ms altogether at most. False: the connection is to be closed, since a
// record stays incomplete, the peer does not take an answer, or it sends such records without end.
bool outside_pass(int fd, unsigned patience_ms);

#endif
