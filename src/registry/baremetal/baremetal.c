// SPDX-License-Identifier: Apache-2.0
// The members of bare metal's bodies, and the spelling of their values.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "repr/json/doc.h"

enum { NAME_MAX_CHARS = 255, LABEL_MAX_CHARS = 63, LONG_TEXT = 65535, EXCERPT_MAX = 80, MAC_LENGTH = 17 };

#define SERVED(member, of_kind) { .name = member, .kind = BAREMETAL_##of_kind, .served = true }
#define INITIAL(member, of_kind) { .name = member, .kind = BAREMETAL_##of_kind, .served = true, .initial = true }
#define OPERATORS(member, of_kind, ...) { .name = member, .kind = BAREMETAL_##of_kind, .operators = true, __VA_ARGS__ }
#define REQUIRED(member, of_kind) { .name = member, .kind = BAREMETAL_##of_kind, .required = true }
#define MEMBER(member, of_kind) { .name = member, .kind = BAREMETAL_##of_kind }
#define TEXT(member, characters) { .name = member, .kind = BAREMETAL_TEXT, .most = characters }
#define INTERFACE(interface) { .name = interface "_interface", .kind = BAREMETAL_TEXT }

const struct baremetal_member baremetal_node_members[] = {
	MEMBER("automated_clean", FLAG),
	INTERFACE("bios"),
	INTERFACE("boot"),
	INITIAL("boot_mode", TEXT),
	SERVED("clean_step", OBJECT),
	OPERATORS("conductor_group", TEXT, .standard = ""),
	INITIAL("console_enabled", BOOL),
	INTERFACE("console"),
	INTERFACE("deploy"),
	SERVED("deploy_step", OBJECT),
	TEXT("description", 4096),
	REQUIRED("driver", TEXT),
	MEMBER("driver_info", OBJECT),
	SERVED("driver_internal_info", OBJECT),
	MEMBER("extra", OBJECT),
	SERVED("fault", TEXT),
	SERVED("inspection_finished_at", TIME),
	SERVED("inspection_started_at", TIME),
	INTERFACE("inspect"),
	MEMBER("instance_info", OBJECT),
	MEMBER("instance_uuid", UUID),
	{ .name = "last_error", .kind = BAREMETAL_TEXT, .served = true, .most = LONG_TEXT },
	TEXT("lessee", 255),
	MEMBER("maintenance", BOOL),
	TEXT("maintenance_reason", LONG_TEXT),
	INTERFACE("management"),
	TEXT("name", NAME_MAX_CHARS),
	MEMBER("network_data", OBJECT),
	INTERFACE("network"),
	INTERFACE("power"),
	SERVED("power_state", TEXT),
	MEMBER("properties", OBJECT),
	MEMBER("protected", BOOL),
	TEXT("protected_reason", LONG_TEXT),
	{ .name = "provision_state", .kind = BAREMETAL_TEXT, .served = true, .standard = "enroll" },
	SERVED("provision_updated_at", TIME),
	SERVED("raid_config", OBJECT),
	INTERFACE("raid"),
	INTERFACE("rescue"),
	SERVED("reservation", TEXT),
	TEXT("resource_class", 80),
	MEMBER("retired", BOOL),
	TEXT("retired_reason", LONG_TEXT),
	INITIAL("secure_boot", FLAG),
	OPERATORS("shard", TEXT, .standard = NULL),
	INTERFACE("storage"),
	SERVED("target_power_state", TEXT),
	SERVED("target_provision_state", TEXT),
	SERVED("target_raid_config", OBJECT),
	INTERFACE("vendor"),
	{ .name = "vifs", .kind = BAREMETAL_OBJECT, .served = true, .rare = true },
	SERVED("allocation_uuid", UUID),
	OPERATORS("chassis_uuid", UUID, .standard = NULL),
	{ .name = NULL },
};

const struct baremetal_member baremetal_port_members[] = {
	REQUIRED("address", MAC),
	MEMBER("extra", OBJECT),
	SERVED("internal_info", OBJECT),
	MEMBER("is_smartnic", BOOL),
	MEMBER("local_link_connection", OBJECT),
	TEXT("physical_network", 64),
	{ .name = "pxe_enabled", .kind = BAREMETAL_BOOL, .standard = "true" },
	REQUIRED("node_uuid", UUID),
	MEMBER("portgroup_uuid", UUID),
	{ .name = NULL },
};

const struct baremetal_member baremetal_portgroup_members[] = {
	MEMBER("address", MAC),
	MEMBER("extra", OBJECT),
	SERVED("internal_info", OBJECT),
	{ .name = "mode", .kind = BAREMETAL_TEXT, .standard = "active-backup" },
	TEXT("name", NAME_MAX_CHARS),
	MEMBER("properties", OBJECT),
	{ .name = "standalone_ports_supported", .kind = BAREMETAL_BOOL, .standard = "true" },
	REQUIRED("node_uuid", UUID),
	{ .name = NULL },
};

