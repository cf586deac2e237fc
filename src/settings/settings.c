// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/placement/common/settings.h"
#include "api/settings.h"
#include "auth/core/auth.h"
#include "auth/policy/placement_policy.h"
#include "auth/core/settings.h"
#include "db/settings.h"
#include "registry/baremetal/settings.h"
#include "registry/core/settings.h"
#include "registry/webhook/settings.h"
#include "server/setup/settings.h"
#include "settings/settings.h"
#include "wadl/settings.h"

enum { MAX_TABLES = 64 };

// Beside those of authenticators. `tenure-manage config show` prints sections and settings in this order.
static const struct config_table *const fixed[] = {
	&db_settings_table,
	&server_settings_table,
	&host_settings_table,
	&api_settings_table,
	&registry_settings_table,
	&auth_settings_table,
	&wadl_settings_table,
	&baremetal_settings_table,
	&webhook_settings_table,
	&placement_policy_settings_table,
	&placement_settings_table,
	&server_endpoint_settings_table,
	&wadl_endpoint_settings_table,
	&api_endpoint_settings_table,
	&auth_endpoint_settings_table,
};

const struct config_table *const *settings_tables(void)
{
	static const struct config_table *tables[MAX_TABLES + 1];
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(fixed); i++)
		tables[n++] = fixed[i];
	for (size_t i = 0; auth_table(i) != NULL; i++) {
		assert(n < MAX_TABLES);
		tables[n++] = auth_table(i);
	}
	tables[n] = NULL;
	return tables;
}
