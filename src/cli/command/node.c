// SPDX-License-Identifier: Apache-2.0
// tenure node maintenance, trait and move: commands that only nodes have.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/baremetal.h"
#include "cli/command/commands.h"
#include "cli/command/move.h"
#include "cli/core/cli.h"
#include "cli/core/table.h"

// Reads the node without remembering it, so that --etag auto still means what was shown last. Exit code.
static int read_now(struct cli *cli, const struct target *target)
{
	enum tenure_status status = tenure_resource_get(target->resource);

	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, target->label);
}

// ---- maintenance

static int maintain_one(struct cli *cli, const char *name, void *document)
{
	struct change change = { .kind = CHANGE_MAINTENANCE, .document = document };
	struct target target;
	int code = cli_baremetal_target(cli, name, &target) ? change_make(cli, &target, &change) : EX_USAGE;

	tenure_resource_free(&target.resource);
	return code;
}

static int maintain(struct cli *cli, bool on)
{
	const char *reason = cli->options[OPT_REASON];
	struct doc *document = doc_new_object(cli->pool);

	doc_set(document, STR("maintenance"), doc_new_bool(cli->pool, on));
	doc_set(document, STR("maintenance_reason"), reason != NULL ? doc_new_string(cli->pool, str_c(reason)) : NULL);
	return cli_each_name(cli, 0, maintain_one, document);
}

int command_maintenance_set(struct cli *cli)
{
	return maintain(cli, true);
}

int command_maintenance_unset(struct cli *cli)
{
	return maintain(cli, false);
}

// ---- traits

// Are all of the list texts that can be sent again, so without NUL?
static bool traits_ok(const struct doc *list)
{
	for (size_t i = 0; i < doc_length(list); i++) {
		struct str name = doc_string(doc_at(list, i));
		if (name.n == 0 || memchr(name.p, '\0', name.n) != NULL)
			return false;
	}
	return doc_kind(list) == DOC_ARRAY;
}

static int read_traits(struct cli *cli, const struct target *target, const struct doc **traits)
{
	struct doc *document;
	size_t n;
	int code = read_now(cli, target);

	*traits = NULL;
	if (code != EX_OK)
		return code;
	const char *text = tenure_resource_document(target->resource, &n);
	code = cli_input_parse(cli, str_n(text, n), target->label, &document);
	if (code == EX_OK && (!doc_get(document, STR("traits"), traits) || !traits_ok(*traits)))
		return cli_fail(EX_PROTOCOL, "%s: the service told no traits", target->label);
	return code;
}

int command_trait_list(struct cli *cli)
{
	static const struct column columns[] = { { "trait", "trait" } };
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));
	struct target target;
	const struct doc *traits;

	if (table == NULL || !cli_baremetal_target(cli, cli->arguments[0], &target))
		return EX_USAGE;
	int code = read_traits(cli, &target, &traits);
	for (size_t i = 0; i < doc_length(traits); i++) {
		struct doc *row = doc_new_object(cli->pool);
		doc_set_str(cli->pool, row, "trait", doc_string(doc_at(traits, i)));
		table_add(table, row);
	}
	if (code == EX_OK) {
		cli_remember_state(cli, &target);
		code = table_print(table);
	}
	tenure_resource_free(&target.resource);
	return code;
}

static bool is_argument(const struct cli *cli, struct str trait)
{
	for (size_t i = 1; i < cli->n_arguments; i++) {
		if (str_eq_c(trait, cli->arguments[i]))
			return true;
	}
	return false;
}

// Makes {"traits": […]}: the present ones (NULL: none) that no argument names, and, if there, the arguments.
static struct doc *traits_wanted(struct cli *cli, const struct doc *now, bool there)
{
	struct doc *document = doc_new_object(cli->pool), *list = doc_new_array(cli->pool);

	for (size_t i = 0; i < doc_length(now); i++) {
		if (!is_argument(cli, doc_string(doc_at(now, i))))
			doc_push(list, doc_copy(cli->pool, doc_at(now, i)));
	}
	for (size_t i = 1; there && i < cli->n_arguments; i++)
		doc_push(list, doc_new_string(cli->pool, str_c(cli->arguments[i])));
	doc_set(document, STR("traits"), list);
	return document;
}

