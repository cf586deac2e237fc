// SPDX-License-Identifier: Apache-2.0
// The options that stand for members of bare metal and placement, and the documents, JSON Patches and filters made of them.
#include "base/base.h"

#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"

#define USE_MAKE (USE_CREATE | USE_SET)
#define USE_CHANGE (USE_MAKE | USE_UNSET)

#define FIELD_EXTRA { "--extra", "extra", FIELD_KEYS, USE_CHANGE, "KEY=VALUE", "a note of your own; repeatable" }
#define FIELD_UUID { "--uuid", "uuid", FIELD_TEXT, USE_CREATE, "UUID", "its UUID; by default the service generates one" }
#define FIELD_INTERFACE(kind) { "--" kind "-interface", kind "_interface", FIELD_TEXT, USE_CHANGE, "NAME", \
	"its " kind " interface; unset, the driver's default" }

static const struct field node_fields[] = {
	FIELD_UUID,
	{ "--name", "name", FIELD_TEXT, USE_CHANGE, "NAME", "its name" },
	{ "--driver", "driver", FIELD_TEXT, USE_MAKE | USE_LIST, "NAME", "its driver: \"tenure driver list\"" },
	{ "--driver-info", "driver_info", FIELD_KEYS, USE_CHANGE, "KEY=VALUE", "a setting of its driver; repeatable" },
	{ "--property", "properties", FIELD_KEYS, USE_CHANGE, "KEY=VALUE", "a property of its hardware; repeatable" },
	FIELD_EXTRA,
	{ "--instance-info", "instance_info", FIELD_KEYS, USE_CHANGE, "KEY=VALUE", "a fact about its instance; repeatable" },
	{ "--instance-uuid", "instance_uuid", FIELD_TEXT, USE_CHANGE, "UUID", "the UUID of the instance deployed on it" },
	{ "--instance", "instance_uuid", FIELD_TEXT, USE_SHOW, "UUID", "the node with this instance" },
	{ "--chassis-uuid", "chassis_uuid", FIELD_TEXT, USE_CHANGE | USE_LIST, "UUID", "its chassis" },
	{ "--resource-class", "resource_class", FIELD_TEXT, USE_CHANGE | USE_LIST, "NAME", "its resource class" },
	{ "--description", "description", FIELD_TEXT, USE_CHANGE, "TEXT", "a description for people" },
	{ "--description-contains", "description_contains", FIELD_TEXT, USE_LIST, "TEXT", "with this text in the description" },
	{ "--owner", "owner", FIELD_TEXT, USE_CHANGE | USE_LIST, "TENANT", "the tenant that owns it; another tenant moves it" },
	{ "--lessee", "lessee", FIELD_TEXT, USE_CHANGE | USE_LIST, "TENANT", "the tenant it is lent to" },
	{ "--conductor-group", "conductor_group", FIELD_TEXT, USE_CHANGE | USE_LIST, "NAME", "its conductor group" },
	{ "--shard", "shard", FIELD_TEXT, USE_CHANGE | USE_LIST, "NAME", "its shard" },
	{ "--maintenance", "maintenance", FIELD_BOOL, USE_MAKE | USE_LIST, "true|false", "whether it is in maintenance" },
	{ "--protected", "protected", FIELD_BOOL, USE_CHANGE, "true|false", "whether it is protected from deletion" },
	{ "--protected-reason", "protected_reason", FIELD_TEXT, USE_CHANGE, "TEXT", "why it is protected" },
	{ "--retired", "retired", FIELD_BOOL, USE_CHANGE | USE_LIST, "true|false", "whether it is retired" },
	{ "--retired-reason", "retired_reason", FIELD_TEXT, USE_CHANGE, "TEXT", "why it is retired" },
	{ "--automated-clean", "automated_clean", FIELD_BOOL, USE_CHANGE, "true|false", "whether it is cleaned between instances" },
	{ "--network-data", "network_data", FIELD_JSON, USE_CHANGE, "JSON", "its static network data" },
	FIELD_INTERFACE("bios"), FIELD_INTERFACE("boot"), FIELD_INTERFACE("console"), FIELD_INTERFACE("deploy"),
	FIELD_INTERFACE("inspect"), FIELD_INTERFACE("management"), FIELD_INTERFACE("network"), FIELD_INTERFACE("power"),
	FIELD_INTERFACE("raid"), FIELD_INTERFACE("rescue"), FIELD_INTERFACE("storage"), FIELD_INTERFACE("vendor"),
	{ "--associated", "associated", FIELD_BOOL, USE_LIST, "true|false", "whether it has an instance" },
	{ "--provision-state", "provision_state", FIELD_TEXT, USE_LIST, "STATE", "in this provision state" },
	{ "--fault", "fault", FIELD_TEXT, USE_LIST, "FAULT", "with this fault" },
	{ "--conductor", "conductor", FIELD_TEXT, USE_LIST, "HOST", "managed by this conductor" },
	{ .name = NULL },
};

