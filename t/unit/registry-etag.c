// SPDX-License-Identifier: Apache-2.0
// Etags, lanes and state tags without a database: what is stored is exactly the HMAC of the text that is documented, so that
// stored etags stay true with later releases; and every part of what a tag covers changes it.
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/move/internal.h"
#include "registry/tags/etag.h"
#include "registry/tags/keys.h"
#include "registry/type/rules.h"
#include "tap.h"

static struct registry_store store;
static struct etag_keys keys;
static struct registry registry = { .store = &store };
static struct uuid uids[3];

static struct str hmac(struct str text)
{
	uint8_t *out = POOL_ARRAY(registry.pool, uint8_t, DIGEST_SHA512);

	digest_hmac_sha512(keys.keys[0].key, &text, 1, out);
	return str_n((const char *)out, DIGEST_SHA512);
}

static struct str bytes_of(const uint8_t *etag)
{
	return str_n((const char *)etag, DIGEST_SHA512);
}

static struct str text_of(const struct uuid *uid)
{
	struct buf text = buf_new(registry.pool, 40);

	uuid_add(&text, *uid);
	return buf_str(&text);
}

// ---- of resources

static void is_etag(const struct resource *given, const char *format_behind_uid, const char *what)
{
	struct resource resource = *given;
	struct str text = text_of(&resource.uid);
	struct str want = hmac(str_printf(registry.pool, "{\"uid\":\"%.*s\"%s", STR_ARG(text),
		format_behind_uid));

	etag_of_resource(&registry, &resource);
	ok(str_eq(bytes_of(resource.stored_etag), want), "%s", what);
	memset(resource.stored_etag, 0, sizeof(resource.stored_etag));
	etag_of_covered(&registry, &resource, etag_covered(registry.pool, &resource));
	ok(str_eq(bytes_of(resource.stored_etag), want), "… and by the body's text");
}

static void test_resources(void)
{
	static const char *const untagged[] = { "b", "d", NULL };
	static const struct type_rules rules = { .group = "g", .untagged = untagged };
	static const struct type tagged = { .rules = &rules }, plain = { .rules = NULL };
	struct resource resource = { .type = &plain, .uid = uids[0], .edits = 17, .meta = STR("{\"m\":1}"), .body =
		STR("{\"c\":[2]}"),
		.traits = STR("") };

	is_etag(&resource, ",\"edits\":17,\"metadata\":{\"m\":1},\"content\":{\"c\":[2]}}", "uid, edits, metadata, content");
	resource.type = NULL;
	is_etag(&resource, ",\"edits\":17,\"metadata\":{\"m\":1},\"content\":{\"c\":[2]}}", "of no type that is known");
	resource.traits = STR("[\"A\"]");
	is_etag(&resource, ",\"edits\":17,\"traits\":[\"A\"],\"metadata\":{\"m\":1},\"content\":{\"c\":[2]}}",
		"traits, where there are some");
	resource.traits = STR("");
	resource.type = &tagged;
	resource.body = STR("{\"a\":1,\"b\":2,\"c\":{\"b\":3,\"x\":\"\\n\"},\"d\":4,\"e\":null}");
	is_etag(&resource, ",\"edits\":17,\"metadata\":{\"m\":1},\"content\":{\"a\":1,\"c\":{\"b\":3,\"x\":\"\\n\"},\"e\":null}}",
		"without the members that its type leaves out, at the top alone");
	static const struct { const char *body, *covered; } cases[] = {
		{ "{}", "{}" }, { "{\"b\":1}", "{}" }, { "{\"b\":1,\"d\":2}", "{}" }, { "{\"b\":{\"d\":[1,2]},\"a\":\",\"}", "{\"a\":\",\"}" },
		{ "{\"a\":1,\"b\":2}", "{\"a\":1}" }, { "{\"d\":1,\"a\":[],\"b\":2,\"c\":3,\"e\":4}", "{\"a\":[],\"c\":3,\"e\":4}" }, { "{\"a\":1,\"c\":2}", "{\"a\":1,\"c\":2}" },
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		resource.body = str_c(cases[i].body);
		is_etag(&resource, str_printf(registry.pool, ",\"edits\":17,\"metadata\":{\"m\":1},\"content\":%s}", cases[i].covered).p, cases[i].body);
	}
	resource.body = STR("{\"b\":2}");
	is_etag(&resource, ",\"edits\":17,\"metadata\":{\"m\":1},\"content\":{}}", "without all of them");
}

