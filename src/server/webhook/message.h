// SPDX-License-Identifier: Apache-2.0
// The body of a message and the header fields that sign it, as Standard Webhooks say (https://www.standardwebhooks.com, doc/webhooks.md).
// A message tells that something changed: when, by whom, what was done to what, which fields, under which etag. Never content: neither
// values, nor labels or annotations.
#ifndef TENURE_SERVER_WEBHOOK_MESSAGE_H
#define TENURE_SERVER_WEBHOOK_MESSAGE_H

#include "registry/webhook/delivery.h"

// A message's bytes, as far as whole changes allow: it has at least one.
enum { MESSAGE_BYTES_MAX = 262144 };

struct message_range {
	uint64_t tenant_id;  // of the webhook; 0: of all
	uint64_t after, upto;
	bool is_ping;
};
// Makes the body, compact JSON, in pool. bytes_max: how many bytes the changes may have; SIZE_MAX: any. *taken: how many of the n changes it
// has. Where that is fewer, the caller makes the body again with another range.
struct str message_body(struct pool *pool, const struct webhook_target *target, const struct message_range *range, int64_t now_us,
	const struct change *changes, size_t n, size_t bytes_max, size_t *taken);

enum { MESSAGE_HEADERS = 3 };
// The lines webhook-id, webhook-timestamp and webhook-signature, in pool. now_us: of this attempt. False: OpenSSL failed.
bool message_sign(struct pool *pool, const struct webhook_target *target, const struct uuid *message, int64_t now_us, struct str body,
	struct str headers[MESSAGE_HEADERS]);

#endif