static const struct field port_fields[] = {
	FIELD_UUID,
	{ "--address", "address", FIELD_TEXT, USE_MAKE | USE_LIST | USE_SHOW, "MAC", "its MAC address" },
	{ "--node", "node_uuid", FIELD_TEXT, USE_MAKE, "UUID", "its node" },
	{ "--node", "node", FIELD_TEXT, USE_LIST, "NODE", "of this node, by UUID or name" },
	{ "--port-group", "portgroup_uuid", FIELD_TEXT, USE_CHANGE, "UUID", "its port group" },
	{ "--port-group", "portgroup", FIELD_TEXT, USE_LIST, "GROUP", "of this port group, by UUID or name" },
	{ "--local-link-connection", "local_link_connection", FIELD_TEXTS, USE_CHANGE, "KEY=VALUE",
		"the switch port: switch_id, port_id, switch_info; repeatable" },
	{ "--physical-network", "physical_network", FIELD_TEXT, USE_CHANGE, "NAME", "the physical network it is connected to" },
	{ "--pxe-enabled", "pxe_enabled", FIELD_BOOL, USE_CHANGE, "true|false", "whether the node may boot from it" },
	{ "--is-smartnic", "is_smartnic", FIELD_BOOL, USE_CHANGE, "true|false", "whether it belongs to a Smart NIC" },
	FIELD_EXTRA,
	{ .name = NULL },
};

static const struct field portgroup_fields[] = {
	FIELD_UUID,
	{ "--name", "name", FIELD_TEXT, USE_CHANGE, "NAME", "its name" },
	{ "--address", "address", FIELD_TEXT, USE_CHANGE | USE_LIST | USE_SHOW, "MAC", "its MAC address" },
	{ "--node", "node_uuid", FIELD_TEXT, USE_MAKE, "UUID", "its node" },
	{ "--node", "node", FIELD_TEXT, USE_LIST, "NODE", "of this node, by UUID or name" },
	{ "--mode", "mode", FIELD_TEXT, USE_MAKE, "MODE", "the bonding mode; default active-backup" },
	{ "--property", "properties", FIELD_KEYS, USE_CHANGE, "KEY=VALUE", "a property of the mode; repeatable" },
	{ "--standalone-ports", "standalone_ports_supported", FIELD_BOOL, USE_CHANGE, "true|false",
		"whether its ports also work alone" },
	FIELD_EXTRA,
	{ .name = NULL },
};

static const struct field chassis_fields[] = {
	FIELD_UUID,
	{ "--description", "description", FIELD_TEXT, USE_CHANGE, "TEXT", "a description for people" },
	FIELD_EXTRA,
	{ .name = NULL },
};

static const struct field trait_fields[] = {
	{ "--starts-with", "name", FIELD_TEXT, USE_LIST, "PREFIX", "whose names begin with this" },
	{ "--name-in", "name", FIELD_TEXT, USE_LIST, "NAME,…", "only these, if they exist" },
	{ "--associated", "associated", FIELD_BOOL, USE_LIST, "true|false", "whether a provider has it" },
	{ "--deprecated", "deprecated", FIELD_BOOL, USE_SET, "true|false", "whether its use is discouraged" },
	{ .name = NULL },
};

