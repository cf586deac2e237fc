// SPDX-License-Identifier: Apache-2.0
// Webhooks as their owners manage them. Each write locks the owner's row first, as every writer does, and the row of the lease
// before those of webhooks, as the process that sends does (delivery.c).
#include "base/base.h"

#include "base/ascii.h"
#include "registry/webhook/webhook.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/tags/keys.h"
#include "registry/tenant/internal.h"
#include "registry/webhook/settings.h"
#include "repr/json/doc.h"
#include "sql/webhooks.h"

enum { ALL_TENANTS = 0 }; // webhooks.tenant_id of operators' webhooks
// Names in one filter, and bytes of each.
enum { FILTER_MAX = 100, FILTER_TEXT_MAX = 4 * REGISTRY_MAX_ID };

bool webhook_name_is_valid(struct str name)
{
	if (name.n == 0 || name.n > WEBHOOK_NAME_MAX || name.p[0] == '-' || name.p[name.n - 1] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_lower_alnum(c) && c != '-')
			return false;
	}
	return true;
}

// ---- the URL

// Has the text of a URL only characters that RFC 3986 lets stand there?
static bool is_url_text(struct str url)
{
	for (size_t i = 0; i < url.n; i++) {
		if (url.p[i] <= ' ' || url.p[i] > '~' || strchr("\"<>\\^`{|}#", url.p[i]) != NULL)
			return false;
	}
	return true;
}

// The host and port of a URL without scheme: what stands before the path and the query.
static struct str authority_of(struct str rest)
{
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] == '/' || rest.p[i] == '?')
			return str_part(rest, 0, i);
	}
	return rest;
}

// Is the port behind the host, if there is one, a number from 1 to 65535? *host is what stands before it.
static bool split_port(struct str authority, struct str *host)
{
	size_t end = authority.n > 0 && authority.p[0] == '[' ? str_find(authority, ']', 0) : 0;
	size_t colon = str_find(authority, ':', end);
	uint64_t port = 1;

	*host = str_part(authority, 0, colon);
	return colon >= authority.n || (str_to_u64(str_part(authority, colon + 1, authority.n), &port) && port > 0 && port <= 65535);
}

// Checks the text of a URL. The addresses that its host has are checked each time a message is sent. OUTCOME_OK; _BAD_DOCUMENT
// with the reason.
static enum outcome check_url(struct registry *registry, struct str url)
{
	bool http = strcmp(webhook_settings(registry->config)->allow_http, "yes") == 0;
	struct str secure = STR("https://"), plain = STR("http://"), host;

	if (url.n == 0 || url.n > WEBHOOK_URL_MAX || !is_url_text(url))
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"url must be a URL of up to %d characters of ASCII, without a fragment (\"#…\")", WEBHOOK_URL_MAX);
	if (!str_starts(url, secure) && !(http && str_starts(url, plain)))
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "url must begin with \"https://\"%s", http ? " or \"http://\"" : "");
	struct str authority = authority_of(str_part(url, str_starts(url, secure) ? secure.n : plain.n, url.n));
	if (str_find(authority, '@', 0) < authority.n)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"url must not have a user or a password: receivers know messages by their signature");
	if (!split_port(authority, &host) || host.n == 0)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "url must name a host, and a port from 1 to 65535 if it names one");
	return OUTCOME_OK;
}

// ---- filters

static enum outcome check_filter_text(struct registry *registry, struct str member, struct str text)
{
	static const char *const verbs[] = { "created", "updated", "deleted", "recovered", "moved", "purged" };
	bool is_allowed = !str_eq(member, STR("verbs"));

	for (size_t i = 0; i < COUNT_OF(verbs) && !is_allowed; i++)
		is_allowed = str_eq_c(text, verbs[i]);
	if (!is_allowed)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"verbs may name created, updated, deleted, recovered, moved and purged; \"%.*s\" is none of them",
			(int)(text.n < 80 ? text.n : 80), text.p);
	if (text.n == 0 || text.n > FILTER_TEXT_MAX)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "each of %.*s must have 1 to %d bytes", STR_ARG(member), FILTER_TEXT_MAX);
	return OUTCOME_OK;
}

