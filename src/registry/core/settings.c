// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/pool.h"
#include "registry/core/settings.h"

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, registry_settings, member, __VA_ARGS__)

static const struct setting registry_rows[] = {
	TENURE("default_tier", TEXT, default_tier, "standard", 1, 255, NULL,
		"The tier of a tenant created without one."),
	TENURE("max_body", SIZE, max_body, "3M", SETTING_KIB, REGISTRY_BODY_MOST, NULL,
		"The largest request body."),
	TENURE("request_memory", SIZE, request_memory, "42M", 16 * SETTING_MIB, 65536ULL * SETTING_MIB, NULL,
		"Memory that one request may allocate in a worker, in addition to four times its body's size. Of this, the definitions of "
		"types of a tenant may have a sixth."),
	TENURE("resource_cache", SIZE, resource_cache, "2M", 0, 1024 * SETTING_MIB, NULL,
		"Size of each worker's resource cache; every entry is checked against the database before use. 0: no cache."),
	TENURE("retention", SECONDS, retention, "30d", 0, 36500ULL * SETTING_DAY, NULL,
		"How long deleted tenants and resources stay recoverable."),
	TENURE("change_retention", SECONDS, change_retention, "365d", 0, 36500ULL * SETTING_DAY, NULL,
		"How long rows of the change log are kept. 0: forever."),
	TENURE("content_retention", SECONDS, content_retention, "30d", 0, 36500ULL * SETTING_DAY, NULL,
		"How long the content that an update replaced is kept, for histories and undo; no longer than its row of the change log. "
		"0: it is not kept."),
	TENURE("usage_period", SECONDS, usage_period, "1h", 1, SETTING_DAY, NULL,
		"How long a period is for which usage is counted: a part of a day."),
	TENURE("usage_retention", SECONDS, usage_retention, "1096d", 0, 36500ULL * SETTING_DAY, NULL,
		"How long closed periods of usage are kept. 0: forever."),
	TENURE("move_list_max", NUMBER, move_list_max, "100", 0, 100000, NULL,
		"A move action lists up to this many resources one by one; if there are more, it gives their number and one "
		"tag."),
	TENURE("move_sync_max", NUMBER, move_sync_max, "50000", 0, 100000000, NULL,
		"A move of more resources than this runs in the background."),
	TENURE("delete_sync_max", NUMBER, delete_sync_max, "2000", 0, 100000, NULL,
		"A namespace with more resources than this is deleted in the background, in pieces of as many."),
	TENURE("etag_required", CHOICE, etag_required, "no", 0, 0, "no,yes",
		"yes: every change of an existing tenant or resource needs If-Match. no: only in tenants that require it."),
};

// Periods end at multiples of their length, so that each lies within a day.
static const char *check_usage_period(const void *values, struct pool *pool)
{
	const struct registry_settings *settings = values;

	if (SETTING_DAY % settings->usage_period == 0)
		return NULL;
	struct str wrong = str_printf(pool, "[tenure] usage_period: got %llu seconds; expected what divides a day evenly, such as 1h, 15m "
		"or 1d", (unsigned long long)settings->usage_period);
	return wrong.p;
}

const struct config_table registry_settings_table = {
	.settings = registry_rows, .n = COUNT_OF(registry_rows), .size = sizeof(struct registry_settings), .check = check_usage_period,
};

const struct registry_settings *registry_settings(const struct config *config)
{
	return config_values(config, &registry_settings_table);
}