static const struct field provider_fields[] = {
	{ "--name", "name", FIELD_TEXT, USE_LIST | USE_SET, "NAME", "its name" },
	{ "--uuid", "uuid", FIELD_TEXT, USE_LIST | USE_CREATE, "UUID", "its UUID; by default the service generates one" },
	{ "--parent", "parent_provider_uuid", FIELD_TEXT, USE_MAKE, "PROVIDER|none", "its parent" },
	{ "--in-tree", "in_tree", FIELD_TEXT, USE_LIST, "PROVIDER", "in the tree of this provider" },
	{ "--member-of", "member_of", FIELD_ANY_OF, USE_LIST, "UUID,…", "in one of these aggregates; repeated: of each list" },
	{ "--not-member-of", "member_of", FIELD_NONE_OF, USE_LIST, "UUID,…", "in none of these aggregates" },
	{ "--required", "required", FIELD_ANY_OF, USE_LIST, "TRAIT,…", "with one of these traits; repeated: of each list" },
	{ "--forbidden", "required", FIELD_NONE_OF, USE_LIST, "TRAIT,…", "with none of these traits" },
	{ "--resource", "resources", FIELD_AMOUNTS, USE_LIST, "CLASS=N", "with at least N free; repeatable" },
	{ .name = NULL },
};

// Switches that the commands evaluate themselves.
static const struct field type_fields[] = {
	{ "--delete", NULL, FIELD_TEXT, USE_SET, "", "show what its deletion would do" },
	{ .name = NULL },
};
static const struct field space_fields[] = {
	{ "--dry-run", NULL, FIELD_TEXT, USE_SET, "", "show what would change; change nothing" },
	{ .name = NULL },
};

static const struct field changes_fields[] = {
	{ "--after", NULL, FIELD_TEXT, USE_LIST, "ID", "begin behind this change" },
	{ "--newest", NULL, FIELD_TEXT, USE_LIST, "", "list the newest first" },
	{ "--follow", NULL, FIELD_TEXT, USE_LIST, "", "show the last ten, then each new one until interrupted" },
	{ "--all-tenants", NULL, FIELD_TEXT, USE_LIST, "", "the changes of all tenants; for operators" },
	{ "--actor", "actor", FIELD_TEXT, USE_LIST, "USER", "made by this user" },
	{ "--verb", "verb", FIELD_TEXT, USE_LIST, "VERB", "created, updated, deleted, recovered, moved or purged" },
	{ "--type", "type", FIELD_TEXT, USE_LIST, "TYPE", "of resources of this type" },
	{ "--resource", "resource", FIELD_TEXT, USE_LIST, "RESOURCE", "of this resource: a uid, or a path as shown" },
	{ "--from", "from", FIELD_TIME, USE_LIST, "TIME", "at or after this time, such as 2026-11-21T05:24:00Z" },
	{ "--to", "to", FIELD_TIME, USE_LIST, "TIME", "before this time" },
	{ "--text", "text", FIELD_TEXT, USE_LIST, "TEXT", "with this text in the user, namespace, name or fields" },
	{ .name = NULL },
};

static const struct field usage_fields[] = {
	{ "--all-tenants", NULL, FIELD_TEXT, USE_LIST, "", "print the usage of all tenants; for operators" },
	{ "--from", "from", FIELD_TIME, USE_LIST, "TIME", "begin at this time, such as 2026-11-01T00:00:00Z (default: 30 days before --to)" },
	{ "--to", "to", FIELD_TIME, USE_LIST, "TIME", "end at this time (default: now)" },
	{ "--step", "step", FIELD_TEXT, USE_LIST, "period|hour|day|month", "print a row for each of these (default: period)" },
	{ "--type", "type", FIELD_TEXT, USE_LIST, "TYPE", "print only this type" },
	{ .name = NULL },
};

static const struct field count_fields[] = {
	{ "--all-tenants", NULL, FIELD_TEXT, USE_LIST, "", "count the resources of each tenant; for operators" },
	{ .name = NULL },
};

