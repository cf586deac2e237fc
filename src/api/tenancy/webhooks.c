// SPDX-License-Identifier: Apache-2.0
// Webhooks of a tenant and, at "all", of operators: doc/webhooks.md.
#include "base/base.h"

#include "api/conditions.h"
#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/core/failure.h"
#include "registry/webhook/webhook.h"

// ---- documents

static struct str state_of(const struct webhook *webhook)
{
	if (webhook->content.paused)
		return STR("paused");
	if (webhook->disabled_us != 0)
		return STR("disabled");
	return webhook->failing_since_us != 0 ? STR("failing") : STR("active");
}

static void set_time(struct call *call, struct doc *doc, const char *name, int64_t us)
{
	if (us != 0)
		doc_set_str(call->pool, doc, name, document_time_text(call->pool, us));
}

static void set_progress(struct call *call, struct doc *doc, const struct webhook *webhook)
{
	struct pool *pool = call->pool;

	doc_set_str(pool, doc, "state", state_of(webhook));
	doc_set_u64(pool, doc, "upto", webhook->position);
	set_time(call, doc, "delivered_at", webhook->delivered_us);
	set_time(call, doc, "failing_since", webhook->failing_since_us);
	if (webhook->begun && webhook->attempts > 0) {
		doc_set_u64(pool, doc, "attempts", webhook->attempts);
		set_time(call, doc, "next_attempt_at", webhook->next_us);
	}
	set_time(call, doc, "disabled_at", webhook->disabled_us);
	if (webhook->status != 0)
		doc_set_u64(pool, doc, "status", webhook->status);
	if (webhook->error.n > 0)
		doc_set_str(pool, doc, "error", webhook->error);
	doc_set_u64(pool, doc, "dead", webhook->dead);
}

// secret: to be shown; NULL: it is not.
static struct doc *webhook_doc(struct call *call, const struct webhook *webhook, const uint8_t *secret)
{
	struct pool *pool = call->pool;
	const struct stored_place place = { .table = "webhooks", .column = "filters", .id = webhook->id };
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "name", webhook->name);
	doc_set_str(pool, doc, "url", webhook->content.url);
	if (webhook->content.description.n > 0)
		doc_set_str(pool, doc, "description", webhook->content.description);
	doc_set(doc, STR("paused"), doc_new_bool(pool, webhook->content.paused));
	struct doc *filters = stored_document(pool, place, webhook->content.filters);
	for (struct doc_iter it = doc_iter(filters); doc_next(&it);)
		doc_set(doc, it.name, doc_own_member(filters, it.name));
	doc_set_str(pool, doc, "tenant", webhook->tenant.p != NULL ? webhook->tenant : STR(REALM_WORD_ALL));
	if (secret != NULL) {
		struct buf text = buf_new(pool, 64);
		BUF_LIT(&text, "whsec_");
		buf_add_base64(&text, secret, WEBHOOK_SECRET);
		doc_set_str(pool, doc, "secret", buf_str(&text));
	}
	set_time(call, doc, "old_secret_until", webhook->old_secret_until_us > call->registry->now_us ? webhook->old_secret_until_us : 0);
	set_progress(call, doc, webhook);
	set_time(call, doc, "created_at", webhook->created_us);
	set_time(call, doc, "updated_at", webhook->updated_us);
	doc_set_u64(pool, doc, "revision", webhook->revision);
	doc_set_str(pool, doc, "etag", conditions_etag_text(pool, webhook->etag));
	return doc;
}

static void write_webhook(struct call *call, const struct webhook *webhook, const uint8_t *secret)
{
	conditions_set_etag(call, webhook->etag);
	if (secret != NULL)
		response_set(&call->response, "Cache-Control", STR("no-store"));
	call_write(call, &webhook_document, webhook_doc(call, webhook, secret));
}

// The path of the owner's webhooks, of one, or of what is below that.
static struct str webhooks_path(struct call *call, const char *below)
{
	struct str tenant = call_param(call, "tenant");
	struct buf path = buf_new(call->pool, 128);