// A list of no names would let nothing pass, so it must not be given.
static enum outcome check_filter(struct registry *registry, struct str member, const struct doc *list)
{
	if (doc_kind(list) != DOC_ARRAY || doc_length(list) == 0 || doc_length(list) > FILTER_MAX)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "%.*s must have 1 to %d members; leave it out to be told of all",
			STR_ARG(member), FILTER_MAX);
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct doc *text = doc_at(list, i);
		enum outcome outcome = check_filter_text(registry, member, doc_kind(text) == DOC_STRING ? doc_string(text) : STR(""));
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	return OUTCOME_OK;
}

enum outcome webhook_check_filters(struct registry *registry, const struct doc *filters)
{
	enum outcome outcome = OUTCOME_OK;

	for (struct doc_iter it = doc_iter(filters); outcome == OUTCOME_OK && doc_next(&it);) {
		if (!str_eq(it.name, STR("verbs")) && !str_eq(it.name, STR("types")) && !str_eq(it.name, STR("actors")))
			return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "filters may be verbs, types and actors");
		outcome = check_filter(registry, it.name, it.value);
	}
	return outcome;
}

// ---- rows

static struct webhook webhook_of_columns(const struct sql_webhook *row, struct str tenant)
{
	struct webhook webhook = {
		.id = row->id,
		.name = row->name,
		.tenant = tenant,
		.content = { .url = row->url, .description = row->description, .filters = row->filters, .paused = row->paused != 0 },
		.revision = row->revision,
		.created_us = row->created_at,
		.updated_us = row->updated_at,
		.old_secret_until_us = row->old_secret_until_is_null ? 0 : row->old_secret_until,
		.position = row->position,
		.begun = !row->begun_upto_is_null,
		.attempts = row->attempts,
		.next_us = row->next_at_is_null ? 0 : row->next_at,
		.failing_since_us = row->failing_since_is_null ? 0 : row->failing_since,
		.status = row->status,
		.error = row->error,
		.delivered_us = row->delivered_at_is_null ? 0 : row->delivered_at,
		.disabled_us = row->disabled_at_is_null ? 0 : row->disabled_at,
		.dead = row->dead,
	};

	uuid_from_bytes(row->uid, &webhook.uid);
	assert(row->etag.n == sizeof(webhook.etag));
	memcpy(webhook.etag, row->etag.p, sizeof(webhook.etag));
	return webhook;
}

static struct str etag_value(const struct webhook *webhook)
{
	return str_n((const char *)webhook->etag, sizeof(webhook->etag));
}

// An HMAC as that of resources is. The uid has a fixed size and the revision names one content, so no two contents have one text.
static void set_etag(struct registry *registry, struct webhook *webhook)
{
	struct buf head = buf_new(registry->pool, 64);

	BUF_LIT(&head, "webhook:");
	uuid_add(&head, webhook->uid);
	buf_addc(&head, ':');
	buf_add_u64(&head, webhook->revision);
	const struct str parts[] = { buf_str(&head) };
	digest_hmac_sha512(etag_key_newest(registry), parts, COUNT_OF(parts), webhook->etag);
}

static enum outcome fail_not_found(struct registry *registry, struct str name)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no webhook \"%.*s\"", STR_ARG(name));
}

// ---- reading

// The id by which rows name the owner. OUTCOME_OK, _NOT_FOUND, _GONE.
static enum outcome owner_id(struct registry *registry, struct str name, uint64_t *id)
{
	struct tenant tenant;
	enum outcome outcome = OUTCOME_OK;

	*id = ALL_TENANTS;
	if (name.p == NULL)
		return OUTCOME_OK;
	outcome = tenant_get(registry, name, &tenant);
	if (outcome == OUTCOME_OK)
		*id = tenant.id;
	return outcome;
}

