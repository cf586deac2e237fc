// SPDX-License-Identifier: Apache-2.0
// tenure type …, tenure space …: which definition of a type serves a tenant, and what decides that.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/state.h"
#include "cli/core/table.h"
#include "cli/core/text.h"
#include "http/uri.h"

static const struct column type_columns[] = {
	{ "type", "type" }, { "kind", "kind" }, { "tenant", "tenant" }, { "namespaced", "namespaced" },
	{ "versions", "versions" }, { "short", "shortNames" }, { "forced", "forced" }, { "uid", "uid" },
};
enum { TYPE_SHOWN = 5 };
static const struct column effect_columns[] = {
	{ "tenant", "tenant" }, { "type", "type" }, { "from", "from.tenant" }, { "to", "to.tenant" },
	{ "objects", "objects" },
};
static const struct column space_columns[] = {
	{ "tenant", "metadata.name" }, { "policy", "spec.multiTenancyCRDPolicy" }, { "phase", "status.phase" },
	{ "annotations", "metadata.annotations" }, { "uid", "metadata.uid" }, { "etag", "metadata.etag" },
};
enum { SPACE_SHOWN = 4 };
const char *const type_policies[] = { "LocalCRDFirst", "NeverUseSystemCRDUnlessForced", "SystemCRDFirst", NULL };

// ---- calls

static enum tenure_status call(struct cli *cli, struct wish wish, const struct doc *body, const char *type,
	struct answer *got, struct doc **answer)
{
	if (body != NULL) {
		wish.body = doc_text(cli->pool, body);
		wish.type = type;
	}
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, got);
	*answer = NULL;
	return status == TENURE_OK && got->body.n > 0 ? client_parse(cli->client, cli->pool, got->body, answer) : status;
}

#define TENANT_ID "a tenant's id" // for error texts

// Makes "/spaces/acme/types" of rest "/types". Exit code.
static int space_path(struct cli *cli, const char *tenant, const char *rest, struct str *path)
{
	if (tenant == NULL)
		return cli_fail_no_tenant();
	int code = cli_path_below(cli, "/spaces", tenant, TENANT_ID, path);
	*path = str_printf(cli->pool, "%.*s%s", STR_ARG(*path), rest);
	return code;
}

static int get(struct cli *cli, struct str path, const char *label, struct doc **answer)
{
	struct answer got;
	enum tenure_status status = call(cli, (struct wish){ .method = "GET", .path = path }, NULL, NULL, &got, answer);

	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, label);
}

static bool is_given(const struct cli *cli, const char *name)
{
	for (size_t i = 0; i < cli->n_given; i++) {
		if (strcmp(cli->given[i].field->name, name) == 0)
			return true;
	}
	return false;
}

// ---- types