const struct baremetal_member baremetal_chassis_members[] = {
	TEXT("description", 255),
	MEMBER("extra", OBJECT),
	{ .name = NULL },
};

const struct baremetal_member baremetal_connector_members[] = {
	REQUIRED("connector_id", TEXT),
	MEMBER("extra", OBJECT),
	REQUIRED("node_uuid", UUID),
	REQUIRED("type", TEXT),
	{ .name = NULL },
};

const struct baremetal_member baremetal_target_members[] = {
	REQUIRED("boot_index", INTEGER),
	MEMBER("extra", OBJECT),
	REQUIRED("node_uuid", UUID),
	MEMBER("properties", OBJECT),
	REQUIRED("volume_id", TEXT),
	REQUIRED("volume_type", TEXT),
	{ .name = NULL },
};

const struct baremetal_member baremetal_template_members[] = {
	MEMBER("extra", OBJECT),
	REQUIRED("name", TEXT),
	REQUIRED("steps", ARRAY),
	{ .name = NULL },
};

const struct baremetal_member baremetal_allocation_members[] = {
	MEMBER("candidate_nodes", ARRAY),
	MEMBER("extra", OBJECT),
	{ .name = "last_error", .kind = BAREMETAL_TEXT, .served = true, .most = LONG_TEXT },
	TEXT("name", NAME_MAX_CHARS),
	SERVED("node_uuid", UUID),
	TEXT("resource_class", 80),
	{ .name = "state", .kind = BAREMETAL_TEXT, .served = true, .standard = "allocating" },
	MEMBER("traits", ARRAY),
	{ .name = NULL },
};

const char *const baremetal_provision_states[] = {
	"enroll", "verifying", "manageable", "available", "active", "deploying", "wait call-back", "deploy failed",
	"deploy complete", "deploy hold", "deleting", "deleted", "undeploy", "cleaning", "clean wait", "clean failed",
	"clean hold", "error", "rebuild", "inspecting", "inspect wait", "inspect failed", "adopting", "adopt failed",
	"rescue", "rescuing", "rescue wait", "rescue failed", "unrescuing", "unrescue failed", NULL
};
const char *const baremetal_power_states[] = {
	"power on", "power off", "rebooting", "soft rebooting", "soft power off", "error", NULL
};
const char *const baremetal_faults[] = { "power failure", "clean failure", "rescue abort failure", NULL };
const char *const baremetal_boot_modes[] = { "bios", "uefi", NULL };

const struct baremetal_member *baremetal_member(const struct baremetal_member *members, struct str name)
{
	for (; members->name != NULL; members++) {
		if (str_eq_c(name, members->name))
			return members;
	}
	return NULL;
}

bool baremetal_among(const char *const *words, struct str word)
{
	for (; *words != NULL; words++) {
		if (str_eq_c(word, *words))
			return true;
	}
	return false;
}

// ---- values

struct str baremetal_mac(struct pool *pool, struct str text)
{
	struct buf mac = buf_new(pool, MAC_LENGTH);

	if (text.n != MAC_LENGTH)
		return STR_NONE;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (i % 3 == 2 ? c != ':' : str_hex_digit(c) < 0)
			return STR_NONE;
		buf_addc(&mac, ascii_to_lower(c));
	}
	return buf_str(&mac);
}

bool baremetal_bool_text(struct str text, bool *result)
{
	static const char *const yes[] = { "t", "true", "on", "y", "yes", "1", NULL };
	static const char *const no[] = { "f", "false", "off", "n", "no", "0", NULL };

	for (const char *const *word = yes; *word != NULL; word++) {
		if (str_eq_nocase(text, str_c(*word))) {
			*result = true;
			return true;
		}
	}
	for (const char *const *word = no; *word != NULL; word++) {
		if (str_eq_nocase(text, str_c(*word))) {
			*result = false;
			return true;
		}
	}
	return false;
}

bool baremetal_bool(const struct doc *value, bool *result)
{
	int64_t number;

	switch (doc_kind(value)) {
	case DOC_BOOL:
		*result = doc_bool(value);
		return true;
	case DOC_NUMBER:
		if (!doc_i64(value, &number) || (number != 0 && number != 1))
			return false;
		*result = number == 1;
		return true;
	case DOC_STRING:
		return baremetal_bool_text(doc_string(value), result);
	default:
		return false;
	}
}

bool baremetal_step_priority(const struct doc *value, uint64_t *priority)
{
	return doc_kind(value) == DOC_STRING ? str_to_u64(doc_string(value), priority) : doc_u64(value, priority);
}

bool baremetal_name_ok(struct str name)
{
	struct uuid uuid;

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_alnum(c) && c != '-' && c != '.' &&
		    c != '_' && c != '~')
			return false;
	}
	return name.n > 0 && name.n <= NAME_MAX_CHARS && !uuid_parse(name, &uuid);
}