static enum outcome read_one(struct registry *registry, uint64_t owner, struct webhook_key key, struct webhook *webhook)
{
	const struct sql_webhook_get in = { .tenant_id = owner, .name = key.name };
	struct db_rows rows;
	enum db_result result = sql_webhook_get_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_not_found(registry, key.name);
	*webhook = webhook_of_columns(&sql_webhook_get_row(&rows, 0)->w, key.tenant);
	return OUTCOME_OK;
}

enum outcome webhook_get(struct registry *registry, struct webhook_key key, struct webhook *webhook)
{
	uint64_t owner;
	enum outcome outcome = owner_id(registry, key.tenant, &owner);

	return outcome == OUTCOME_OK ? read_one(registry, owner, key, webhook) : outcome;
}

enum outcome webhook_list(struct registry *registry, struct str tenant, struct str marker, uint64_t limit, struct webhook_page *page)
{
	struct sql_webhook_list in = { .marker = marker.p != NULL ? marker : STR(""), .limit = limit + 1 };
	struct db_rows rows;

	assert(limit > 0);
	enum outcome outcome = owner_id(registry, tenant, &in.tenant_id);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = sql_webhook_list_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->more = rows.n > limit;
	page->n = page->more ? (size_t)limit : rows.n;
	page->list = POOL_ARRAY(registry->pool, struct webhook, page->n);
	for (size_t i = 0; i < page->n; i++)
		page->list[i] = webhook_of_columns(&sql_webhook_list_row(&rows, i)->w, tenant);
	return OUTCOME_OK;
}

// ---- writing

// Locks the owner's row: the tenant's, or for operators' webhooks that of the tenant "system". *id: by which rows name the owner.
static enum outcome lock_owner(struct registry *registry, struct str name, struct tenant *tenant, uint64_t *id)
{
	enum outcome outcome = tenant_lock(registry, name.p != NULL ? name : STR(TENANT_SYSTEM), tenant);

	if (outcome == OUTCOME_OK && tenant->deleted_us != 0)
		outcome = tenant_answer_deleted(registry, tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	*id = name.p != NULL ? tenant->id : ALL_TENANTS;
	return OUTCOME_OK;
}

// Tells the process that sends that a webhook changes, which locks the row of the lease.
static enum outcome announce(struct registry *registry)
{
	enum db_result result = sql_webhook_edited_run(registry->db, registry->pool, NULL);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum outcome note(struct registry *registry, struct tenant *owner, struct str name)
{
	return tenant_log_beside(registry, owner, str_printf(registry->pool, "/webhooks/%.*s", STR_ARG(name)));
}

static enum outcome check_guard(struct registry *registry, const struct tenant *owner, struct guard guard, const uint8_t *etag)
{
	enum outcome outcome = etag != NULL ? guard_check_required(registry, guard, owner->etag_required) : OUTCOME_OK;

	return outcome == OUTCOME_OK ? guard_check(guard, etag) : outcome;
}

// Has the owner as many as it may? Operators are not limited.
static enum outcome check_count(struct registry *registry, uint64_t owner)
{
	const struct sql_webhook_count in = { .tenant_id = owner };
	unsigned most = webhook_settings(registry->config)->per_tenant;
	struct db_rows rows;

