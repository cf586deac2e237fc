// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/tags/state_tag.h"

#include "base/buf.h"
#include "base/digest.h"

static void make(struct digest_key *key, const struct str *parts, size_t n, char tag[STATE_TAG_HEX + 1])
{
	uint8_t hash[DIGEST_SHA256];

	digest_hmac_sha256(key, parts, n, hash);
	buf_hex(tag, hash, STATE_TAG_HEX / 2);
	tag[STATE_TAG_HEX] = '\0';
}

// In the place of the first etag key stands state_key, which made these tags before there were others.
static struct digest_key *key_at(const struct registry *registry, size_t i)
{
	return i == 0 ? registry->store->state_key : registry->store->etag_keys->keys[i].key;
}

// The newest key of which every process knows by now, so that each can compare what this one makes.
static size_t newest_known(const struct registry *registry)
{
	const struct etag_keys *keys = registry->store->etag_keys;
	size_t i = keys->n - 1;

	while (i > 0 && registry->now_us < (int64_t)(keys->keys[i].added_s + ETAG_KEYS_KNOWN_S) * 1000000)
		i--;
	return i;
}

void state_tag_make(struct registry *registry, const struct str *parts, size_t n, char tag[STATE_TAG_HEX + 1], struct state_tags *others)
{
	const struct etag_keys *keys = registry->store->etag_keys;

	assert(keys != NULL && keys->n > 0 && keys->n <= ETAG_KEYS_MAX && registry->store->state_key != NULL);
	size_t newest = newest_known(registry);
	make(key_at(registry, newest), parts, n, tag);
	if (others == NULL)
		return;
	others->n = 0;
	for (size_t i = 0; i < keys->n; i++) {
		if (i != newest)
			make(key_at(registry, i), parts, n, others->other[others->n++]);
	}
}