int command_type_list(struct cli *cli)
{
	struct table *table = table_new(cli, type_columns, COUNT_OF(type_columns), TYPE_SHOWN);
	const struct doc *list = NULL;
	struct doc *answer;
	struct str path;
	int code = table != NULL ? space_path(cli, cli->tenant, "/types", &path) : EX_USAGE;

	if (code == EX_OK)
		code = get(cli, path, "types", &answer);
	if (code != EX_OK)
		return code;
	if (!doc_get(answer, STR("types"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of types");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(table, doc_at(list, i));
	return table_print(table);
}

static int explain(struct cli *cli, const char *type, struct doc **answer)
{
	struct str path;
	int code = space_path(cli, cli->tenant, "/types", &path);

	if (code == EX_OK)
		code = cli_path_below(cli, str_cstr(cli->pool, path), type, "a type's name", &path);
	return code == EX_OK ? get(cli, path, str_printf(cli->pool, "type %s", type).p, answer) : code;
}

// Shows the definition that serves the tenant; if none does, why.
static int show_one(struct cli *cli, const char *type, void *table)
{
	const struct doc *answers = NULL, *detail = NULL;
	struct doc *answer, *shown;
	int code = explain(cli, type, &answer);

	if (code != EX_OK)
		return code;
	if (!doc_get(answer, STR("answers"), &answers) || doc_kind(answers) != DOC_OBJECT) {
		doc_get(answer, STR("detail"), &detail);
		struct str text = cli_text(cli->pool, detail);
		return cli_fail(EXIT_NOT_FOUND, "type %s: no definition answers for %s: %.*s", type, cli->tenant, STR_ARG(text));
	}
	shown = doc_new_object(cli->pool);
	doc_set_str(cli->pool, shown, "type", str_c(type));
	for (struct doc_iter it = doc_iter(answers); doc_next(&it);)
		doc_set(shown, it.name, doc_copy(cli->pool, it.value));
	if (table != NULL)
		table_add(table, shown);
	else
		cli_document_print(cli, shown);
	return EX_OK;
}

int command_type_show(struct cli *cli)
{
	return cli_show_each(cli, 0, type_columns, COUNT_OF(type_columns), TYPE_SHOWN, show_one);
}

int command_type_explain(struct cli *cli)
{
	struct doc *answer;
	int code = explain(cli, cli->arguments[0], &answer);

	if (code == EX_OK)
		cli_document_print(cli, answer);
	return code;
}

// ---- lists that are read page by page

// *marker: in: of this page; out: of the next one, from the answer's "continue"; p NULL: there is none. EX_PROTOCOL: it is this page again, so the
// list would be endless.
static int go_on(const struct doc *next, const char *what, struct str *marker)
{
	struct str text = doc_kind(next) == DOC_STRING ? doc_string(next) : STR("");

	if (text.n > 0 && str_eq(text, *marker))
		return cli_fail_no_next_page(what);
	*marker = text.n > 0 ? text : STR_NONE;
	return EX_OK;
}

// ---- effects

struct asking {
	struct str path;
	const struct doc *body;
	struct table *table;
	size_t n;
};

static int add_page(struct asking *asking, const struct doc *answer, struct str *marker)
{
	const struct doc *list = NULL, *next = NULL;

	if (!doc_get(answer, STR("effects"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of effects");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(asking->table, doc_at(list, i));
	asking->n += doc_length(list);
	doc_get(answer, STR("continue"), &next);
	return go_on(next, "effects", marker);
}

// *status: how the calls ended.
static int read_effects(struct cli *cli, struct asking *asking, enum tenure_status *status)
{
	struct str marker = STR("");
	int code = EX_OK;

	while (code == EX_OK && marker.p != NULL) {
		struct buf path = buf_new(cli->pool, 128);
		struct answer got;
		struct doc *answer;
		buf_add(&path, asking->path);
		BUF_LIT(&path, "?continue=");
		uri_add_value(&path, marker);
		*status = call(cli, (struct wish){ .method = "POST", .path = buf_str(&path) }, asking->body, "application/json",
			&got, &answer);
		if (*status != TENURE_OK)
			return EX_OK;
		code = add_page(asking, answer, &marker);
	}
	return code;
}

// Shows what this change of the object would do. If the object does not exist, the change would create it.
static int tell_effect(struct cli *cli, const char *tenant, const char *label, const char *operation,
	const struct doc *object)
{
	struct asking asking = { .table = table_new(cli, effect_columns, COUNT_OF(effect_columns),
		COUNT_OF(effect_columns)) };
	enum tenure_status status = TENURE_OK;
	bool replaces = strcmp(operation, "replace") == 0;
	struct doc *body = doc_new_object(cli->pool);
	int code = asking.table != NULL ? space_path(cli, tenant, "/effect", &asking.path) : EX_USAGE;

	doc_set_str(cli->pool, body, "operation", str_c(operation));
	doc_set(body, STR("object"), doc_copy(cli->pool, object));
	asking.body = body;
	if (code == EX_OK)
		code = read_effects(cli, &asking, &status);
	if (code == EX_OK && status == TENURE_NOT_FOUND && replaces) {
		doc_set_str(cli->pool, body, "operation", STR("create"));
		code = read_effects(cli, &asking, &status);
	}
	if (code == EX_OK && status != TENURE_OK)
		code = cli_fail_status(cli, status, label);
	if (code != EX_OK)
		return code;
	code = table_print(asking.table);
	if (code == EX_OK && asking.n == 0)
		change_announce_done(cli, label, "no tenant gets another definition");
	return code;
}

static int read_definition(struct cli *cli, bool deletes, struct doc **object)
{
	int code = cli_input_document(cli, 1, object);

	if (code != EX_OK)
		return code;
	if (deletes == (*object != NULL))
		return cli_fail(EX_USAGE, "what is to become of it? One of --delete, --file, --patch and MEMBER=VALUE");
	if (*object == NULL)
		*object = doc_new_object(cli->pool);
	return doc_kind(*object) == DOC_OBJECT ? EX_OK : cli_fail(EX_DATAERR, "the document has to be an object: { … }");
}

int command_type_effect(struct cli *cli)
{
	const char *name = cli->arguments[0], *label = str_printf(cli->pool, "type %s", name).p;
	bool deletes = is_given(cli, "--delete");
	struct doc *object;
	int code = str_utf8_ok(str_c(name), NULL) ? read_definition(cli, deletes, &object) :
		cli_fail_encoding("the name");

	if (code != EX_OK)
		return code;
	doc_set_str(cli->pool, object, "kind", STR("CustomResourceDefinition"));
	doc_set_path(cli->pool, object, STR("metadata.name"), doc_new_string(cli->pool, str_c(name)));
	return tell_effect(cli, cli->tenant, label,
		deletes ? "delete" : cli->options[OPT_FILE] != NULL ? "replace" : "patch", object);
}

// ---- spaces

// *marker: as of go_on(). Exit code.
static int list_page(struct cli *cli, struct table *table, struct str *marker)
{
	const struct doc *list = NULL, *next = NULL;
	struct buf path = buf_new(cli->pool, 128);
	struct doc *answer;

	BUF_LIT(&path, "/api/v1/tenants?limit=500&continue=");
	uri_add_value(&path, *marker);
	int code = get(cli, buf_str(&path), "spaces", &answer);
	if (code != EX_OK)
		return code;
	if (!doc_get(answer, STR("items"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of tenants");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(table, doc_at(list, i));
	doc_at_path(answer, STR("metadata.continue"), &next);
	return go_on(next, "tenants", marker);
}

int command_space_list(struct cli *cli)
{
	struct table *table = table_new(cli, space_columns, COUNT_OF(space_columns), SPACE_SHOWN);
	struct str marker = STR("");
	int code = table != NULL ? EX_OK : EX_USAGE;

	while (code == EX_OK && marker.p != NULL)
		code = list_page(cli, table, &marker);
	if (code == EX_OK)
		code = table_print(table);
	return code;
}

static int show_space(struct cli *cli, const char *tenant, void *table)
{
	struct answer got;
	struct doc *answer;
	struct str path;
	int code = cli_path_below(cli, "/api/v1/tenants", tenant, TENANT_ID, &path);

	if (code != EX_OK)
		return code;
	enum tenure_status status = call(cli, (struct wish){ .method = "GET", .path = path }, NULL, NULL, &got, &answer);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, str_printf(cli->pool, "space %s", tenant).p);
	if (got.etag.n > 0)
		cli_state_save(cli, str_cstr(cli->pool, path), str_cstr(cli->pool, got.etag), got.body);
	if (table != NULL)
		table_add(table, answer);
	else
		cli_document_print(cli, answer);
	return EX_OK;
}

int command_space_show(struct cli *cli)
{
	struct table *table;

	if (cli->n_arguments > 0)
		return cli_show_each(cli, 0, space_columns, COUNT_OF(space_columns), SPACE_SHOWN, show_space);
	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	if (!table_wanted(cli, space_columns, COUNT_OF(space_columns), SPACE_SHOWN, &table))
		return EX_USAGE;
	int code = show_space(cli, cli->tenant, table);
	if (table != NULL)
		return cli_first_failure(code, table_print(table));
	return code;
}

static int check_policy(const char *policy)
{
	for (const char *const *known = type_policies; *known != NULL; known++) {
		if (strcmp(policy, *known) == 0)
			return EX_OK;
	}
	return cli_fail(EX_USAGE, "\"%s\" is no policy: it is %s, %s or %s", policy, type_policies[0], type_policies[1],
		type_policies[2]);
}

static int set_policy(struct cli *cli, const char *tenant, const char *label, const struct doc *patch)
{
	struct wish wish = { .method = "PATCH" };
	struct answer got;
	struct doc *answer;
	int code = cli_path_below(cli, "/api/v1/tenants", tenant, TENANT_ID, &wish.path);

	if (code != EX_OK)
		return code;
	const char *path = str_cstr(cli->pool, wish.path);
	if (cli->options[OPT_ETAG] != NULL)
		code = cli_etag_given(cli, path, label, &wish.if_match);
	if (code != EX_OK)
		return code;
	enum tenure_status status = call(cli, wish, patch, "application/merge-patch+json", &got, &answer);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, label);
	if (got.etag.n > 0)
		cli_state_save(cli, path, str_cstr(cli->pool, got.etag), got.body);
	change_announce_done(cli, label, "done");
	if (cli->format_given)
		cli_document_print(cli, answer);
	return EX_OK;
}

int command_policy_set(struct cli *cli)
{
	const char *tenant = cli->arguments[0], *label = str_printf(cli->pool, "space %s", tenant).p;
	struct doc *patch = doc_new_object(cli->pool);
	int code = check_policy(cli->arguments[1]);

	if (code == EX_OK && !str_utf8_ok(str_c(tenant), NULL))
		code = cli_fail_encoding("the tenant's name");
	if (code != EX_OK)
		return code;
	doc_set_path(cli->pool, patch, STR("spec.multiTenancyCRDPolicy"),
		doc_new_string(cli->pool, str_c(cli->arguments[1])));
	if (!is_given(cli, "--dry-run"))
		return set_policy(cli, tenant, label, patch);
	doc_set_str(cli->pool, patch, "kind", STR("Tenant"));
	doc_set_path(cli->pool, patch, STR("metadata.name"), doc_new_string(cli->pool, str_c(tenant)));
	return tell_effect(cli, tenant, label, "patch", patch);
}
