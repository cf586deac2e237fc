// SPDX-License-Identifier: Apache-2.0
// The access log. Each request gives one line in Apache's combined format, which log tools read, with more fields at the end:
//   ADDR - USER [time] "METHOD TARGET PROTOCOL" STATUS BYTES "REFERER" "USER-AGENT" REQUEST-ID MICROSECONDS ENDPOINT
//   OUTCOME TRIES "TENANT"
#ifndef TENURE_SERVER_REQUEST_ACCESS_H
#define TENURE_SERVER_REQUEST_ACCESS_H

#include "api/call.h"

// What clients send is escaped (in fields without quotes blanks, too), so no value can forge a field or a line.
// tries: how many times the handler ran. us: microseconds that the request took a worker.
void access_line(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries, int64_t us);
// The same as an object of JSON: time (RFC 3339, UTC), address, user, method, target, protocol, status, bytes, referer,
// user_agent, request_id, microseconds, endpoint, outcome, tries, tenant. What there is none of is null. Control characters stand
// as \u0000; bytes that are not UTF-8 are escaped as in the other format.
void access_line_json(struct buf *line, const struct call *call, enum outcome outcome, unsigned tries, int64_t us);

#endif
