// SPDX-License-Identifier: Apache-2.0
// The body of an answer as FastCGI records, sent without libfcgi, which would copy it and send it in pieces of 8 kB.
#ifndef TENURE_SERVER_WIRE_RECORDS_H
#define TENURE_SERVER_WIRE_RECORDS_H

#include "base/spill.h"
#include "base/str.h"

// An answer's body as FastCGI records: each has a head and up to RECORD_MAX bytes. Positions count heads and contents.
struct records {
	const struct spill *spill; // the beginning of the body; NULL if all of it is in memory
	struct str body;           // what follows
	size_t spilled;            // bytes in the spill
	uint16_t request_id;
	size_t at, n; // bytes sent so far; bytes in all
};
// Of a body whose beginning is in a file (NULL or empty: none of it) and whose rest is in memory, as in struct response. Both
// must live, and stay as they are, until the records are sent.
struct records records_make(uint16_t request_id, const struct spill *spill, struct str body);
// Sends the records. Waits until until_us at most; 0: as long as the web server takes bytes at all. False: not everything could
// be sent; errno is EAGAIN if the web server did not accept it in time.
bool records_send(int fd, struct records *records, int64_t until_us);
// Writes the rest of the records to a file in memory, and returns its descriptor. ends: the end of the answer comes behind them.
// -1: there is no room for it.
int records_rest_file(struct records records, bool ends);

#endif
