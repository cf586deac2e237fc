// SPDX-License-Identifier: Apache-2.0
// Webhooks as their owners manage them: a tenant's, which are told of changes of that tenant and what is in it, or those of
// operators, which are told of all changes.
//
// Each function that changes something runs in a transaction that writes. Besides the outcomes that are named with it, it returns
// OUTCOME_NOT_FOUND if there is no such tenant or webhook, _GONE if the tenant is deleted, _STALE and _PRECONDITION_REQUIRED by
// the guard, and that of a failed statement. The change log has a change of a webhook as a change of its owner, the tenant, in
// the field "/webhooks/NAME"; that of an operators' webhook as a change of the tenant "system". The tenant's etag and revision
// stay: its document does not have them.
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

// Which webhook.
struct webhook_key {
	struct str tenant; // the owner's name; p NULL: the operators
	struct str name;   // unique among those of the owner
};

// What the owner sets.
struct webhook_content {
	struct str url, description;
	// JSON: an object with some of "verbs", "types" and "actors", in this order, each a list of texts. A change is sent if each list that is
	// there has the change's verb, its type, its actor.
	struct str filters;
	bool paused;
};

struct webhook {
	uint64_t id;
	struct uuid uid;
	struct str name, tenant; // as in struct webhook_key
	struct webhook_content content;
	uint8_t etag[64];
	uint64_t revision;
	int64_t created_us, updated_us;
	int64_t old_secret_until_us; // 0: no secret was replaced
	// How far sending is. Times are in microseconds since 1970, 0 for none.
	uint64_t position;           // id of the change up to which nothing is left to be sent
	bool begun;                  // a message behind it is being sent; the next four are about it
	uint64_t attempts;           // failed ones
	int64_t next_us;             // when the next attempt is due
	int64_t failing_since_us;    // the first failure since a message was received last
	uint64_t status;             // of the last answer; 0: there was none
	struct str error;            // why the last attempt failed; "": it did not
	int64_t delivered_us;        // when the last message was received
	int64_t disabled_us;         // when the service disabled it, since its receiver failed for too long
	uint64_t dead;               // messages that were given up
};

// May a webhook have this name? It has 1 to WEBHOOK_NAME_MAX of a-z, 0-9 and "-", which stands neither first nor last.
bool webhook_name_is_valid(struct str name);
// Checks filters, an object as in struct webhook_content. OUTCOME_OK; _BAD_DOCUMENT with the reason.
enum outcome webhook_check_filters(struct registry *registry, const struct doc *filters);

// Reads the webhook. May run in any transaction, or none. OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted), or that of a
// failed statement.
enum outcome webhook_get(struct registry *registry, struct webhook_key key, struct webhook *webhook);

struct webhook_page {
	struct webhook *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more webhooks after the last one here
};
// Reads the webhooks of one owner (tenant: as in struct webhook_key) in the order of their names: those after marker (p NULL:
// from the first), at most limit, > 0. May run in any transaction, or none. OUTCOME_OK, _NOT_FOUND (no such tenant), _GONE (the
// tenant is deleted), or that of a failed statement.
enum outcome webhook_list(struct registry *registry, struct str tenant, struct str marker, uint64_t limit, struct webhook_page *page);

// Creates the webhook, or replaces the content of the one that is there. If the content changes, or the webhook was disabled, it
// is enabled, and a message whose attempts failed is due at once. The caller has checked the name and the filters. *webhook: as
// it is then. Returns
//   OUTCOME_CREATED  with its secret, which cannot be read later
//   _OK              replaced, or nothing changed; secret is left as it is
//   _CONFLICT        the tenant has as many webhooks as the setting per_tenant allows
//   _BAD_DOCUMENT    the URL
enum outcome webhook_put(struct registry *registry, struct webhook_key key, const struct webhook_content *content, struct guard guard,
	struct webhook *webhook, uint8_t secret[WEBHOOK_SECRET]);
// Creates a webhook of a tenant that the same transaction has created from an export. The webhook is paused, whatever content
// says, has a secret that nobody was told, and does not send the changes that the transaction has written so far. The caller has
// checked the name and the filters. OUTCOME_CREATED; _CONFLICT: the tenant has as many webhooks as the setting per_tenant allows;
// _BAD_DOCUMENT: the URL.
enum outcome webhook_bring(struct registry *registry, uint64_t tenant_id, struct str name, const struct webhook_content *content);
// Deletes the webhook and all its messages. OUTCOME_NO_CONTENT.
enum outcome webhook_delete(struct registry *registry, struct webhook_key key, struct guard guard);
// Gives the webhook a new secret. The old one goes on to sign beside it for the time of the setting secret_overlap. It replaces
// nothing that a client wrote, so it needs no precondition, but heeds one. OUTCOME_OK.
enum outcome webhook_rotate(struct registry *registry, struct webhook_key key, struct guard guard, struct webhook *webhook,
	uint8_t secret[WEBHOOK_SECRET]);

// ---- messages

// Stands for an id above those of all stored messages.
#define WEBHOOK_BEGUN ((uint64_t)INT64_MAX)
struct webhook_message {
	uint64_t id;     // WEBHOOK_BEGUN: the message of the stream that is being sent
	struct uuid uid; // receivers see it after "msg_"
	struct str kind;  // ping | changes
	struct str state; // queued | delivered | dead; of the stream's: sending | retrying
	uint64_t after, upto; // of "changes": it has the changes with after < id <= upto that the filters let pass
	uint64_t attempts;    // so far
	int64_t next_us, created_us, ended_us; // 0: not known, or none
	uint64_t status;      // of the last answer; 0: there was none
	struct str error;     // why the last attempt failed; "": it did not
};
struct webhook_message_page {
	struct webhook_message *list; // allocated from the request's pool
	size_t n;
	bool more; // there are more messages, with lower ids than the last one here
};
// Reads the message that is being sent, if there is one, then pings, and messages that were given up or revived, the newest
// first: those with ids below marker, at most limit, > 0. marker 0: from the first. May run in any transaction, or none.
// OUTCOME_OK, _NOT_FOUND, _GONE (the tenant is deleted), or that of a failed statement.
enum outcome webhook_messages(struct registry *registry, struct webhook_key key, uint64_t marker, uint64_t limit,
	struct webhook_message_page *page);
// Queues a ping, a message without changes that is tried once, in place of any ping before it. *uid: that of the message.
// OUTCOME_ACCEPTED.
enum outcome webhook_ping(struct registry *registry, struct webhook_key key, struct uuid *uid);
// Queues again the message that was given up and has this uid, or all that were given up if uid is NULL. *n: how many.
// OUTCOME_ACCEPTED; _NOT_FOUND also if no message with this uid was given up.
enum outcome webhook_revive(struct registry *registry, struct webhook_key key, const struct uuid *uid, uint64_t *n);

#endif
