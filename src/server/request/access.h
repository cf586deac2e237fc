// SPDX-License-Identifier: Apache-2.0
// The access log. Each request gives one line in Apache's combined format, which log tools read, with more fields at the end:
//   ADDR - USER [time] "METHOD TARGET PROTOCOL" STATUS BYTES "REFERER" "USER-AGENT" REQUEST-ID MICROSECONDS ENDPOINT
//   OUTCOME TRIES "TENANT"
#ifndef TENURE_SERVER_REQUEST_ACCESS_H
#define TENURE_SERVER_REQUEST_ACCESS_H

#include "api/call.h"

// What clients send is escaped (in fields without quotes blanks, too), so no value can forge a field or a line.
// tries: how many times the handler ran.
void access_line(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries);

#endif