// The service sorts traits, so equal lists are equal only if ours are sorted, too.
static int compare_traits(const void *a, const void *b)
{
	return str_cmp(doc_string(*(const struct doc *const *)a), doc_string(*(const struct doc *const *)b));
}

static struct doc *sorted(struct cli *cli, const struct doc *document)
{
	const struct doc *list = NULL, **items, *before = NULL;
	struct doc *result = doc_new_object(cli->pool), *array = doc_new_array(cli->pool);

	doc_get(document, STR("traits"), &list);
	size_t n = doc_length(list);
	items = POOL_ARRAY(cli->pool, const struct doc *, n + 1);
	for (size_t i = 0; i < n; i++)
		items[i] = doc_at(list, i);
	qsort(items, n, sizeof(*items), compare_traits);
	for (size_t i = 0; i < n; before = items[i++]) {
		if (before == NULL || !doc_equal(before, items[i]))
			doc_push(array, doc_copy(cli->pool, items[i]));
	}
	doc_set(result, STR("traits"), array);
	return result;
}

static int put_traits(struct cli *cli, const struct target *target, const struct doc *document)
{
	struct change change = { .kind = CHANGE_TRAITS, .document = sorted(cli, document) };

	return change_make(cli, target, &change);
}

// Without an etag each trait is sent alone, so that traits that others add or remove at the same time stay as they want them.
static int each_alone(struct cli *cli, const struct target *target, bool add)
{
	struct change change = { .kind = CHANGE_TRAITS };
	struct tenure_etag etag;
	int code = change_etag(cli, target, &change, &etag);

	for (size_t i = 1; i < cli->n_arguments && code == EX_OK; i++) {
		const char *trait = cli->arguments[i];
		enum tenure_status status = add ? tenure_node_add_trait(target->resource, trait, etag)
			: tenure_node_remove_trait(target->resource, trait, etag);
		if (status != TENURE_OK)
			code = cli_fail_status(cli, status, str_printf(cli->pool, "%s: %s", target->label, trait).p);
	}
	if (code == EX_OK && !cli->client->nothing_sent) {
		cli_remember_state(cli, target);
		cli_announce(cli, target, "done");
	}
	return code;
}

// Sends the list as a whole; the etag makes sure that it is still the list to which the arguments were applied.
static int change_traits(struct cli *cli, bool add)
{
	struct target target;
	const struct doc *now;

	if (!cli_baremetal_target(cli, cli->arguments[0], &target))
		return EX_USAGE;
	int code;
	if (cli->options[OPT_ETAG] == NULL) {
		code = each_alone(cli, &target, add);
	} else {
		code = read_traits(cli, &target, &now);
		if (code == EX_OK)
			code = put_traits(cli, &target, traits_wanted(cli, now, add));
	}
	tenure_resource_free(&target.resource);
	return code;
}

int command_trait_add(struct cli *cli)
{
	return change_traits(cli, true);
}

int command_trait_set(struct cli *cli)
{
	struct target target;

	if (!cli_baremetal_target(cli, cli->arguments[0], &target))
		return EX_USAGE;
	int code = put_traits(cli, &target, traits_wanted(cli, NULL, true));
	tenure_resource_free(&target.resource);
	return code;
}

int command_trait_remove(struct cli *cli)
{
	bool all = cli->options[OPT_ALL] != NULL;

	if (all == (cli->n_arguments > 1))
		return cli_fail(EX_USAGE, "which traits? Their names, or --all; not both");
	return all ? command_trait_set(cli) : change_traits(cli, false);
}

// ---- tenancy

int command_node_move(struct cli *cli)
{
	const char *ident = cli->arguments[0], *to = cli->arguments[1];
	struct target target;

	if (to[0] == '\0')
		return cli_fail(EX_USAGE, "the name of the tenant is empty");
	if (!cli_baremetal_target(cli, ident, &target))
		return EX_USAGE;
	cli->options[OPT_TO] = to;
	int code = read_now(cli, &target);
	if (code == EX_OK) {
		struct tenure_move *move = tenure_move_resource(target.resource, to);
		code = move != NULL ? cli_move_as_told(cli, move, target.label, str_printf(cli->pool, "move %s to %s",
			tenure_resource_path(target.resource), to).p)
			: cli_fail(EX_PROTOCOL, "%s: the answer tells no UUID and owner of which its address could be made", target.label);
	}
	tenure_resource_free(&target.resource);
	return code;
}
