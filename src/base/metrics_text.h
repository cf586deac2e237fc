// SPDX-License-Identifier: Apache-2.0
// The counters of base/metrics.h, for readers: summed up, and as text in Prometheus' exposition format, version 0.0.4.
#ifndef TENURE_BASE_METRICS_TEXT_H
#define TENURE_BASE_METRICS_TEXT_H

#include "base/metrics.h"

struct buf;

// The media type of metrics_text().
#define METRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

// All processes of the host together. While they count, the figures may differ by what is being counted.
struct metrics_summary {
	uint64_t requests, by_class[METRICS_CLASSES];
	uint64_t buckets[METRICS_BUCKETS], sum_us; // of all requests
	uint64_t by_outcome[METRICS_OUTCOMES];
	uint64_t counters[METRICS__COUNTERS];
	int64_t gauges[METRICS__GAUGES];
	int64_t gauges_at_us; // 0: there is no host service, or it has not looked yet
	uint64_t workers_busy, workers_idle, watches; // now
};
void metrics_summarize(const struct shared *shared, struct metrics_summary *summary);
// Appends the text. version: of the program. shared NULL: nothing is counted, and the text says no more than the version.
void metrics_text(struct buf *out, const struct shared *shared, const char *version);

#endif