	if (owner == ALL_TENANTS)
		return OUTCOME_OK;
	enum db_result result = sql_webhook_count_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (sql_webhook_count_row(&rows, 0)->n < most)
		return OUTCOME_OK;
	if (most == 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "tenants may have no webhooks of their own here: ask an operator");
	return registry_fail(registry, OUTCOME_CONFLICT, "a tenant may have %u webhook%s, and this one has as many: delete one first", most,
		most == 1 ? "" : "s");
}

static enum outcome insert(struct registry *registry, uint64_t owner, const struct webhook_content *content, struct webhook *webhook,
	uint8_t secret[WEBHOOK_SECRET])
{
	struct db_rows rows;

	webhook->uid = uuid_new();
	webhook->content = *content;
	webhook->revision = 1;
	webhook->created_us = webhook->updated_us = registry->stamp_us;
	set_etag(registry, webhook);
	digest_random(secret, WEBHOOK_SECRET);
	const struct sql_webhook_insert in = {
		.tenant_id = owner,
		.name = webhook->name,
		.uid = uuid_bytes(&webhook->uid),
		.url = content->url,
		.description = content->description,
		.filters = content->filters,
		.paused = content->paused,
		.secret = str_n((const char *)secret, WEBHOOK_SECRET),
		.etag = etag_value(webhook),
		.now = registry->stamp_us,
	};
	enum db_result result = sql_webhook_insert_run(registry->db, registry->pool, &in, &rows);
	webhook->id = rows.insert_id;
	if (result == DB_OK)
		result = sql_webhook_insert_cursor_run(registry->db, registry->pool,
			&(struct sql_webhook_insert_cursor){ .webhook_id = webhook->id }, NULL);
	return result == DB_OK ? OUTCOME_CREATED : registry_db_failed(result);
}

static enum outcome create(struct registry *registry, uint64_t owner, const struct webhook_content *content, struct webhook *webhook,
	uint8_t secret[WEBHOOK_SECRET])
{
	enum outcome outcome = check_count(registry, owner);

	if (outcome == OUTCOME_OK)
		outcome = announce(registry);
	return outcome == OUTCOME_OK ? insert(registry, owner, content, webhook, secret) : outcome;
}

// Does not tell the process that sends, since a paused webhook sends nothing, and webhook_put(), which ends the pause, tells it.
// So a long transaction does not lock the row of the lease.
enum outcome webhook_bring(struct registry *registry, uint64_t tenant_id, struct str name, const struct webhook_content *content)
{
	const struct webhook_content paused = { .url = content->url, .description = content->description, .filters = content->filters, .paused = true };
	struct webhook webhook = { .name = name };
	uint8_t secret[WEBHOOK_SECRET];

	assert(db_txn_writes(registry->db) && tenant_id != 0 && webhook_name_is_valid(name));
	enum outcome outcome = check_url(registry, content->url);
	if (outcome == OUTCOME_OK)
		outcome = check_count(registry, tenant_id);
	if (outcome == OUTCOME_OK)
		outcome = insert(registry, tenant_id, &paused, &webhook, secret);
	if (outcome != OUTCOME_CREATED)
		return outcome;
	const struct sql_webhook_pass_over in = { .webhook_id = webhook.id, .tenant_id = tenant_id };
	enum db_result result = sql_webhook_pass_over_run(registry->db, registry->pool, &in, NULL);
	return result == DB_OK ? OUTCOME_CREATED : registry_db_failed(result);
}

static bool same_content(const struct webhook_content *a, const struct webhook_content *b)
{
	return str_eq(a->url, b->url) && str_eq(a->description, b->description) && str_eq(a->filters, b->filters) && a->paused == b->paused;
}

// Gives the webhook this content and, if it was disabled, enables it. *changed: something was written.
static enum outcome replace(struct registry *registry, const struct webhook_content *content, struct webhook *webhook, bool *changed)
{
	*changed = !same_content(content, &webhook->content) || webhook->disabled_us != 0;
	enum outcome outcome = *changed ? announce(registry) : OUTCOME_OK;

