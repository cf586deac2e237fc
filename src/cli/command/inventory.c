// SPDX-License-Identifier: Apache-2.0
// tenure provider inventory … and usages: how much a provider has of each class, and how much of that is in use.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/command/commands.h"
#include "cli/command/placement.h"
#include "cli/command/provider_part.h"
#include "cli/core/cli.h"
#include "cli/core/table.h"

static const struct column inventory_columns[] = {
	{ "class", "class" }, { "total", "total" }, { "reserved", "reserved" }, { "used", "used" },
	{ "ratio", "allocation_ratio" }, { "min", "min_unit" }, { "max", "max_unit" }, { "step", "step_size" },
};
static const struct column usage_columns[] = {
	{ "class", "class" }, { "used", "used" }, { "capacity", "capacity" }, { "free", "free" },
};

static const char *const fields[] = { "total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio" };

// ---- lists

static int read_usages(struct cli *cli, const struct provider *provider, const struct doc **usages)
{
	struct doc *answer;
	enum tenure_status status = cli_placement_call(cli, (struct wish){ .method = "GET",
		.path = str_printf(cli->pool, "/resource_providers/%s/usages", provider->uuid) }, NULL, &answer, NULL);

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, provider->label);
	if (!doc_get(answer, STR("usages"), usages))
		return cli_fail(EX_PROTOCOL, "%s: the answer has no usages", provider->label);
	return EX_OK;
}

static double number(struct cli *cli, const struct doc *object, const char *name)
{
	const struct doc *value;

	return doc_get(object, str_c(name), &value) && doc_kind(value) == DOC_NUMBER
		? strtod(str_cstr(cli->pool, doc_number_text(cli->pool, value)), NULL) : 0;
}

// Adds the capacity, and what is left of it, which is negative if the capacity was lowered below what is used.
static void add_capacity(struct cli *cli, struct doc *row)
{
	double capacity = (number(cli, row, "total") - number(cli, row, "reserved")) * number(cli, row, "allocation_ratio");

	if (!(capacity > -9e18 && capacity < 9e18))
		return;
	doc_set(row, STR("capacity"), doc_new_i64(cli->pool, (int64_t)capacity));
	doc_set(row, STR("free"), doc_new_i64(cli->pool, (int64_t)capacity - (int64_t)number(cli, row, "used")));
}

static void add_rows(struct cli *cli, struct table *table, const struct doc *inventories, const struct doc *usages)
{
	const struct doc *used;

	for (struct doc_iter it = doc_iter(inventories); doc_next(&it);) {
		struct doc *row = doc_new_object(cli->pool);
		doc_set_str(cli->pool, row, "class", it.name);
		for (struct doc_iter member = doc_iter(it.value); doc_next(&member);)
			doc_set(row, member.name, doc_copy(cli->pool, member.value));
		if (doc_get(usages, it.name, &used))
			doc_set(row, STR("used"), doc_copy(cli->pool, used));
		add_capacity(cli, row);
		table_add(table, row);
	}
}

static int list(struct cli *cli, const struct column *known, size_t n_known)
{
	struct table *table = table_new(cli, known, n_known, n_known);
	const struct doc *usages = NULL;
	struct provider provider;
	struct doc *content = NULL;

	if (table == NULL)
		return EX_USAGE;
	int code = provider_find(cli, cli->arguments[0], &provider);
	if (code == EX_OK)
		code = part_show(cli, &provider, &part_inventories, &content);
	if (code == EX_OK)
		code = read_usages(cli, &provider, &usages);
	if (code != EX_OK)
		return code;
	add_rows(cli, table, content, usages);
	return table_print(table);
}

int command_inventory_list(struct cli *cli)
{
	return list(cli, inventory_columns, COUNT_OF(inventory_columns));
}

int command_provider_usages(struct cli *cli)
{
	return list(cli, usage_columns, COUNT_OF(usage_columns));
}

// ---- changes

