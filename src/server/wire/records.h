// SPDX-License-Identifier: Apache-2.0
// The body of an answer as FastCGI records, sent without libfcgi, which would copy it and send it in pieces of 8 kB.
#ifndef TENURE_SERVER_WIRE_RECORDS_H
#define TENURE_SERVER_WIRE_RECORDS_H

#include "base/spill.h"
#include "base/str.h"

// An answer's body as FastCGI records: each has a head and up to RECORD_MAX bytes. Positions count heads and contents.
struct records {
	struct str body;
	const struct spill *spill; // if not NULL, the body is in this file; body.n is its length then
	uint16_t request_id;
	size_t at, n; // bytes sent so far; bytes in all
};
// Of a body in memory, or of one in a file (spill not NULL; body.n is its length then, body.p isn't used). Both must live until
// the records are sent.
struct records records_make(uint16_t request_id, struct str body, const struct spill *spill);
// Sends the records. Waits until until_us at most; 0: as long as the web server takes bytes at all. False: not everything could
// be sent; errno is EAGAIN if the web server did not accept it in time.
bool records_send(int fd, struct records *records, int64_t until_us);
// Writes the rest of the records to a file in memory, and returns its descriptor. ends: the end of the answer comes behind them. -1:
// there is no room for it.
int records_rest_file(struct records records, bool ends);

#endif