	if (outcome != OUTCOME_OK || !*changed)
		return outcome;
	webhook->content = *content;
	webhook->revision++;
	webhook->updated_us = registry->stamp_us;
	webhook->disabled_us = webhook->failing_since_us = webhook->next_us = 0;
	webhook->attempts = 0;
	set_etag(registry, webhook);
	const struct sql_webhook_update in = {
		.id = webhook->id,
		.url = content->url,
		.description = content->description,
		.filters = content->filters,
		.paused = content->paused,
		.etag = etag_value(webhook),
		.revision = webhook->revision,
		.now = registry->stamp_us,
	};
	struct db_call calls[] = {
		sql_webhook_update_call(registry->pool, &in),
		sql_webhook_enable_call(registry->pool, &(struct sql_webhook_enable){ .webhook_id = webhook->id }),
		sql_webhook_enable_messages_call(registry->pool, &(struct sql_webhook_enable_messages){ .webhook_id = webhook->id }),
	};
	return registry_run_calls(registry, calls, COUNT_OF(calls));
}

enum outcome webhook_put(struct registry *registry, struct webhook_key key, const struct webhook_content *content, struct guard guard,
	struct webhook *webhook, uint8_t secret[WEBHOOK_SECRET])
{
	struct tenant owner;
	uint64_t id;
	bool changed = true;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = check_url(registry, content->url), found;
	if (outcome == OUTCOME_OK)
		outcome = lock_owner(registry, key.tenant, &owner, &id);
	if (outcome != OUTCOME_OK)
		return outcome;
	found = read_one(registry, id, key, webhook);
	if (found != OUTCOME_OK && found != OUTCOME_NOT_FOUND)
		return found;
	outcome = check_guard(registry, &owner, guard, found == OUTCOME_OK ? webhook->etag : NULL);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (found == OUTCOME_NOT_FOUND) {
		*webhook = (struct webhook){ .name = key.name, .tenant = key.tenant };
		outcome = create(registry, id, content, webhook, secret);
	} else {
		outcome = replace(registry, content, webhook, &changed);
	}
	if (!changed || (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED))
		return outcome;
	enum outcome noted = note(registry, &owner, key.name);
	return noted == OUTCOME_OK ? outcome : noted;
}

// Locks the owner, reads the webhook, checks the guard, and tells the process that sends.
static enum outcome begin_change(struct registry *registry, struct webhook_key key, struct guard guard, struct tenant *owner,
	struct webhook *webhook)
{
	uint64_t id;
	enum outcome outcome = lock_owner(registry, key.tenant, owner, &id);

	if (outcome == OUTCOME_OK)
		outcome = read_one(registry, id, key, webhook);
	if (outcome == OUTCOME_OK)
		outcome = check_guard(registry, owner, guard, webhook->etag);
	return outcome == OUTCOME_OK ? announce(registry) : outcome;
}

enum outcome webhook_delete(struct registry *registry, struct webhook_key key, struct guard guard)
{
	struct tenant owner;
	struct webhook webhook;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = begin_change(registry, key, guard, &owner, &webhook);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_webhook_delete in = { .id = webhook.id };
	enum db_result result = sql_webhook_delete_run(registry->db, registry->pool, SQL_WEBHOOK_WHICH_ONE, &in, NULL);
	if (result != DB_OK)
		return registry_db_failed(result);
	outcome = note(registry, &owner, key.name);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

enum outcome webhook_rotate(struct registry *registry, struct webhook_key key, struct guard guard, struct webhook *webhook,
	uint8_t secret[WEBHOOK_SECRET])
{
	struct tenant owner;

	assert(db_txn_writes(registry->db));
	guard.prevents_lost_update = true; // nothing that a client wrote is replaced
	enum outcome outcome = begin_change(registry, key, guard, &owner, webhook);
	if (outcome != OUTCOME_OK)
		return outcome;
	webhook->revision++;
	webhook->updated_us = registry->stamp_us;
	webhook->old_secret_until_us = registry->stamp_us + (int64_t)webhook_settings(registry->config)->secret_overlap * 1000000;
	set_etag(registry, webhook);
	digest_random(secret, WEBHOOK_SECRET);
	const struct sql_webhook_rotate in = {
		.id = webhook->id,
		.secret = str_n((const char *)secret, WEBHOOK_SECRET),
		.until = webhook->old_secret_until_us,
		.etag = etag_value(webhook),
		.revision = webhook->revision,
		.now = registry->stamp_us,
	};
	enum db_result result = sql_webhook_rotate_run(registry->db, registry->pool, &in, NULL);
	return result == DB_OK ? note(registry, &owner, webhook->name) : registry_db_failed(result);
}

// ---- messages

static struct webhook_message begun_message(const struct sql_webhook_begun_row *row)
{
	struct webhook_message message = {
		.id = WEBHOOK_BEGUN,
		.kind = STR("changes"),
		.state = row->attempts > 0 ? STR("retrying") : STR("sending"),
		.after = row->position,
		.upto = row->upto_is_null ? 0 : row->upto,
		.attempts = row->attempts,
		.next_us = row->next_at_is_null ? 0 : row->next_at,
		.status = row->status,
		.error = row->error,
	};

