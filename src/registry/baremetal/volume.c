// SPDX-License-Identifier: Apache-2.0
// The rules of volume connectors and volume targets. A connector is an address by which a node reaches a storage network, a
// target is a volume that it boots from or uses. Both belong to a node of the same tenant.
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/provision.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "repr/json/doc.h"

enum { KEY_MAX_CHARS = 255 }; // of a lookup key (struct lookup_key)

// ---- the node

// Connectors and targets change only while nothing uses the volumes. A node whose power state nobody has recorded counts as
// powered off, because no driver is here to ask.
static enum outcome check_power(struct registry *registry, const struct doc *node, struct str uuid, const char *action)
{
	struct str state = baremetal_text(node, "power_state");

	if (state.p == NULL || str_eq(state, STR("power off")))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_REQUEST,
		"The requested action \"%s\" can not be performed on node \"%.*s\" while it is in state \"%.*s\".", action,
		STR_ARG(uuid), STR_ARG(state));
}

// Neither reserved nor powered on.
static enum outcome check_node_is_idle(struct registry *registry, const struct doc *node, struct str text, const char *action)
{
	struct uuid uid;
	enum outcome outcome = uuid_parse(text, &uid) ? provision_check_reserved(registry, &uid, node) : OUTCOME_INTERNAL;

	return outcome == OUTCOME_OK ? check_power(registry, node, text, action) : outcome;
}

// action: what a change is called in the error for a node that is not powered off. It may be made on any node.
static enum outcome check_node(struct draft *draft, const char *action)
{
	const struct doc *node;
	enum outcome outcome = baremetal_lock_reference(draft, &node_rules, "node_uuid", &node);

	if (outcome != OUTCOME_OK || draft->before == NULL)
		return outcome;
	return check_node_is_idle(draft->registry, node, baremetal_text(draft->body, "node_uuid"), action);
}

static enum outcome may_delete(struct registry *registry, const struct resource *resource, const struct doc *body,
	const char *action)
{
	struct str uuid = baremetal_text(body, "node_uuid");
	const struct doc *node;
	enum outcome outcome = baremetal_lock_node(registry, resource->tenant, uuid, &node);

	return outcome == OUTCOME_OK ? check_node_is_idle(registry, node, uuid, action) : outcome;
}

static void hang_on_node(const struct doc *body, struct relations *relations)
{
	*relations = (struct relations){ 0 };
	relations->has_root = uuid_parse(baremetal_text(body, "node_uuid"), &relations->root);
}

// ---- connectors

static enum outcome complete_connector(struct draft *draft)
{
	enum outcome outcome = baremetal_normalise(draft, baremetal_connector_members);

	return outcome == OUTCOME_OK ? check_node(draft, "volume connector update") : outcome;
}

// Type and connector_id together are unique. The lookup key is the type's length in bytes, the type and the connector_id, with
// blanks between; or a digest of that, if it would be too long for a key.
static struct str connector_key(struct pool *pool, struct str type, struct str id)
{
	struct buf key = buf_new(pool, 32 + type.n + id.n), hex = buf_new(pool, 2 * DIGEST_SHA256 + 1);
	uint8_t digest[DIGEST_SHA256];

	buf_add_u64(&key, type.n);
	buf_addc(&key, ' ');
	buf_add(&key, type);
	buf_addc(&key, ' ');
	buf_add(&key, id);
	if (str_utf8_length(buf_str(&key)) <= KEY_MAX_CHARS)
		return buf_str(&key);
	digest_sha256(buf_str(&key), digest);
	buf_addc(&hex, '=');
	buf_add_hex(&hex, digest, sizeof(digest));
	return buf_str(&hex);
}

static void relate_connector(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	UNUSED(uid);
	hang_on_node(body, relations);
	baremetal_add_key("connector", connector_key(pool, baremetal_text(body, "type"), baremetal_text(body, "connector_id")),
		relations);
}

static enum outcome may_delete_connector(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	return may_delete(registry, resource, body, "volume connector deletion");
}

static enum outcome connector_taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	uint64_t n;

	if (key == NULL)
		return baremetal_fail_taken(registry, &volume_connector_rules, uid, NULL);
	size_t blank = str_find(key->value, ' ', 0);
	if (!str_to_u64(str_part(key->value, 0, blank), &n))
		return registry_fail(registry, OUTCOME_NAME_TAKEN,
			"A volume connector with this type and connector ID already exists.");
	struct str pair = str_part(key->value, blank + 1, key->value.n);
	struct str type = str_part(pair, 0, n), id = str_part(pair, n + 1, pair.n);
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"A volume connector with type %.*s and connector ID %.*s already exists.", STR_ARG(type), STR_ARG(id));
}

const struct type_rules volume_connector_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "volumeconnectors",
	.noun = "volume connector",
	.title = "Volume connector",
	.top = &node_rules,
	.complete = complete_connector,
	.relate = relate_connector,
	.may_delete = may_delete_connector,
	.taken = connector_taken,
};

// ---- targets

static enum outcome complete_target(struct draft *draft)
{
	enum outcome outcome = baremetal_normalise(draft, baremetal_target_members);

	return outcome == OUTCOME_OK ? check_node(draft, "volume target update") : outcome;
}

// boot_index is unique among the targets of a node. The lookup key is the node's UUID and the index, with a blank between.
static void relate_target(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	const struct doc *index = NULL;
	int64_t number = 0;

	UNUSED(uid);
	(void)doc_get(body, STR("boot_index"), &index);
	(void)doc_i64(index, &number);
	hang_on_node(body, relations);
	struct str node_uuid = baremetal_text(body, "node_uuid");
	baremetal_add_key("boot_index",
		str_printf(pool, "%.*s %lld", STR_ARG(node_uuid), (long long)number), relations);
}

static enum outcome may_delete_target(struct registry *registry, const struct resource *resource, const struct doc *body)
{
	return may_delete(registry, resource, body, "volume target deletion");
}

static enum outcome target_taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	if (key == NULL)
		return baremetal_fail_taken(registry, &volume_target_rules, uid, NULL);
	struct str index = str_part(key->value, str_find(key->value, ' ', 0) + 1, key->value.n);
	return registry_fail(registry, OUTCOME_NAME_TAKEN,
		"A volume target with boot index '%.*s' for the same node already exists.", STR_ARG(index));
}

// The properties of an iSCSI target have the password of its initiator.
static bool is_target_secret(struct str top, struct str name)
{
	return str_eq(top, STR("properties")) && baremetal_names_secret(name);
}

static bool hides_url_passwords(struct str top)
{
	return str_eq(top, STR("properties"));
}

const struct type_rules volume_target_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "volumetargets",
	.noun = "volume target",
	.title = "Volume target",
	.top = &node_rules,
	.complete = complete_target,
	.relate = relate_target,
	.may_delete = may_delete_target,
	.is_secret = is_target_secret,
	.hides_url_passwords = hides_url_passwords,
	.taken = target_taken,
};
