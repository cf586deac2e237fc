// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "wadl/settings.h"

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, wadl_settings, member, __VA_ARGS__)

static const struct setting wadl_rows[] = {
	TENURE("wadl_dir", TEXT, wadl_dir, TENURE_DATADIR "/tenure/wadl", 1, SETTING_TEXT_MAX, NULL,
		"Folder with the WADL files."),
};

const struct config_table wadl_settings_table = {
	.settings = wadl_rows, .n = COUNT_OF(wadl_rows), .size = sizeof(struct wadl_settings),
};

const struct wadl_settings *wadl_settings(const struct config *config)
{
	return config_values(config, &wadl_settings_table);
}

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, wadl_endpoint_settings, member, __VA_ARGS__)

static const struct setting wadl_endpoint_rows[] = {
	ENDPOINT("wadl", TEXT, wadl, "NAME.wadl", 1, SETTING_TEXT_MAX, NULL,
		"WADL file that lists the methods of this endpoint: a name in wadl_dir or an absolute path. Files that it "
		"refers to are looked up in its own folder, then in wadl_dir."),
};

const struct config_table wadl_endpoint_settings_table = {
	.settings = wadl_endpoint_rows, .n = COUNT_OF(wadl_endpoint_rows), .size = sizeof(struct wadl_endpoint_settings), .of_endpoint = true,
};

const struct wadl_endpoint_settings *wadl_endpoint_settings(const struct endpoint_config *endpoint)
{
	return config_endpoint_values(endpoint, &wadl_endpoint_settings_table);
}
