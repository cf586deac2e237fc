// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tags/etag.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/internal.h"
#include "repr/json/doc.h"


static bool is_among(const char *const *names, struct str name)
{
	while (*names != NULL && !str_eq_c(name, *names))
		names++;
	return *names != NULL;
}

// What the type's etags do not leave out.
static struct str tagged_text(struct pool *pool, const char *const *untagged, const struct doc *body, size_t size)
{
	struct buf text = buf_new(pool, size);
	bool first = true;

	buf_addc(&text, '{');
	for (struct doc_iter it = doc_iter(body); doc_next(&it);) {
		if (is_among(untagged, it.name))
			continue;
		if (!first)
			buf_addc(&text, ',');
		first = false;
		json_add_string(&text, it.name);
		buf_addc(&text, ':');
		doc_write_json(it.value, &text);
	}
	buf_addc(&text, '}');
	return buf_str(&text);
}

// body: NULL where it is not at hand.
static struct str tagged_body(struct pool *pool, const struct resource *resource, const struct doc *body)
{
	// The doctor looks at resources of no type, too.
	const struct type_rules *rules = resource->type != NULL ? resource->type->rules : NULL;

	if (rules == NULL || rules->untagged == NULL)
		return resource->body;
	if (body == NULL)
		body = resource_body_doc(pool, resource);
	return tagged_text(pool, rules->untagged, body, resource->body.n + 2);
}

void etag_of_resource(struct registry *registry, struct resource *resource)
{
	etag_of_document(registry, resource, NULL);
}

void etag_of_document(struct registry *registry, struct resource *resource, const struct doc *body)
{
	struct buf head = buf_new(registry->pool, 128);

	BUF_LIT(&head, "{\"uid\":\"");
	uuid_add(&head, resource->uid);
	BUF_LIT(&head, "\",\"edits\":");
	buf_add_u64(&head, resource->edits);
	if (resource->traits.n > 0) { // absent where there are none, so that etags made before there were traits stay true
		BUF_LIT(&head, ",\"traits\":");
		buf_add(&head, resource->traits);
	}
	BUF_LIT(&head, ",\"metadata\":");
	const struct str parts[] = { buf_str(&head), resource->meta, STR(",\"content\":"),
		tagged_body(registry->pool, resource, body), STR("}") };
	digest_hmac_sha512(registry->etag_key, parts, COUNT_OF(parts), resource->stored_etag);
	etag_show(registry, resource);
}

void etag_of_owned(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const uint8_t *stored, uint8_t *etag)
{
	const struct type_rules *rules = type != NULL ? type->rules : NULL;

	if (rules == NULL || !rules->shows_owner) {
		memmove(etag, stored, DIGEST_SHA512);
		return;
	}
	struct buf head = buf_new(registry->pool, 80);
	BUF_LIT(&head, "{\"owner\":"); // no content begins like this
	buf_add_u64(&head, tenant_id);
	BUF_LIT(&head, ",\"moves\":");
	buf_add_u64(&head, moves);
	BUF_LIT(&head, ",\"etag\":");
	const struct str parts[] = { buf_str(&head), str_n((const char *)stored, DIGEST_SHA512), STR("}") };
	digest_hmac_sha512(registry->etag_key, parts, COUNT_OF(parts), etag);
}

void etag_show(struct registry *registry, struct resource *resource)
{
	etag_of_owned(registry, resource->type, resource->tenant_id, resource->moves, resource->stored_etag, resource->etag);
}

void etag_of_tenant(struct registry *registry, struct tenant *tenant)
{
	struct buf head = buf_new(registry->pool, 256);

	// A tier's name may hold any character: its length makes the text unambiguous.
	BUF_LIT(&head, "{\"uid\":\"");
	uuid_add(&head, tenant->uid);
	BUF_LIT(&head, "\",\"revision\":");
	buf_add_u64(&head, tenant->revision);
	BUF_LIT(&head, ",\"tier\":");
	buf_add_u64(&head, tenant->tier.n);
	buf_addc(&head, ':');
	buf_add(&head, tenant->tier);
	if (tenant->etag_required) // absent where it is not set, so that etags made before there was such a thing stay true
		BUF_LIT(&head, ",\"etag_required\":true");
	if (tenant->object.n > 2) { // likewise
		BUF_LIT(&head, ",\"object\":");
		buf_add(&head, tenant->object);
	}
	BUF_LIT(&head, ",\"metadata\":");
	const struct str parts[] = { buf_str(&head), tenant->metadata, STR("}") };
	digest_hmac_sha512(registry->etag_key, parts, COUNT_OF(parts), tenant->etag);
}