	if (row->uid.p != NULL)
		uuid_from_bytes(row->uid, &message.uid);
	return message;
}

static struct webhook_message message_of_row(const struct sql_webhook_message_list_row *row)
{
	struct webhook_message message = {
		.id = row->id,
		.kind = row->kind,
		.state = row->state,
		.after = row->position,
		.upto = row->upto,
		.attempts = row->attempts,
		.next_us = row->next_at_is_null ? 0 : row->next_at,
		.created_us = row->created_at,
		.ended_us = row->ended_at_is_null ? 0 : row->ended_at,
		.status = row->status,
		.error = row->error,
	};

	uuid_from_bytes(row->uid, &message.uid);
	return message;
}

enum outcome webhook_messages(struct registry *registry, struct webhook_key key, uint64_t marker, uint64_t limit,
	struct webhook_message_page *page)
{
	struct webhook webhook;

	assert(limit > 0);
	enum outcome outcome = webhook_get(registry, key, &webhook);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_webhook_message_list in = {
		.webhook_id = webhook.id, .before = marker != 0 ? marker : WEBHOOK_BEGUN, .limit = limit + 1
	};
	struct db_call calls[] = {
		sql_webhook_message_list_call(registry->pool, &in),
		sql_webhook_begun_call(registry->pool, &(struct sql_webhook_begun){ .webhook_id = webhook.id }),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, marker == 0 ? 2 : 1);
	if (result != DB_OK)
		return registry_db_failed(result);
	page->list = POOL_ARRAY(registry->pool, struct webhook_message, calls[0].rows.n + 1);
	page->n = 0;
	if (marker == 0 && calls[1].rows.n > 0)
		page->list[page->n++] = begun_message(sql_webhook_begun_row(&calls[1].rows, 0));
	page->more = page->n + calls[0].rows.n > limit;
	for (size_t i = 0; i < calls[0].rows.n && page->n < limit; i++)
		page->list[page->n++] = message_of_row(sql_webhook_message_list_row(&calls[0].rows, i));
	return OUTCOME_OK;
}

// A second run of the transaction finds the first one's ping and replaces it, so it needs no row in the change log.
enum outcome webhook_ping(struct registry *registry, struct webhook_key key, struct uuid *uid)
{
	struct tenant owner;
	struct webhook webhook;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = begin_change(registry, key, (struct guard){ .prevents_lost_update = true }, &owner, &webhook);
	if (outcome != OUTCOME_OK)
		return outcome;
	*uid = uuid_new();
	const struct sql_webhook_ping in = { .webhook_id = webhook.id, .uid = uuid_bytes(uid), .now = registry->stamp_us };
	struct db_call calls[] = {
		sql_webhook_drop_pings_call(registry->pool, &(struct sql_webhook_drop_pings){ .webhook_id = webhook.id }),
		sql_webhook_ping_call(registry->pool, &in),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK ? OUTCOME_ACCEPTED : registry_db_failed(result);
}

// A second run of the transaction finds the messages queued, and counts them again.
enum outcome webhook_revive(struct registry *registry, struct webhook_key key, const struct uuid *uid, uint64_t *n)
{
	struct tenant owner;
	struct webhook webhook;
	struct db_rows rows;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = begin_change(registry, key, (struct guard){ .prevents_lost_update = true }, &owner, &webhook);
	*n = 0;
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_webhook_revive in = { .webhook_id = webhook.id, .uid = uid != NULL ? uuid_bytes(uid) : STR("") };
	enum db_result result = sql_webhook_revive_run(registry->db, registry->pool,
		uid != NULL ? SQL_WEBHOOK_REVIVED_ONE : SQL_WEBHOOK_REVIVED_ALL, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.affected;
	if (uid != NULL && *n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "no message with this id was given up");
	return OUTCOME_ACCEPTED;
}