static void test_owned(void)
{
	static const struct type_rules owned = { .group = "g", .shows_owner = true }, plain = { .group = "g" };
	static const struct type shows = { .rules = &owned }, hides = { .rules = &plain };
	struct resource resource = { .type = &shows, .tenant_id = 12, .moves = 345 };
	uint8_t etag[DIGEST_SHA512];

	for (size_t i = 0; i < DIGEST_SHA512; i++)
		resource.stored_etag[i] = (uint8_t)(i * 3);
	struct buf text = buf_new(registry.pool, 200);
	BUF_LIT(&text, "{\"owner\":12,\"moves\":345,\"etag\":");
	buf_add(&text, bytes_of(resource.stored_etag));
	BUF_LIT(&text, "}");
	struct str want = hmac(buf_str(&text));
	ok(str_eq(bytes_of(etag_shown(&registry, &resource)), want), "of the stored one, the owner and the moves");
	etag_derive(&registry, &resource);
	ok(str_eq(bytes_of(etag_shown(&registry, &resource)), want), "... kept in the resource");
	memset(resource.stored_etag, 1, sizeof(resource.stored_etag));
	ok(str_eq(bytes_of(etag_shown(&registry, &resource)), want), "... so it is not made again");
	etag_replace(&resource, resource.stored_etag);
	ok(!str_eq(bytes_of(etag_shown(&registry, &resource)), want), "... but with another stored one");
	etag_derive(&registry, &resource);
	want = str_dup(registry.pool, bytes_of(etag_shown(&registry, &resource)));
	resource.moves++;
	etag_derive(&registry, &resource);
	ok(!str_eq(bytes_of(etag_shown(&registry, &resource)), want), "... and after a move");
	want = str_dup(registry.pool, bytes_of(etag_shown(&registry, &resource)));
	resource.edits++;
	etag_of_resource(&registry, &resource);
	ok(!str_eq(bytes_of(etag_shown(&registry, &resource)), want), "... and after a change");
	resource.type = &hides;
	ok(etag_shown(&registry, &resource) == resource.stored_etag, "of a type that does not show the owner, the stored one itself");
	etag_of_owned(&registry, &hides, 12, 345, resource.stored_etag, etag);
	ok(memcmp(etag, resource.stored_etag, DIGEST_SHA512) == 0, "where the owner is not shown, the stored one");
	etag_of_owned(&registry, NULL, 12, 345, resource.stored_etag, etag);
	ok(memcmp(etag, resource.stored_etag, DIGEST_SHA512) == 0, "of no type, the stored one");
}

// ---- of tenants

static void is_tenant_etag(const struct tenant *given, const char *behind_uid, const char *what)
{
	struct tenant tenant = *given;
	struct str text = text_of(&tenant.uid);
	struct str want = hmac(str_printf(registry.pool, "{\"uid\":\"%.*s\"%s", STR_ARG(text), behind_uid));

	etag_of_tenant(&registry, &tenant);
	ok(str_eq(bytes_of(tenant.etag), want), "%s", what);
}

static void test_tenants(void)
{
	struct tenant tenant = { .uid = uids[1], .revision = 5, .tier = STR("gold"), .metadata = STR("{\"a\":\"b\"}"), .object =
		STR("{}") };

	is_tenant_etag(&tenant, ",\"revision\":5,\"tier\":4:gold,\"metadata\":{\"a\":\"b\"}}", "uid, revision, tier, metadata");
	tenant.etag_required = true;
	is_tenant_etag(&tenant, ",\"revision\":5,\"tier\":4:gold,\"etag_required\":true,\"metadata\":{\"a\":\"b\"}}",
		"etag_required");
	tenant.object = STR("{\"l\":1}");
	is_tenant_etag(&tenant,
		",\"revision\":5,\"tier\":4:gold,\"etag_required\":true,\"object\":{\"l\":1},\"metadata\":{\"a\":\"b\"}}",
		"object");
	tenant.etag_required = false;
	tenant.object = STR("");
	is_tenant_etag(&tenant, ",\"revision\":5,\"tier\":4:gold,\"metadata\":{\"a\":\"b\"}}", "neither");
}

// ---- lanes

