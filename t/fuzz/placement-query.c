// SPDX-License-Identifier: Apache-2.0
// max_len: 32768
// The query of GET /resource_providers, behind a byte that is the microversion: filters within their bounds, or a reason.
#include "fuzz.h"

#include "api/placement/common/placement.h"
#include "api/placement/provider/provider.h"
#include "api/settings.h"
#include "base/config/config.h"
#include "http/uri.h"
#include "settings/settings.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	static struct config *config;
	static struct call call;
	struct provider_query query;
	struct str detail = STR_NONE;

	if (input.n == 0)
		return;
	call_clear(&call, pool);
	if (config == NULL)
		MUST((config = config_new(settings_tables())) != NULL);
	call.config = config;
	call.version = (unsigned char)input.p[0] % (VERSION_MAX + 1);
	struct str text = str_part(input, 1, input.n);
	struct str target = str_printf(pool, "/resource_providers?%.*s", STR_ARG(text));
	if (uri_parse(pool, target, api_settings(config)->max_target, &call.request.uri, &detail) != OUTCOME_OK)
		return;
	enum outcome outcome = provider_query_read(&call, &query);
	if (outcome != OUTCOME_OK) {
		MUST(call.problem.detail.n > 0 && str_utf8_ok(call.problem.detail, NULL));
		return;
	}
	MUST(query.n_memberships <= PROVIDER_MAX_TERMS && query.n_requirements <= PROVIDER_MAX_TERMS &&
		query.n_demands <= PROVIDER_MAX_TERMS);
}