	buf_add(&path, tenant_path(call, tenant.p != NULL ? tenant : STR(REALM_WORD_ALL)));
	BUF_LIT(&path, "/webhooks");
	buf_addf(&path, "%s", below);
	return buf_str(&path);
}

// ---- what a client sends

static enum outcome read_content(struct call *call, struct str name, struct webhook_content *content)
{
	static const char *const members[] = { "verbs", "types", "actors" };
	struct doc *body, *filters = doc_new_object(call->pool);
	const struct doc *member;
	enum outcome outcome = call_read(call, &webhook_document, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (body == NULL || !doc_get(body, STR("url"), &member))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "url is missing: where messages are to be sent, as https://example.com/tenure");
	content->url = doc_string(member);
	if (doc_get(body, STR("name"), &member) && !str_eq(doc_string(member), name))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "name contradicts the address, which says \"%.*s\": leave it out", STR_ARG(name));
	content->description = doc_get(body, STR("description"), &member) ? doc_string(member) : STR("");
	if (content->description.n > WEBHOOK_DESCRIPTION_MAX)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "description may have %d bytes", WEBHOOK_DESCRIPTION_MAX);
	content->paused = doc_get(body, STR("paused"), &member) && doc_bool(member);
	for (size_t i = 0; i < COUNT_OF(members); i++) {
		if (doc_get(body, str_c(members[i]), &member))
			doc_set(filters, str_c(members[i]), doc_copy(call->pool, member));
	}
	content->filters = document_json_text(call->pool, filters);
	return webhook_check_filters(call->registry, filters);
}

// ---- handlers

// The webhook that the address names.
static struct webhook_key webhook_key(const struct call *call)
{
	return (struct webhook_key){ .tenant = call_param(call, "tenant"), .name = call_param(call, "name") };
}

enum outcome list_webhooks(struct call *call)
{
	struct webhook_page page;
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = webhook_list(call->registry, call_param(call, "tenant"), call_param(call, "marker"), limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, webhook_doc(call, &page.list[i], NULL));
	doc_set(doc, STR("webhooks"), items);
	if (page.more) {
		const char *below = str_printf(call->pool, "?limit=%llu&marker=%.*s", (unsigned long long)limit, STR_ARG(page.list[page.n - 1].name)).p;
		doc_set_str(call->pool, doc, "next", call_url(call, webhooks_path(call, below)));
	}
	call_write(call, &webhook_list_document, doc);
	return OUTCOME_OK;
}

// If-None-Match is ignored: the etag covers what the owner has set, and the answer also shows the progress of sending, which
// changes without a new etag.
enum outcome get_webhook(struct call *call)
{
	struct conditions conditions;
	struct webhook webhook;
	enum outcome outcome = conditions_read_match(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = webhook_get(call->registry, webhook_key(call), &webhook);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct guard guard = conditions_guard(&conditions);
	conditions_set_etag(call, webhook.etag);
	outcome = guard_check(guard, webhook.etag);
	if (outcome == OUTCOME_OK)
		write_webhook(call, &webhook, NULL);
	return outcome;
}

enum outcome put_webhook(struct call *call)
{
	struct conditions conditions;
	struct webhook_content content;
	struct webhook webhook;
	uint8_t secret[WEBHOOK_SECRET];
	struct str name = call_param(call, "name");
	enum outcome outcome = tenancy_may_make_lasting(call);

	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome == OUTCOME_OK && !webhook_name_is_valid(name))
		outcome = call_fail(call, OUTCOME_BAD_PARAMETER,
			"a webhook's name has 1 to %d of a-z, 0-9 and \"-\", which stands neither first nor last", WEBHOOK_NAME_MAX);
	if (outcome == OUTCOME_OK)
		outcome = read_content(call, name, &content);
	if (outcome == OUTCOME_OK)
		outcome = webhook_put(call->registry, webhook_key(call), &content, conditions_guard(&conditions), &webhook, secret);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED)
		return outcome;
	write_webhook(call, &webhook, outcome == OUTCOME_CREATED ? secret : NULL);
	digest_wipe(secret, sizeof(secret));
	if (outcome == OUTCOME_CREATED)
		response_set(&call->response, "Location",
			call_url(call, webhooks_path(call, str_printf(call->pool, "/%.*s", STR_ARG(name)).p)));
	return outcome;
}

