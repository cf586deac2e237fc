// SPDX-License-Identifier: Apache-2.0
// The settings that all dialects share. max_body is the registry's (registry/core/settings.h).
#ifndef TENURE_API_SETTINGS_H
#define TENURE_API_SETTINGS_H

struct config;
struct config_table;
struct endpoint_config;

struct api_settings {
	unsigned max_depth;  // levels of nesting in a document
	unsigned max_target; // bytes of path and query together
};
extern const struct config_table api_settings_table;
const struct api_settings *api_settings(const struct config *config);

struct api_endpoint_settings {
	const char *public_url; // scheme://host[:port][/prefix], comma-separated, for links; "": taken from the request
};
extern const struct config_table api_endpoint_settings_table;
const struct api_endpoint_settings *api_endpoint_settings(const struct endpoint_config *endpoint);

#endif
