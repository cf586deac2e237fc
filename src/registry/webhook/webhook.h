// SPDX-License-Identifier: Apache-2.0
// Webhooks as their owners manage them: a tenant's, which are told of changes of that tenant and what is in it, or those of operators,
// which are told of all changes.
//
// tenant is everywhere the name of the owner; p NULL: the operators. Each function runs in a transaction that writes, and
// returns OUTCOME_NOT_FOUND or _GONE for a tenant that does not exist or is deleted. A change of a webhook is a change of
// its tenant in the change log, of the field "/webhooks/NAME"; of one of the operators', of the tenant "system".
#ifndef TENURE_REGISTRY_WEBHOOK_WEBHOOK_H
#define TENURE_REGISTRY_WEBHOOK_WEBHOOK_H

#include "registry/core/model.h"

struct doc;

enum {
	WEBHOOK_NAME_MAX = 63,
	WEBHOOK_URL_MAX = 2000,         // bytes
	WEBHOOK_DESCRIPTION_MAX = 1000, // bytes
	WEBHOOK_SECRET = 32,            // bytes of a secret
};

// What the owner says. The texts of filters are those of a JSON object {"verbs": […], "types": […], "actors": […]} in that order, without the
// members that are not asked for: a change is sent if each of them has its verb, its type, its actor.
struct webhook_content {
	struct str url, description, filters;
	bool paused;
};

struct webhook {
	uint64_t id;
	struct uuid uid;
	struct str name, tenant; // tenant p NULL: of all
	struct webhook_content content;
	uint8_t etag[64];
	uint64_t revision;
	int64_t created_us, updated_us;
	int64_t old_secret_until_us; // 0: no secret was replaced
	// How far it is. Times are in microseconds since 1970, 0 for none.
	uint64_t position;           // id of the change up to which nothing is left to be sent
	bool begun;                  // a message behind it is being sent; the next four are about it
	uint64_t attempts;           // that failed
	int64_t next_us;             // when it is tried again
	int64_t failing_since_us;
	uint64_t status;             // of the last answer; 0: there was none
	struct str error;            // why the last attempt failed; "": it did not
	int64_t delivered_us;        // when the last message was received
	int64_t disabled_us;         // since when the service has given it up
	uint64_t dead;               // messages that were given up
};

// Can a webhook have this name? Small letters, digits and "-", which stands neither first nor last.
bool webhook_name_is_valid(struct str name);
// May messages be sent to this URL, as far as its text tells? OUTCOME_OK, or _BAD_DOCUMENT with the reason. What its host resolves to is
// looked at when a message is sent.
enum outcome webhook_check_url(struct registry *registry, struct str url);

// Is filters such an object? OUTCOME_OK, or _BAD_DOCUMENT with the reason.
enum outcome webhook_check_filters(struct registry *registry, const struct doc *filters);

// Reads the webhook. May run in any transaction, or none. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted), or that of a failed statement.
enum outcome webhook_get(struct registry *registry, struct str tenant, struct str name, struct webhook *webhook);
struct webhook_page {
	struct webhook *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more webhooks after the last one here
};
// Reads webhooks in the order of their names, behind marker (p NULL: from the first), at most limit, > 0. OUTCOME_OK, _NOT_FOUND, _GONE (the
// tenant is deleted), or that of a failed statement.
enum outcome webhook_list(struct registry *registry, struct str tenant, struct str marker, uint64_t limit, struct webhook_page *page);

// Makes the webhook or replaces its content. If something changes, or it was disabled, it is enabled, and a message that is being sent is
// tried again soon. OUTCOME_CREATED: secret is its secret, which is never shown again. _OK; _CONFLICT: the tenant has as many
// as it may; _BAD_DOCUMENT; _STALE, _PRECONDITION_REQUIRED.
enum outcome webhook_put(struct registry *registry, struct str tenant, struct str name, const struct webhook_content *content,
	struct guard guard, struct webhook *webhook, uint8_t secret[WEBHOOK_SECRET]);
// Makes a webhook of a tenant that comes from elsewhere by the present transaction, which has made the tenant. It is paused, whatever content says, has a
// secret that nobody was told, and is sent nothing of what the transaction has written so far. The name and the filters are good. OUTCOME_CREATED; _CONFLICT: the
// tenant has as many as it may; _BAD_DOCUMENT: the URL.
enum outcome webhook_bring(struct registry *registry, uint64_t tenant_id, struct str name, const struct webhook_content *content);
// With all its messages. OUTCOME_NO_CONTENT.
enum outcome webhook_delete(struct registry *registry, struct str tenant, struct str name, struct guard guard);
// Replaces the secret; the one that was replaced signs as well for the time that the setting secret_overlap says. OUTCOME_OK.
enum outcome webhook_rotate(struct registry *registry, struct str tenant, struct str name, struct guard guard, struct webhook *webhook,
	uint8_t secret[WEBHOOK_SECRET]);

// ---- messages

struct webhook_message {
	uint64_t id;     // 0: the message of the stream that is being sent
	struct uuid uid; // as receivers see it, behind "msg_"
	struct str kind;  // ping | changes
	struct str state; // queued | delivered | dead; of the stream's: sending | retrying
	uint64_t after, upto; // of "changes": it has those with after < id <= upto that are asked for
	uint64_t attempts;
	int64_t next_us, created_us, ended_us; // 0: not known, or none
	uint64_t status;
	struct str error;
};
struct webhook_message_page {
	struct webhook_message *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more messages, with lower ids than the last one here
};
// Reads messages, the newest first, with ids below marker: pings, and messages that were given up or are sent again; at most limit, > 0. If
// marker is 0, it begins with the newest of them, and before it stands the message that is being sent, beyond the limit. May run in any
// transaction, or none. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted), or that of a failed statement.
enum outcome webhook_messages(struct registry *registry, struct str tenant, struct str name, uint64_t marker, uint64_t limit,
	struct webhook_message_page *page);
// Queues a message without changes, which is sent once; it takes the place of the ping before. OUTCOME_ACCEPTED; *uid is the message's.
enum outcome webhook_ping(struct registry *registry, struct str tenant, struct str name, struct uuid *uid);
// Has messages that were given up sent again: the one, or all if uid is NULL. *n: how many. OUTCOME_ACCEPTED; _NOT_FOUND: there is no such
// message, or it was not given up.
enum outcome webhook_revive(struct registry *registry, struct str tenant, struct str name, const struct uuid *uid, uint64_t *n);

#endif