// Is it a label of a host's name?
static bool is_label(struct str label, bool first)
{
	for (size_t i = 0; i < label.n; i++) {
		char c = label.p[i];
		bool at_end = i == label.n - 1 || (first && i == 0);

		if (!ascii_is_digit(c) && !(c >= 'a' && c <= 'z') && (at_end || (c != '-' && (first || c != '_'))))
			return false;
	}
	return label.n > 0 && label.n <= LABEL_MAX_CHARS;
}

bool baremetal_host_name_ok(struct str name)
{
	bool first = true;

	for (size_t at = 0; at < name.n; first = false) {
		size_t end = str_find(name, '.', at);
		if (!is_label(str_part(name, at, end), first))
			return false;
		at = end + 1;
	}
	return name.n > 0 && name.n <= NAME_MAX_CHARS;
}

// ---- secrets

// Does the text begin with one of the words (NULL ends them)? Case of ASCII letters is ignored.
static bool begins_with(struct str text, const char *const *words)
{
	for (; *words != NULL; words++) {
		size_t n = strlen(*words);
		if (n <= text.n && str_eq_nocase(str_part(text, 0, n), str_n(*words, n)))
			return true;
	}
	return false;
}

bool baremetal_names_secret(struct str name)
{
	// The keys that oslo.utils and Ironic's drivers treat as secrets (snmp_community, snmp_auth_key, ipmi_hex_kg_key,
	// ssh_key_contents …), by their first letters.
	static const char *const words[26][7] = {
		['a' - 'a'] = { "adminpass", "admin_pass", "auth_key", "api_key", "access_key", NULL },
		['c' - 'a'] = { "community", "credential", NULL },
		['e' - 'a'] = { "encrypted_key", NULL },
		['k' - 'a'] = { "kg_key", NULL },
		['p' - 'a'] = { "password", "passphrase", "passwd", "pswd", "private_key", "priv_key", NULL },
		['s' - 'a'] = { "secret", "ssh_key", NULL },
		['t' - 'a'] = { "token", NULL },
	};

	for (size_t at = 0; at < name.n; at++) {
		unsigned letter = (unsigned)(name.p[at] | 0x20) - 'a';
		if (letter < COUNT_OF(words) && words[letter][0] != NULL && begins_with(str_part(name, at, name.n), words[letter]))
			return true;
	}
	return false;
}

// ---- reading and writing a body

struct doc *baremetal_standard(struct pool *pool, const struct baremetal_member *member)
{
	switch (member->kind) {
	case BAREMETAL_BOOL:
		return doc_new_bool(pool, member->standard != NULL);
	case BAREMETAL_OBJECT:
		return doc_new_object(pool);
	case BAREMETAL_ARRAY:
		return doc_new_array(pool);
	default:
		return member->standard != NULL ? doc_new_string(pool, str_c(member->standard)) : NULL;
	}
}

struct str baremetal_text(const struct doc *body, const char *name)
{
	const struct doc *value;

	return doc_get(body, str_c(name), &value) && doc_kind(value) == DOC_STRING ? doc_string(value) : STR_NONE;
}

bool baremetal_true(const struct doc *body, const char *name)
{
	const struct doc *value;

	return doc_get(body, str_c(name), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value);
}

void baremetal_set(struct draft *draft, const char *name, struct doc *value)
{
	doc_set(draft->body, str_c(name), value);
}

struct doc *baremetal_own_instance_info(struct pool *pool, struct doc *body)
{
	const struct doc *info = NULL;

	(void)doc_get(body, STR("instance_info"), &info);
	struct doc *copy = doc_kind(info) == DOC_OBJECT ? doc_copy(pool, info) : doc_new_object(pool);
	doc_set(body, STR("instance_info"), copy);
	return copy;
}

bool baremetal_changes(const struct draft *draft, const struct baremetal_member *members, const char *name)
{
	const struct doc *now, *was;

	doc_get(draft->body, str_c(name), &now);
	if (draft->before == NULL || !doc_get(draft->before, str_c(name), &was))
		was = baremetal_standard(draft->registry->pool, baremetal_member(members, str_c(name)));
	return !doc_equal(was, now);
}

// ---- words for messages

static bool begins_with_vowel(const char *noun)
{
	return strchr("aeiou", noun[0]) != NULL;
}

const char *baremetal_article(const char *noun)
{
	return begins_with_vowel(noun) ? "an" : "a";
}

const char *baremetal_article_first(const char *noun)
{
	return begins_with_vowel(noun) ? "An" : "A";
}

struct str baremetal_excerpt(struct pool *pool, struct str text)
{
	if (text.n <= EXCERPT_MAX)
		return text;
	return str_printf(pool, "%.*s…", STR_HEAD_ARG(text, EXCERPT_MAX));
}

struct str baremetal_list(struct pool *pool, const char *const *words)
{
	struct buf list = buf_new(pool, 128);

	for (size_t i = 0; words[i] != NULL; i++)
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
	return buf_str(&list);
}
