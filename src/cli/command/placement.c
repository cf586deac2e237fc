// SPDX-License-Identifier: Apache-2.0
// Calls of the placement API, for the nouns trait and provider.
#include "base/base.h"

#include "base/uuid.h"
#include "cli/command/placement.h"
#include "cli/core/cli.h"
#include "cli/core/text.h"

enum tenure_status cli_placement_call(struct cli *cli, struct wish wish, const struct doc *body, struct doc **answer,
	int *http)
{
	struct answer got;

	wish.path = str_printf(cli->pool, PLACEMENT_ROOT "%.*s", STR_ARG(wish.path));
	wish.version = &placement_version;
	if (body != NULL) {
		wish.body = doc_text(cli->pool, body);
		wish.type = "application/json";
	}
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &got);
	if (http != NULL)
		*http = got.status;
	if (answer == NULL)
		return status;
	*answer = NULL;
	return status == TENURE_OK && got.body.n > 0 ? client_parse(cli->client, cli->pool, got.body, answer) : status;
}

// ---- providers, which may be named by their name instead of their UUID

static int find_by_name(struct cli *cli, const char *name, struct uuid *uuid)
{
	struct tenure_list *list = tenure_list_providers(cli->client);
	struct tenure_resource *item = NULL;
	enum tenure_status status = TENURE_END;

	if (list == NULL)
		return cli_fail(EX_OSERR, "no memory");
	if (tenure_list_filter(list, "name", name))
		status = tenure_list_next(list, &item);
	tenure_list_free(&list);
	if (status == TENURE_END)
		return cli_fail(EXIT_NOT_FOUND, "there is no provider \"%s\"", name);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, name);
	const char *path = tenure_resource_path(item);
	bool ok = uuid_parse(str_c(strrchr(path, '/') + 1), uuid);
	tenure_resource_free(&item);
	return ok ? EX_OK : cli_fail(EX_PROTOCOL, "%s: the service told no UUID", name);
}

int provider_find(struct cli *cli, const char *ident, struct provider *provider)
{
	struct uuid uuid;
	int code = uuid_parse(str_c(ident), &uuid) ? EX_OK : find_by_name(cli, ident, &uuid);

	if (code != EX_OK)
		return code;
	provider->label = str_printf(cli->pool, "provider %s", ident).p;
	provider->uuid = str_cstr(cli->pool, uuid_str(cli->pool, uuid));
	provider->path = str_printf(cli->pool, PLACEMENT_ROOT "/resource_providers/%s", provider->uuid).p;
	return EX_OK;
}