static void test_lanes(void)
{
	const struct type type = { .group = STR("example.com") };
	uint8_t hash[DIGEST_SHA256];
	uint64_t lanes[4];

	for (size_t k = 0; k < 2; k++) {
		const struct str parts[] = { STR("lanes:"), str_n((const char *)&uids[2], sizeof(uids[2])), k == 0 ? type.group :
			STR("") };
		digest_hmac_sha256(store.state_key, parts, COUNT_OF(parts), hash);
		etag_state_lanes(&registry, k == 0 ? &type : NULL, &uids[2], lanes);
		for (size_t i = 0; i < 4; i++) {
			uint64_t want = 0;
			for (size_t b = 0; b < 4; b++)
				want = want * 256 + hash[i * 4 + b];
			ok(lanes[i] == want, "lane %zu%s", i, k == 0 ? "" : " of no type");
		}
	}
}

// ---- tags

// Tags that were seen; each new one has to be another.
static struct {
	char list[64][MOVE_TAG_HEX + 1];
	size_t n;
} seen;

static void is_new(const char *tag, const char *what)
{
	bool good = strlen(tag) == MOVE_TAG_HEX && strspn(tag, "0123456789abcdef") == MOVE_TAG_HEX;

	for (size_t i = 0; i < seen.n; i++)
		good = good && strcmp(seen.list[i], tag) != 0;
	ok(good && seen.n < COUNT_OF(seen.list), "%s: a tag of its own", what);
	memcpy(seen.list[seen.n++], tag, MOVE_TAG_HEX + 1);
}

static struct state_sum some;

static void test_states(void)
{
	char tag[MOVE_TAG_HEX + 1], again[MOVE_TAG_HEX + 1];
	struct state_sum sum = some;

	move_state_tag(&registry, &uids[0], &sum, tag, NULL);
	is_new(tag, "a tenant's state");
	move_state_tag(&registry, &uids[0], &sum, again, NULL);
	ok(strcmp(tag, again) == 0, "the same state, the same tag");
	move_state_tag(&registry, &uids[1], &sum, tag, NULL);
	is_new(tag, "another's");
	sum.count++;
	move_state_tag(&registry, &uids[0], &sum, tag, NULL);
	is_new(tag, "of one more");
	for (size_t i = 0; i < 4; i++) {
		sum = some;
		sum.sums[i] = STR("5");
		move_state_tag(&registry, &uids[0], &sum, tag, NULL);
		is_new(tag, "of another sum");
	}
	sum = (struct state_sum){ 3, { STR("12"), STR("2"), STR("3"), STR("4") } };
	move_state_tag(&registry, &uids[0], &sum, tag, NULL);
	is_new(tag, "of the same digits");
	move_state_tag_of_one(&registry, &uids[0], 12, tag);
	is_new(tag, "of one");
	move_state_tag_of_one(&registry, &uids[0], 13, tag);
	is_new(tag, "at another revision");
	move_state_tag_of_one(&registry, &uids[1], 12, tag);
	is_new(tag, "of another");
}

static struct move_blocker blockers[2];
static struct type_count counts[2][2];

static struct move_action action_of(void)
{
	struct move_action action = { .source = { .uid = uids[0], .resources = 9, .created_us = 1000, .updated_us = 2000 },
		.dest = { .uid = uids[1], .resources = 8, .created_us = 3000, .updated_us = 4000 },
		.source_counts = { counts[0], 2 }, .dest_counts = { counts[1], 2 },
		.resource = { .uid = uids[2] }, .blockers = blockers, .n_blockers = 2 };

	for (size_t i = 0; i < 2; i++) {
		blockers[i] = (struct move_blocker){ .resource = STR("pods/a"), .reason = "name-taken", .detail = STR("why") };
		counts[i][0] = (struct type_count){ STR("pods"), 4 };
		counts[i][1] = (struct type_count){ STR("secrets"), 5 };
	}
	return action;
}

static void is_new_action(struct move_action *action, const struct state_sum *sum, const struct state_sum *merged,
	const char *what)
{
	move_state_tag_of_action(&registry, action, sum, merged);
	is_new(action->etag, what);
}

// Each change is made alone, to an action as it was.
#define WITH(what, change)                                  \
	do {                                                \
		action = action_of();                       \
		change;                                     \
		is_new_action(&action, &some, &none, what); \
	} while (0)

