// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/settings.h"
#include "base/config/config.h"
#include "base/config/setting.h"

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, api_settings, member, __VA_ARGS__)

static const struct setting api_rows[] = {
	TENURE("max_depth", NUMBER, max_depth, "64", 4, 256, NULL,
		"How deep objects, arrays and elements may be nested."),
	TENURE("max_target", SIZE, max_target, "32K", SETTING_KIB, SETTING_MIB, NULL,
		"The longest path and query together."),
};

const struct config_table api_settings_table = {
	.settings = api_rows, .n = COUNT_OF(api_rows), .size = sizeof(struct api_settings),
};

const struct api_settings *api_settings(const struct config *config)
{
	return config_values(config, &api_settings_table);
}

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, api_endpoint_settings, member, __VA_ARGS__)

static const struct setting api_endpoint_rows[] = {
	ENDPOINT("public_url", URLS, public_url, "", 0, SETTING_TEXT_MAX, NULL,
		"scheme://host[:port][/prefix] for Location and next links, comma-separated: the one by which the request "
		"came, else the first. Empty: the request's Host."),
};

const struct config_table api_endpoint_settings_table = {
	.settings = api_endpoint_rows, .n = COUNT_OF(api_endpoint_rows), .size = sizeof(struct api_endpoint_settings), .of_endpoint = true,
};

const struct api_endpoint_settings *api_endpoint_settings(const struct endpoint_config *endpoint)
{
	return config_endpoint_values(endpoint, &api_endpoint_settings_table);
}
