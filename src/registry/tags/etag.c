// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tags/etag.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/core/stored.h"
#include "registry/tags/keys.h"
#include "registry/type/rules.h"
#include "repr/json/doc.h"

static bool is_among(const char *const *names, struct str name)
{
	while (*names != NULL && !str_eq_c(name, *names))
		names++;
	return *names != NULL;
}

// The body without the members in untagged, for a body that is compact JSON (tagged_text() takes any). Behind the last of these
// members, the text is copied as it is.
static struct str tagged_part(struct pool *pool, const char *const *untagged, struct str body)
{
	struct json_members members = json_members(body);
	struct buf text = buf_new(pool, body.n + 2);
	struct str name, value;
	size_t left = 0;

	while (untagged[left] != NULL)
		left++;
	buf_addc(&text, '{');
	while (left > 0 && json_members_next(&members, &name, &value)) {
		if (is_among(untagged, name)) {
			left--;
			continue;
		}
		if (text.n > 1)
			buf_addc(&text, ',');
		buf_addc(&text, '"');
		buf_add(&text, name);
		BUF_LIT(&text, "\":");
		buf_add(&text, value);
	}
	struct str rest = json_members_rest(&members);
	buf_add(&text, text.n == 1 && str_starts(rest, STR(",")) ? str_part(rest, 1, rest.n) : rest);
	return buf_str(&text);
}

// The body as compact JSON without the members in untagged.
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

// The members that the resource's etag does not cover, ended by NULL; NULL: it covers all. resource->type may be NULL: the doctor
// checks a resource whose type does not exist.
static const char *const *untagged_of(const struct resource *resource)
{
	const struct type_rules *rules = resource->type != NULL ? resource->type->rules : NULL;

	return rules != NULL ? rules->untagged : NULL;
}

// The next member that the etag covers.
static bool next_covered(const char *const *untagged, struct doc_iter *it)
{
	bool more = doc_next(it);

	while (more && untagged != NULL && is_among(untagged, it->name))
		more = doc_next(it);
	return more;
}

// Do two values have the same text? Equal objects may have their members in another order.
static bool same_text(struct pool *pool, const struct doc *a, const struct doc *b)
{
	if (a == b)
		return true;
	if (!doc_equal(a, b))
		return false;
	struct buf in_a = buf_new(pool, 64), in_b = buf_new(pool, 64);
	doc_write_json(a, &in_a);
	doc_write_json(b, &in_b);
	return str_eq(buf_str(&in_a), buf_str(&in_b));
}

bool etag_covers_same(struct pool *pool, const struct resource *a, const struct resource *b)
{
	const char *const *untagged = untagged_of(a);
	struct doc_iter in_a = doc_iter(resource_body_tree(pool, a)), in_b = doc_iter(resource_body_tree(pool, b));

	while (next_covered(untagged, &in_a)) {
		if (!next_covered(untagged, &in_b) || !str_eq(in_a.name, in_b.name) || !same_text(pool, in_a.value, in_b.value))
			return false;
	}
	return !next_covered(untagged, &in_b);
}

struct str etag_covered(struct pool *pool, const struct resource *resource)
{
	const char *const *untagged = untagged_of(resource);

	return untagged != NULL ? tagged_part(pool, untagged, resource->body) : resource->body;
}

// The part of the body that the etag covers, of a body that need not be compact.
static struct str covered_text(struct pool *pool, const struct resource *resource)
{
	const char *const *untagged = untagged_of(resource);

	return untagged == NULL ? resource->body : tagged_text(pool, untagged, resource_body_doc(pool, resource), resource->body.n + 2);
}

void etag_of_resource(struct registry *registry, struct resource *resource)
{
	etag_of_covered(registry, resource, covered_text(registry->pool, resource));
}

// The stored etag that the key makes.
static void hash_resource(struct pool *pool, struct digest_key *key, const struct resource *resource, struct str covered,
	uint8_t etag[DIGEST_SHA512])
{
	struct buf head = buf_new(pool, 128);

	BUF_LIT(&head, "{\"uid\":\"");
	uuid_add(&head, resource->uid);
	BUF_LIT(&head, "\",\"edits\":");
	buf_add_u64(&head, resource->edits);
	if (resource->traits.n > 0) { // left out if there are none, so that etags from before there were traits stay valid
		BUF_LIT(&head, ",\"traits\":");
		buf_add(&head, resource->traits);
	}
	BUF_LIT(&head, ",\"metadata\":");
	const struct str parts[] = { buf_str(&head), resource->meta, STR(",\"content\":"),
		covered, STR("}") };
	digest_hmac_sha512(key, parts, COUNT_OF(parts), etag);
}

void etag_of_covered(struct registry *registry, struct resource *resource, struct str covered)
{
	hash_resource(registry->pool, etag_key_newest(registry), resource, covered, resource->stored_etag);
	etag_derive(registry, resource);
}