static void test_actions(void)
{
	const struct state_sum none = { 0, { STR("0"), STR("0"), STR("0"), STR("0") } };
	struct state_sum more = some;
	struct move_action action = action_of();
	char first[MOVE_TAG_HEX + 1];

	is_new_action(&action, &some, &none, "an action");
	memcpy(first, action.etag, sizeof(first));
	action = action_of();
	move_state_tag_of_action(&registry, &action, &some, &none);
	is_str(str_c(action.etag), first, "the same again");
	more.sums[3] = STR("6");
	action = action_of();
	is_new_action(&action, &more, &none, "another set");
	action = action_of();
	is_new_action(&action, &some, &some, "what it is merged with");
	WITH("the resource", action.resource.uid = uids[0]);
	WITH("listed one by one", action.listed = true);
	WITH("more blockers than are told", action.more_blockers = true);
	WITH("one blocker less", action.n_blockers = 1);
	// Texts of which one ends where the next begins.
	static const struct move_blocker one = { STR_INIT("1a1b1c1d3e"), "", STR_INIT("") };
	static const struct move_blocker two[] = { { STR_INIT("0"), "a", STR_INIT("b") }, { STR_INIT("c"), "d",
		STR_INIT("e00") } };
	WITH("one blocker that reads like two", blockers[0] = one; action.n_blockers = 1);
	WITH("the two", memcpy(blockers, two, sizeof(two)));
	WITH("a blocker's name", blockers[1].resource = STR("pods/b"));
	WITH("a blocker's reason", blockers[1].reason = "locked");
	WITH("a blocker's text", blockers[1].detail = STR("who"));
	WITH("a part of one text in the next", blockers[0].resource = STR("pods/an"); blockers[0].reason = "ame-taken");
	WITH("the source", action.source.uid = uids[2]);
	WITH("its etag", action.source.etag[63] = 1);
	WITH("its count", action.source.resources++);
	WITH("when it was made", action.source.created_us++);
	WITH("when it was changed", action.source.updated_us++);
	WITH("a count of a type", counts[0][1].resources++);
	WITH("the name of a type", counts[0][1].type = STR("secretz"));
	WITH("a type less", action.source_counts.n = 1);
	WITH("the destination", action.dest.uid = uids[2]);
	WITH("its etag", action.dest.etag[0] = 1);
	WITH("its count", action.dest.resources++);
	WITH("when it was made", action.dest.created_us++);
	WITH("when it was changed", action.dest.updated_us++);
	WITH("a count of a type there", counts[1][0].resources++);
	WITH("the name of a type there", counts[1][0].type = STR("pod"));
	WITH("a type less there", action.dest_counts.n = 1);
}

static void test_keys(void)
{
	struct resource resource = { .uid = uids[0], .meta = STR("{}"), .body = STR("{\"a\":1}"), .edits = 1 };
	struct tenant tenant = { .uid = uids[1], .revision = 1, .tier = STR("gold"), .metadata = STR("{}") };
	struct resource old;

	etag_of_resource(&registry, &resource);
	etag_of_tenant(&registry, &tenant);
	old = resource;
	keys.keys[keys.n++] = (struct etag_key){ .id = 7, .key = digest_key_new(STR("another key of thirty-two bytes.")) };
	ok(etag_key_of_resource(&registry, &resource) == 1, "a stored etag stays that of the key that made it");
	ok(etag_key_of_tenant(&registry, &tenant) == 1, "a tenant's, too");
	ok(memcmp(etag_shown(&registry, &resource), old.stored_etag, sizeof(old.stored_etag)) == 0, "and is shown as before");
	etag_of_resource(&registry, &resource);
	etag_of_tenant(&registry, &tenant);
	ok(memcmp(resource.stored_etag, old.stored_etag, sizeof(old.stored_etag)) != 0, "a new etag is another one");
	ok(etag_key_of_resource(&registry, &resource) == 7 && etag_key_of_tenant(&registry, &tenant) == 7, "of the newest key");
	resource.edits++;
	tenant.revision++;
	ok(etag_key_of_resource(&registry, &resource) == 0 && etag_key_of_tenant(&registry, &tenant) == 0, "of another content it is that of no key");
}

int main(void)
{
	registry.pool = pool_new();
	keys = (struct etag_keys){ .n = 1, .keys[0] = { .id = 1, .key = digest_key_new(STR("0123456789abcdef0123456789abcdef")) } };
	store.etag_keys = &keys;
	store.state_key = digest_key_new(STR("fedcba9876543210fedcba9876543210"));
	some = (struct state_sum){ 3, { STR("1"), STR("22"), STR("3"), STR("4") } };
	for (size_t i = 0; i < COUNT_OF(uids); i++)
		uids[i] = uuid_new();
	test_resources();
	test_owned();
	test_tenants();
	test_lanes();
	test_states();
	test_actions();
	test_keys();
	for (size_t i = 0; i < keys.n; i++)
		digest_key_free(&keys.keys[i].key);
	digest_key_free(&store.state_key);
	pool_free(&registry.pool);
	return done_testing();
}