static const struct field find_fields[] = {
	{ "--type", "type", FIELD_TEXT, USE_LIST, "TYPE", "only resources of this type, a custom one with its group" },
	{ "--newest", NULL, FIELD_TEXT, USE_LIST, "", "list those first that were created last" },
	{ .name = NULL },
};

static const struct field import_fields[] = {
	{ "--type", NULL, FIELD_TEXT, USE_LIST, "TYPE", "the type of all rows; by default each row names its own" },
	{ "--skip", NULL, FIELD_TEXT, USE_LIST, "N", "skip the first N rows" },
	{ "--dry-run", NULL, FIELD_TEXT, USE_LIST, "", "tell what would be done; change nothing" },
	{ .name = NULL },
};

static const struct field token_fields[] = {
	{ "--role", "role", FIELD_TEXT, USE_CREATE, "ROLE", "reader, member or admin, by default member; of system operator alone" },
	{ "--expires", "expires_at", FIELD_TIME, USE_CREATE, "TIME", "the time at which it ends, such as 2030-11-21T05:24:00Z" },
	{ "--description", "description", FIELD_TEXT, USE_CREATE, "TEXT", "what it is for" },
	{ .name = NULL },
};

static const struct { const char *noun; const struct field *fields; } nouns[] = {
	{ "node", node_fields }, { "port", port_fields }, { "portgroup", portgroup_fields }, { "chassis", chassis_fields },
	{ "trait", trait_fields }, { "provider", provider_fields }, { "type", type_fields }, { "space", space_fields },
	{ "changes", changes_fields }, { "usage", usage_fields }, { "count", count_fields }, { "find", find_fields }, { "import", import_fields },
	{ "token", token_fields },
};
static const struct { const char *verb; enum field_use use; } verbs[] = {
	{ "list", USE_LIST }, { "show", USE_SHOW }, { "create", USE_CREATE }, { "set", USE_SET }, { "unset", USE_UNSET },
	{ "describe", USE_SET }, { "effect", USE_SET }, { "policy set", USE_SET },
};

// A noun that is a command by itself lists.
static unsigned use_of(const struct command *command)
{
	if (command->verb == NULL)
		return USE_LIST;
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (strcmp(verbs[i].verb, command->verb) == 0)
			return verbs[i].use;
	}
	return 0;
}

const struct field *field_next(const struct command *command, const struct field *after)
{
	const struct field *field = after != NULL ? after + 1 : NULL;

	for (size_t i = 0; i < COUNT_OF(nouns) && field == NULL; i++) {
		if (strcmp(nouns[i].noun, command->noun) == 0)
			field = nouns[i].fields;
	}
	while (field != NULL && field->name != NULL && (field->uses & use_of(command)) == 0)
		field++;
	return field != NULL && field->name != NULL ? field : NULL;
}

struct str field_takes(const struct command *command, const struct field *field)
{
	struct str value = str_c(field->value);

	if (use_of(command) != USE_UNSET)
		return value;
	return field->kind == FIELD_KEYS || field->kind == FIELD_TEXTS ? str_part(value, 0, str_find(value, '=', 0)) : STR("");
}

// ---- values