uint64_t etag_key_of_resource(struct registry *registry, const struct resource *resource)
{
	const struct etag_keys *keys = registry->store->etag_keys;
	struct str covered = covered_text(registry->pool, resource);
	uint8_t etag[DIGEST_SHA512];

	for (size_t i = keys->n; i-- > 0;) {
		hash_resource(registry->pool, keys->keys[i].key, resource, covered, etag);
		if (memcmp(etag, resource->stored_etag, sizeof(etag)) == 0)
			return keys->keys[i].id;
	}
	return 0;
}

static bool shows_owner(const struct type *type)
{
	return type != NULL && type->rules != NULL && type->rules->shows_owner;
}

void etag_of_owned(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const uint8_t *stored, uint8_t *etag)
{
	assert(stored != NULL && etag != NULL);
	if (!shows_owner(type)) {
		memmove(etag, stored, DIGEST_SHA512);
		return;
	}
	struct buf head = buf_new(registry->pool, 80);
	BUF_LIT(&head, "{\"owner\":"); // Begins unlike the text of any content, so that the two never have the same HMAC.
	buf_add_u64(&head, tenant_id);
	BUF_LIT(&head, ",\"moves\":");
	buf_add_u64(&head, moves);
	BUF_LIT(&head, ",\"etag\":");
	const struct str parts[] = { buf_str(&head), str_n((const char *)stored, DIGEST_SHA512), STR("}") };
	digest_hmac_sha512(etag_key_first(registry), parts, COUNT_OF(parts), etag);
}

static void derive(struct registry *registry, const struct resource *resource, uint8_t *etag)
{
	etag_of_owned(registry, resource->type, resource->tenant_id, resource->moves, resource->stored_etag, etag);
}

const uint8_t *etag_shown(struct registry *registry, const struct resource *resource)
{
	if (!shows_owner(resource->type))
		return resource->stored_etag;
	if (resource->has_derived_etag)
		return resource->derived_etag;
	uint8_t *etag = pool_alloc(registry->pool, DIGEST_SHA512);
	derive(registry, resource, etag);
	return etag;
}

void etag_derive(struct registry *registry, struct resource *resource)
{
	resource->has_derived_etag = shows_owner(resource->type);
	if (resource->has_derived_etag)
		derive(registry, resource, resource->derived_etag);
}

void etag_replace(struct resource *resource, const uint8_t *stored)
{
	assert(stored != NULL);
	memmove(resource->stored_etag, stored, sizeof(resource->stored_etag));
	resource->has_derived_etag = false;
}

static void hash_tenant(struct pool *pool, struct digest_key *key, const struct tenant *tenant, uint8_t etag[DIGEST_SHA512])
{
	struct buf head = buf_new(pool, 256);

	// A tier's name may hold any character: its length makes the text unambiguous.
	BUF_LIT(&head, "{\"uid\":\"");
	uuid_add(&head, tenant->uid);
	BUF_LIT(&head, "\",\"revision\":");
	buf_add_u64(&head, tenant->revision);
	BUF_LIT(&head, ",\"tier\":");
	buf_add_u64(&head, tenant->tier.n);
	buf_addc(&head, ':');
	buf_add(&head, tenant->tier);
	if (tenant->etag_required) // left out if not set, so that etags from before this setting existed stay valid
		BUF_LIT(&head, ",\"etag_required\":true");
	if (tenant->object.n > 2) { // left out if empty, for the same reason
		BUF_LIT(&head, ",\"object\":");
		buf_add(&head, tenant->object);
	}
	BUF_LIT(&head, ",\"metadata\":");
	const struct str parts[] = { buf_str(&head), tenant->metadata, STR("}") };
	digest_hmac_sha512(key, parts, COUNT_OF(parts), etag);
}

void etag_of_tenant(struct registry *registry, struct tenant *tenant)
{
	hash_tenant(registry->pool, etag_key_newest(registry), tenant, tenant->etag);
}

uint64_t etag_key_of_tenant(struct registry *registry, const struct tenant *tenant)
{
	const struct etag_keys *keys = registry->store->etag_keys;
	uint8_t etag[DIGEST_SHA512];

	for (size_t i = keys->n; i-- > 0;) {
		hash_tenant(registry->pool, keys->keys[i].key, tenant, etag);
		if (memcmp(etag, tenant->etag, sizeof(etag)) == 0)
			return keys->keys[i].id;
	}
	return 0;
}

void etag_state_lanes(struct registry *registry, const struct type *type, const struct uuid *uid, uint64_t lanes[4])
{
	uint8_t hash[DIGEST_SHA256];
	const struct str parts[] = { STR("lanes:"), uuid_bytes(uid), type != NULL ? type->group : STR("") };

	assert(registry->store->state_key != NULL);
	digest_hmac_sha256(registry->store->state_key, parts, COUNT_OF(parts), hash);
	for (size_t i = 0; i < 4; i++)
		lanes[i] = (uint64_t)hash[i * 4] << 24 | (uint64_t)hash[i * 4 + 1] << 16 | (uint64_t)hash[i * 4 + 2] << 8 |
			   hash[i * 4 + 3];
}
