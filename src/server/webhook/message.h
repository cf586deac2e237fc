// SPDX-License-Identifier: Apache-2.0
// The body of a message and the header fields that sign it, as Standard Webhooks say (https://www.standardwebhooks.com,
// doc/webhooks.md). A message tells that something changed: when, by whom, what was done to what, which fields, under which etag.
// Never content: neither values, nor labels or annotations.
#ifndef TENURE_SERVER_WEBHOOK_MESSAGE_H
#define TENURE_SERVER_WEBHOOK_MESSAGE_H

#include "registry/webhook/delivery.h"

// A message's bytes, as far as whole changes allow: it has at least one.
enum { MESSAGE_BYTES_MAX = 262144 };

struct message_range {
	uint64_t tenant_id;  // of the webhook; 0: of all
	uint64_t after, upto; // of the change log
	int64_t ping_us;      // the message is a ping, made at that time; 0: it is none
};
// The changes of a message in the order of their ids; of a ping none.
struct message_changes {
	const struct change *list;
	size_t n;
};
// Makes the body, compact JSON, in pool. bytes_max: how many bytes the changes may have; SIZE_MAX: any. *taken: how many of the
// changes it has, from the first on. If those are not all, the caller has to make the body again with the range that they are in.
struct str message_body(struct pool *pool, const struct webhook_target *target, const struct message_range *range,
	struct message_changes changes, size_t bytes_max, size_t *taken);

enum { MESSAGE_HEADERS = 3 };
// The lines webhook-id, webhook-timestamp and webhook-signature, in pool. now_us: of this attempt. False: OpenSSL failed.
bool message_sign(struct pool *pool, const struct webhook_target *target, const struct uuid *message, int64_t now_us, struct str body,
	struct str headers[MESSAGE_HEADERS]);

#endif