static bool is_field(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		if (str_eq_c(name, fields[i]))
			return true;
	}
	return false;
}

// Parses "VCPU=8" or "VCPU:reserved=2". False: an error was printed.
static bool read_argument(struct cli *cli, const char *word, struct str *class, struct str *field, struct doc **value)
{
	struct str text = str_c(word), unused;
	size_t equals = str_find(text, '=', 0);
	struct str name = str_part(text, 0, equals);
	size_t colon = str_find(name, ':', 0);

	*class = str_part(name, 0, colon);
	*field = colon < name.n ? str_part(name, colon + 1, name.n) : STR("total");
	if (equals == text.n || class->n == 0 || !str_utf8_ok(text, NULL)) {
		cli_fail(EX_USAGE, "\"%s\" is not CLASS=TOTAL or CLASS:FIELD=NUMBER", word);
		return false;
	}
	if (!is_field(*field)) {
		cli_fail(EX_USAGE, "\"%s\": a field is total, reserved, min_unit, max_unit, step_size or allocation_ratio", word);
		return false;
	}
	if (!doc_parse_json(cli->pool, str_part(text, equals + 1, text.n), (struct doc_limits){ 1, 0 }, value, &unused) ||
		doc_kind(*value) != DOC_NUMBER) {
		cli_fail(EX_USAGE, "\"%s\": behind \"=\" there has to be a number", word);
		return false;
	}
	return true;
}

// Makes {CLASS: {FIELD: NUMBER}}, a merge patch of a provider's inventories. NULL: an error was printed.
static struct doc *read_arguments(struct cli *cli)
{
	struct doc *patch = doc_new_object(cli->pool), *value;
	const struct doc *old;
	struct str class, field;

	for (size_t i = 1; i < cli->n_arguments; i++) {
		if (!read_argument(cli, cli->arguments[i], &class, &field, &value))
			return NULL;
		struct doc *inventory = doc_get(patch, class, &old) ? doc_copy(cli->pool, old) : doc_new_object(cli->pool);
		doc_set(inventory, field, value);
		doc_set(patch, class, inventory);
	}
	return patch;
}

static struct doc *make_without(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg)
{
	struct doc *wanted = doc_copy(cli->pool, base);
	const struct doc *unused;

	UNUSED(arg);
	for (size_t i = 1; i < cli->n_arguments; i++) {
		struct str class = str_c(cli->arguments[i]);
		if (!str_utf8_ok(class, NULL) || !doc_get(base, class, &unused)) {
			cli_fail(0, "%s has no inventory of %s", provider->label, cli->arguments[i]);
			return NULL;
		}
		doc_remove(wanted, class);
	}
	return wanted;
}

int command_inventory_set(struct cli *cli)
{
	bool replace = cli->options[OPT_REPLACE] != NULL;
	struct part_edit edit = { .make = replace ? part_exactly : part_patched, .arg = read_arguments(cli),
		.whole = replace };
	struct provider provider;

	if (edit.arg == NULL)
		return EX_USAGE;
	int code = provider_find(cli, cli->arguments[0], &provider);
	return code == EX_OK ? part_change(cli, &provider, &part_inventories, &edit) : code;
}

int command_inventory_delete(struct cli *cli)
{
	bool all = cli->options[OPT_ALL] != NULL;
	struct part_edit edit = { .make = all ? part_exactly : make_without, .arg = doc_new_object(cli->pool),
		.whole = all };
	struct provider provider;

	if (all == (cli->n_arguments > 1))
		return cli_fail(EX_USAGE, "which inventories? Their classes, or --all; not both");
	int code = provider_find(cli, cli->arguments[0], &provider);
	if (code != EX_OK)
		return code;
	if (!cli_confirmed(cli, str_printf(cli->pool, "Delete %s of %s?", all ? "all inventories" : "these inventories",
		provider.label).p))
		return EX_USAGE;
	return part_change(cli, &provider, &part_inventories, &edit);
}