// Parses the value that a field was given. A field of kind FIELD_KEYS is given as KEY=VALUE, where a VALUE that is JSON counts as
// JSON: in cpus=4 it is a number. In port_id=1, of the kind FIELD_TEXTS, it is a text. *key is the KEY; STR_NONE for fields of other
// kinds.
static int read_value(struct cli *cli, const struct given *given, struct str *key, struct doc **value)
{
	struct str text = str_c(given->value), unused;
	size_t equals = str_find(text, '=', 0);

	*key = STR_NONE;
	if (!str_utf8_ok(text, NULL))
		return cli_fail_encoding(given->field->name);
	switch (given->field->kind) {
	case FIELD_BOOL:
		if (!str_eq(text, STR("true")) && !str_eq(text, STR("false")))
			return cli_fail(EX_USAGE, "%s is true or false, not \"%s\"", given->field->name, given->value);
		*value = doc_new_bool(cli->pool, str_eq(text, STR("true")));
		return EX_OK;
	case FIELD_TIME:
		text = str_c(cli_time(cli->pool, given->value));
		break;
	case FIELD_JSON:
		return cli_input_parse(cli, text, given->field->name, value);
	case FIELD_KEYS:
	case FIELD_TEXTS:
		*key = str_part(text, 0, equals);
		if (equals == text.n || equals == 0)
			return cli_fail(EX_USAGE, "%s takes KEY=VALUE, not \"%s\"", given->field->name, given->value);
		text = str_part(text, equals + 1, text.n);
		if (given->field->kind == FIELD_KEYS && doc_parse_json(cli->pool, text, (struct doc_limits){ 200, 0 }, value, &unused))
			return EX_OK;
		break;
	case FIELD_TEXT:
	case FIELD_ANY_OF:
	case FIELD_NONE_OF:
	case FIELD_AMOUNTS:
		break;
	}
	*value = doc_new_string(cli->pool, text);
	return EX_OK;
}

int fields_document(struct cli *cli, size_t first, struct doc **document)
{
	struct str key;
	struct doc *value;
	int code = cli_input_document(cli, first, document);

	if (code == EX_OK && *document == NULL)
		*document = doc_new_object(cli->pool);
	if (code == EX_OK && doc_kind(*document) != DOC_OBJECT)
		return cli_fail(EX_DATAERR, "the document has to be an object: { … }");
	for (size_t i = 0; i < cli->n_given && code == EX_OK; i++) {
		const struct doc *old = NULL;
		struct str member = str_c(cli->given[i].field->member);
		code = read_value(cli, &cli->given[i], &key, &value);
		if (code == EX_OK && key.p != NULL) {
			struct doc *object = doc_get(*document, member, &old) && doc_kind(old) == DOC_OBJECT
				? doc_copy(cli->pool, old) : doc_new_object(cli->pool);
			doc_set(object, key, value);
			value = object;
		}
		if (code == EX_OK)
			doc_set(*document, member, value);
	}
	return code;
}

// Makes "!A,!B" of traits, "!in:A,B" of aggregates.
static struct str none_of(struct cli *cli, const struct given *given)
{
	struct buf out = buf_new(cli->pool, 64);
	struct str rest = str_c(given->value), item;

	if (strcmp(given->field->member, "member_of") == 0)
		return str_printf(cli->pool, "!in:%s", given->value);
	while (str_split(&rest, ',', &item))
		buf_addf(&out, "%s!%.*s", out.n > 0 ? "," : "", STR_ARG(item));
	return buf_str(&out);
}

// Makes one parameter of all amounts: "VCPU:2,MEMORY_MB:512".
static struct str amounts(struct cli *cli, const struct field *field)
{
	struct buf out = buf_new(cli->pool, 64);

	for (size_t i = 0; i < cli->n_given; i++) {
		struct str text = str_c(cli->given[i].value);
		size_t equals = str_find(text, '=', 0);
		struct str class = str_part(text, 0, equals), amount = str_part(text, equals + 1, text.n);
		if (cli->given[i].field == field)
			buf_addf(&out, "%s%.*s:%.*s", out.n > 0 ? "," : "", STR_ARG(class), STR_ARG(amount));
	}
	return buf_str(&out);
}

// The parameter's text as the API wants it; STR_NONE: an earlier option has included it.
static struct str filter_text(struct cli *cli, size_t index)
{
	const struct given *given = &cli->given[index];

	switch (given->field->kind) {
	case FIELD_ANY_OF:
		return strchr(given->value, ',') != NULL ? str_printf(cli->pool, "in:%s", given->value) : str_c(given->value);
	case FIELD_NONE_OF:
		return none_of(cli, given);
	case FIELD_AMOUNTS:
		for (size_t i = 0; i < index; i++) {
			if (cli->given[i].field == given->field)
				return STR_NONE;
		}
		return amounts(cli, given->field);
	default:
		return str_c(given->value);
	}
}

