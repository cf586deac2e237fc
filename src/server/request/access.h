// SPDX-License-Identifier: Apache-2.0
// One line per request, in Apache's combined format with more fields behind, so that log tools read it:
//   ADDR - USER [time] "METHOD TARGET PROTOCOL" STATUS BYTES "REFERER" "USER-AGENT" REQUEST-ID MICROSECONDS ENDPOINT
//   OUTCOME TRIES "TENANT"
#ifndef TENURE_SERVER_REQUEST_ACCESS_H
#define TENURE_SERVER_REQUEST_ACCESS_H

#include "api/call.h"

// What clients send is escaped, in fields without quotes blanks too: no value can forge a field or a line.
// tries: times the handler ran.
void access_line(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries);

#endif
