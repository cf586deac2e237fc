// SPDX-License-Identifier: Apache-2.0
// Where the WADL files are, and which one an endpoint serves.
#ifndef TENURE_WADL_SETTINGS_H
#define TENURE_WADL_SETTINGS_H

struct config;
struct config_table;
struct endpoint_config;

struct wadl_settings {
	const char *wadl_dir; // folder of the WADL files
};
extern const struct config_table wadl_settings_table;
const struct wadl_settings *wadl_settings(const struct config *config);

struct wadl_endpoint_settings {
	const char *wadl; // name of a file in wadl_dir, or an absolute path
};
extern const struct config_table wadl_endpoint_settings_table;
const struct wadl_endpoint_settings *wadl_endpoint_settings(const struct endpoint_config *endpoint);

#endif
