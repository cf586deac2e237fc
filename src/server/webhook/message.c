// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "repr/json/doc.h"
#include "server/webhook/message.h"

// ---- the body

static void add_text(struct buf *out, const char *name, struct str value)
{
	buf_addf(out, ",\"%s\":", name);
	json_add_string(out, value);
}

static void add_etag(struct buf *out, const char *name, struct str etag)
{
	if (etag.p == NULL)
		return;
	buf_addf(out, ",\"%s\":\"W/", name);
	buf_add_hex(out, etag.p, etag.n);
	buf_addc(out, '"');
}

static void add_time(struct buf *out, int64_t us)
{
	buf_addc(out, '"');
	clock_add_rfc3339(out, us);
	buf_addc(out, '"');
}

// A tenant is told of a move without the other tenant's name: it came, or it left.
static void add_owner(struct buf *out, const struct webhook_target *target, const struct change *change)
{
	bool moved = change->from_tenant.p != NULL;

	if (target->tenant.p == NULL) {
		add_text(out, "tenant", change->tenant);
		if (moved)
			add_text(out, "from_tenant", change->from_tenant);
		return;
	}
	add_text(out, "tenant", target->tenant);
	if (moved)
		add_text(out, "moved", str_eq(change->tenant, target->tenant) ? STR("in") : STR("out"));
}

static void add_change(struct pool *pool, struct buf *out, const struct webhook_target *target, const struct change *change)
{
	buf_addf(out, "{\"id\":%llu,\"at\":", (unsigned long long)change->id);
	add_time(out, change->at_us);
	add_text(out, "actor", change->actor);
	add_text(out, "request_id", uuid_str(pool, change->request_id));
	add_text(out, "verb", change->verb);
	add_owner(out, target, change);
	if (change->type != NULL)
		add_text(out, "resource", resource_path(pool, change->type, change->space, change->name));
	add_text(out, "uid", uuid_str(pool, change->uid));
	buf_addf(out, ",\"revision\":%llu", (unsigned long long)change->revision);
	add_etag(out, "etag_before", change->etag_before);
	add_etag(out, "etag_after", change->etag_after);
	if (change->fields.n > 0) {
		BUF_LIT(out, ",\"fields\":");
		buf_add(out, change->fields); // a JSON array already
	}
	buf_addc(out, '}');
}

struct str message_body(struct pool *pool, const struct webhook_target *target, const struct message_range *range,
	struct message_changes changes, size_t bytes_max, size_t *taken)
{
	bool is_ping = range->ping_us != 0;
	struct buf out = buf_new(pool, 1024);

	assert(bytes_max > 0 && is_ping == (changes.n == 0));
	buf_addf(&out, "{\"type\":\"%s\",\"timestamp\":", is_ping ? "tenure.ping" : "tenure.changes");
	add_time(&out, is_ping ? range->ping_us : changes.list[changes.n - 1].at_us);
	BUF_LIT(&out, ",\"data\":{\"webhook\":");
	json_add_string(&out, target->name);
	add_text(&out, "tenant", target->tenant.p != NULL ? target->tenant : STR(REALM_WORD_ALL));
	if (!is_ping)
		buf_addf(&out, ",\"after\":%llu,\"upto\":%llu", (unsigned long long)range->after, (unsigned long long)range->upto);
	BUF_LIT(&out, ",\"changes\":[");
	size_t begin = out.n;
	for (*taken = 0; *taken < changes.n; (*taken)++) {
		size_t before = out.n;
		if (*taken > 0)
			buf_addc(&out, ',');
		add_change(pool, &out, target, &changes.list[*taken]);
		if (*taken > 0 && out.n - begin > bytes_max) {
			out.n = before;
			break;
		}
	}
	BUF_LIT(&out, "]}}");
	return buf_str(&out);
}

// ---- the signature

static bool add_signature(struct buf *line, struct str secret, struct str id, struct str time, struct str body)
{
	uint8_t mac[DIGEST_SHA256];
	struct digest_key *key = digest_key_new(secret);

	if (key == NULL)
		return false;
	const struct str parts[] = { id, STR("."), time, STR("."), body };
	digest_hmac_sha256(key, parts, COUNT_OF(parts), mac);
	digest_key_free(&key);
	BUF_LIT(line, " v1,");
	buf_add_base64(line, mac, sizeof(mac));
	return true;
}

bool message_sign(struct pool *pool, const struct webhook_target *target, const struct uuid *message, int64_t now_us, struct str body,
	struct str headers[MESSAGE_HEADERS])
{
	struct str id = str_printf(pool, "msg_%.*s", UUID_ARG(pool, *message));
	struct str time = str_printf(pool, "%lld", (long long)(now_us / 1000000));
	struct buf line = buf_new(pool, 160);

	assert(body.n > 0);
	BUF_LIT(&line, "webhook-signature:");
	if (!add_signature(&line, target->secret, id, time, body) ||
		(target->old_secret.p != NULL && !add_signature(&line, target->old_secret, id, time, body)))
		return false;
	headers[0] = str_printf(pool, "webhook-id: %.*s", STR_ARG(id));
	headers[1] = str_printf(pool, "webhook-timestamp: %.*s", STR_ARG(time));
	headers[2] = buf_str(&line);
	return true;
}
