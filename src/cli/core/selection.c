// SPDX-License-Identifier: Apache-2.0
// The conditions and the order of lists, from the options of their commands.
#include "base/base.h"

#include "base/ascii.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "http/uri.h"

static const struct { enum option option; const char *parameter; } conditions[] = {
	{ OPT_SELECTOR, "labels" }, { OPT_FIELD_SELECTOR, "fields" }, { OPT_METADATA, "metadata" }, { OPT_MATCH, "text" }, { OPT_TIER, "tier" },
	{ OPT_CREATED_SINCE, "created_since" }, { OPT_CREATED_BEFORE, "created_before" },
	{ OPT_UPDATED_SINCE, "updated_since" }, { OPT_UPDATED_BEFORE, "updated_before" },
};

const char *cli_time(struct pool *pool, const char *text)
{
	static const char form[] = "dddd-dd-dd";
	size_t i = 0;

	while (form[i] != '\0' && (form[i] == 'd' ? ascii_is_digit(text[i]) : text[i] == form[i]))
		i++;
	return form[i] == '\0' && text[i] == '\0' ? str_printf(pool, "%sT00:00:00Z", text).p : text;
}

// The value of a condition; NULL: it was not given.
static const char *condition_value(struct cli *cli, size_t i)
{
	enum option option = conditions[i].option;
	const char *value = cli->options[option];
	bool is_time = option == OPT_CREATED_SINCE || option == OPT_CREATED_BEFORE || option == OPT_UPDATED_SINCE || option == OPT_UPDATED_BEFORE;

	return value != NULL && is_time ? cli_time(cli->pool, value) : value;
}

int cli_list_sort(struct cli *cli, struct tenure_list *list, const char *field, const char *direction)
{
	if (cli->options[OPT_SORT] == NULL)
		return EX_OK;
	struct str order = str_c(cli->options[OPT_SORT]);
	size_t colon = str_find(order, ':', 0);
	struct str way = colon < order.n ? str_part(order, colon + 1, order.n) : STR("asc");
	if ((!str_eq(way, STR("asc")) && !str_eq(way, STR("desc"))) ||
		!tenure_list_filter(list, field, str_cstr(cli->pool, str_part(order, 0, colon))))
		return cli_fail(EX_USAGE, "--sort takes FIELD, FIELD:asc or FIELD:desc");
	return tenure_list_filter(list, direction, str_cstr(cli->pool, way)) ? EX_OK : EX_OSERR;
}

int cli_limit(const struct cli *cli, uint64_t *limit)
{
	const char *given = cli->options[OPT_LIMIT];

	if (given == NULL || (str_to_u64(str_c(given), limit) && *limit > 0))
		return EX_OK;
	return cli_fail(EX_USAGE, "--limit takes a number from 1");
}

int cli_list_limit(struct cli *cli, struct tenure_list *list, uint64_t *limit)
{
	*limit = 0;
	int code = cli_limit(cli, limit);
	if (code == EX_OK && *limit > 0)
		tenure_list_set_page(list, *limit < CLI_LIST_PAGE ? (unsigned)*limit : CLI_LIST_PAGE);
	return code;
}

int cli_list_conditions(struct cli *cli, struct tenure_list *list, uint64_t *limit)
{
	for (size_t i = 0; i < COUNT_OF(conditions); i++) {
		const char *value = condition_value(cli, i);
		if (value != NULL && !tenure_list_filter(list, conditions[i].parameter, value))
			return cli_fail_encoding(option_rows[conditions[i].option].name);
	}
	int code = cli_list_sort(cli, list, "sort", "order");
	return code == EX_OK ? cli_list_limit(cli, list, limit) : code;
}

int cli_add_conditions(struct cli *cli, struct buf *query)
{
	for (size_t i = 0; i < COUNT_OF(conditions); i++) {
		const char *value = condition_value(cli, i);
		if (value == NULL)
			continue;
		if (!str_utf8_ok(str_c(value), NULL))
			return cli_fail_encoding(option_rows[conditions[i].option].name);
		buf_addf(query, "&%s=", conditions[i].parameter);
		uri_add_value(query, str_c(value));
	}
	if (cli->options[OPT_DELETED] != NULL)
		BUF_LIT(query, "&deleted=true");
	return EX_OK;
}