int fields_filter(struct cli *cli, struct tenure_list *list)
{
	struct str key;
	struct doc *value;

	for (size_t i = 0; i < cli->n_given; i++) {
		int code = read_value(cli, &cli->given[i], &key, &value);
		struct str text = filter_text(cli, i);
		if (code != EX_OK)
			return code;
		if (text.p != NULL && !tenure_list_filter(list, cli->given[i].field->member, str_cstr(cli->pool, text)))
			return cli_fail_encoding(cli->given[i].field->name);
	}
	return EX_OK;
}

// ---- JSON Patches: "add", which also replaces, and "remove"

static void add_operation(struct cli *cli, struct doc *patch, struct str path, bool adds, struct doc *value)
{
	struct doc *operation = doc_new_object(cli->pool);

	doc_set_str(cli->pool, operation, "op", adds ? STR("add") : STR("remove"));
	doc_set_str(cli->pool, operation, "path", path);
	if (adds)
		doc_set(operation, STR("value"), value);
	doc_push(patch, operation);
}

static int add_given(struct cli *cli, struct doc *patch, const struct given *given)
{
	struct buf path = buf_new(cli->pool, 64);
	struct doc *value = NULL;
	struct str key = STR_NONE;
	bool unset = use_of(cli->command) == USE_UNSET;

	if (unset && given->value != NULL) {
		key = str_c(given->value);
		if (!str_utf8_ok(key, NULL))
			return cli_fail_encoding(given->field->name);
	}
	int code = unset ? EX_OK : read_value(cli, given, &key, &value);
	if (code != EX_OK)
		return code;
	pointer_add_token(&path, str_c(given->field->member));
	if (key.p != NULL)
		pointer_add_token(&path, key);
	add_operation(cli, patch, buf_str(&path), !unset, value);
	return EX_OK;
}

// "extra.rack=7", "extra.rack:=null"; for unset "extra.rack". A member with dots in its name needs an option or --patch.
static int add_argument(struct cli *cli, struct doc *patch, const char *word)
{
	struct buf path = buf_new(cli->pool, 64);
	struct str name = str_c(word), token;
	struct doc *value = NULL;
	bool unset = use_of(cli->command) == USE_UNSET;

	if (!unset && !cli_input_assignment(cli, word, &name, &value))
		return EX_USAGE;
	if (name.n == 0 || !str_utf8_ok(name, NULL))
		return cli_fail(EX_USAGE, "\"%s\" is no member", word);
	while (str_split(&name, '.', &token))
		pointer_add_token(&path, token);
	add_operation(cli, patch, buf_str(&path), !unset && doc_kind(value) != DOC_NULL, value);
	return EX_OK;
}

static int read_patch(struct cli *cli, struct doc **patch)
{
	struct str error;
	int code = cli_input_parse(cli, str_c(cli->options[OPT_PATCH]), "--patch", patch);

	if (code == EX_OK && !doc_json_patch_check(cli->pool, *patch, &error))
		return cli_fail(EX_DATAERR, "--patch: %.*s", STR_ARG(error));
	return code;
}

int fields_patch(struct cli *cli, size_t first, struct doc **patch)
{
	int code = EX_OK;

	if (cli->options[OPT_PATCH] != NULL) {
		if (cli->n_given > 0 || cli->n_arguments > first)
			return cli_fail(EX_USAGE, "--patch says all of a change: no other option or argument for it");
		return read_patch(cli, patch);
	}
	*patch = doc_new_array(cli->pool);
	for (size_t i = 0; i < cli->n_given && code == EX_OK; i++)
		code = add_given(cli, *patch, &cli->given[i]);
	for (size_t i = first; i < cli->n_arguments && code == EX_OK; i++)
		code = add_argument(cli, *patch, cli->arguments[i]);
	if (code == EX_OK && doc_length(*patch) == 0)
		return cli_fail(EX_USAGE, "what is to be changed? See \"tenure help %s %s\"", cli->command->noun,
			cli->command->verb);
	return code;
}