enum outcome delete_webhook(struct call *call)
{
	struct conditions conditions;
	enum outcome outcome = conditions_read_match(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = webhook_delete(call->registry, webhook_key(call), conditions_guard(&conditions));
	return outcome;
}

enum outcome rotate_webhook(struct call *call)
{
	struct conditions conditions;
	struct webhook webhook;
	uint8_t secret[WEBHOOK_SECRET];
	enum outcome outcome = tenancy_may_make_lasting(call);

	if (outcome == OUTCOME_OK)
		outcome = conditions_read_match(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = webhook_rotate(call->registry, webhook_key(call), conditions_guard(&conditions), &webhook, secret);
	if (outcome != OUTCOME_OK)
		return outcome;
	write_webhook(call, &webhook, secret);
	digest_wipe(secret, sizeof(secret));
	return OUTCOME_OK;
}

// ---- messages

static struct doc *delivery_doc(struct call *call, const struct webhook_message *message)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "message", uuid_str(pool, message->uid));
	doc_set_str(pool, doc, "kind", message->kind);
	doc_set_str(pool, doc, "state", message->state);
	if (str_eq(message->kind, STR("changes"))) {
		doc_set_u64(pool, doc, "after", message->after);
		doc_set_u64(pool, doc, "upto", message->upto);
	}
	doc_set_u64(pool, doc, "attempts", message->attempts);
	set_time(call, doc, "next_attempt_at", message->next_us);
	set_time(call, doc, "created_at", message->created_us);
	set_time(call, doc, "ended_at", message->ended_us);
	if (message->status != 0)
		doc_set_u64(pool, doc, "status", message->status);
	if (message->error.n > 0)
		doc_set_str(pool, doc, "error", message->error);
	return doc;
}

enum outcome list_deliveries(struct call *call)
{
	struct webhook_message_page page;
	uint64_t limit = 0, before = 0;
	struct str name = call_param(call, "name"), marker = call_param(call, "before");
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (marker.p != NULL && (!str_to_u64(marker, &before) || before > INT64_MAX))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "before must be as the \"next\" of the page before has it");
	outcome = webhook_messages(call->registry, webhook_key(call), before, limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, delivery_doc(call, &page.list[i]));
	doc_set(doc, STR("deliveries"), items);
	if (page.more) {
		const char *below = str_printf(call->pool, "/%.*s/deliveries?limit=%llu&before=%llu", STR_ARG(name), (unsigned long long)limit,
			(unsigned long long)page.list[page.n - 1].id).p;
		doc_set_str(call->pool, doc, "next", call_url(call, webhooks_path(call, below)));
	}
	call_write(call, &delivery_list_document, doc);
	return OUTCOME_OK;
}

enum outcome ping_webhook(struct call *call)
{
	struct uuid uid;
	enum outcome outcome = webhook_ping(call->registry, webhook_key(call), &uid);

	if (outcome != OUTCOME_ACCEPTED)
		return outcome;
	struct doc *doc = doc_new_object(call->pool);
	doc_set_str(call->pool, doc, "message", uuid_str(call->pool, uid));
	call_write(call, &webhook_done_document, doc);
	return outcome;
}

enum outcome revive_webhook(struct call *call)
{
	struct str message = call_param(call, "message");
	struct uuid uid;
	uint64_t n;

	if (message.p != NULL && !uuid_parse(message, &uid))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "message must be a UUID, as the deliveries show it");
	enum outcome outcome = webhook_revive(call->registry, webhook_key(call), message.p != NULL ? &uid : NULL, &n);
	if (outcome != OUTCOME_ACCEPTED)
		return outcome;
	struct doc *doc = doc_new_object(call->pool);
	doc_set_u64(call->pool, doc, "revived", n);
	call_write(call, &webhook_done_document, doc);
	return outcome;
}