void state_lanes(struct registry *registry, const struct type *type, const struct uuid *uid, uint64_t lanes[4])
{
	uint8_t hash[DIGEST_SHA256];
	const struct str parts[] = { STR("lanes:"), uuid_bytes(uid), type != NULL ? type->group : STR("") };

	digest_hmac_sha256(registry->state_key, parts, COUNT_OF(parts), hash);
	for (size_t i = 0; i < 4; i++)
		lanes[i] = (uint64_t)hash[i * 4] << 24 | (uint64_t)hash[i * 4 + 1] << 16 | (uint64_t)hash[i * 4 + 2] << 8 |
			   hash[i * 4 + 3];
}

static void tag_of_parts(struct registry *registry, const struct str *parts, size_t n, char tag[MOVE_TAG_HEX + 1])
{
	uint8_t hash[DIGEST_SHA256];

	digest_hmac_sha256(registry->state_key, parts, n, hash);
	buf_hex(tag, hash, MOVE_TAG_HEX / 2);
	tag[MOVE_TAG_HEX] = '\0';
}

static struct str sum_text(struct registry *registry, const struct state_sum *sum)
{
	struct buf text = buf_new(registry->pool, 256);

	buf_add_u64(&text, sum->count);
	for (size_t i = 0; i < 4; i++) {
		buf_addc(&text, '/');
		buf_add(&text, sum->sums[i]);
	}
	return buf_str(&text);
}

void state_tag(struct registry *registry, const struct uuid *tenant, const struct state_sum *sum,
	char tag[MOVE_TAG_HEX + 1])
{
	const struct str parts[] = { STR("state:"), uuid_bytes(tenant), sum_text(registry, sum) };

	tag_of_parts(registry, parts, COUNT_OF(parts), tag);
}

void state_tag_of_one(struct registry *registry, const struct uuid *uid, uint64_t revision, char tag[MOVE_TAG_HEX + 1])
{
	struct buf text = buf_new(registry->pool, 24);

	buf_add_u64(&text, revision);
	const struct str parts[] = { STR("one:"), uuid_bytes(uid), buf_str(&text) };
	tag_of_parts(registry, parts, COUNT_OF(parts), tag);
}

// Texts of clients' choice come with their lengths, so that no two lists of blockers read the same.
static void add_counted(struct buf *buf, struct str s)
{
	buf_add_u64(buf, s.n);
	buf_addc(buf, ':');
	buf_add(buf, s);
}

static void add_number(struct buf *buf, uint64_t number)
{
	buf_add_u64(buf, number);
	buf_addc(buf, '/');
}

// All that an action tells of a tenant. Its etag covers tier, metadata and what else it has as content.
static void add_tenant(struct buf *buf, const struct tenant *tenant, const struct type_counts *counts)
{
	buf_add(buf, uuid_bytes(&tenant->uid));
	buf_add(buf, str_n((const char *)tenant->etag, sizeof(tenant->etag)));
	add_number(buf, tenant->resources);
	add_number(buf, (uint64_t)tenant->created_us);
	add_number(buf, (uint64_t)tenant->updated_us);
	add_number(buf, counts->n);
	for (size_t i = 0; i < counts->n; i++) {
		add_counted(buf, counts->list[i].type);
		add_number(buf, counts->list[i].resources);
	}
}

void state_tag_of_action(struct registry *registry, struct move_action *action, const struct state_sum *sum,
	const struct state_sum *merged)
{
	struct buf tenants = buf_new(registry->pool, 512), blockers = buf_new(registry->pool, 512);

	add_tenant(&tenants, &action->source, &action->source_counts);
	add_tenant(&tenants, &action->dest, &action->dest_counts);
	for (size_t i = 0; i < action->n_blockers; i++) {
		add_counted(&blockers, action->blockers[i].resource);
		add_counted(&blockers, str_c(action->blockers[i].reason));
		add_counted(&blockers, action->blockers[i].detail);
	}
	// Which resources move, and what of each is told, follows from the sums, in which their uids and revisions are.
	const struct str parts[] = {
		STR("action:"),
		buf_str(&tenants),
		uuid_bytes(&action->resource.uid),
		action->listed ? STR("listed:") : STR("sums:"),
		sum_text(registry, sum),
		STR(" merged:"),
		sum_text(registry, merged),
		action->more_blockers ? STR(" more blockers:") : STR(" blockers:"),
		buf_str(&blockers),
	};
	tag_of_parts(registry, parts, COUNT_OF(parts), action->etag);
}
