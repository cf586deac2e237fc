// SPDX-License-Identifier: Apache-2.0
// The configuration: the values of all settings that a program knows, from a file and the environment.
//
// Each folder owns its settings: a struct of their values, and a table (base/config/setting.h) with a row for each: name, type,
// range, default, text for the manual page. src/settings lists the tables. A folder gets its values by a function of its own,
// such as db_settings(config), which calls config_values() with its table.
//
// The configuration file (tenure.conf(5)) is INI: "[section]" or "[endpoint NAME]", then lines "key = value". A line that begins
// with "#" or ";" is a comment. "include = PATTERN" before the first section reads more files; PATTERN is a glob, relative to the
// file's folder. The environment can set every key, too, and overrides the file: TENURE_SECTION_KEY, or TENURE_ENDPOINT_NAME_KEY
// for an endpoint. A value "@FILE" is read from that file, less a newline at its end; use it for secrets.
#ifndef TENURE_BASE_CONFIG_CONFIG_H
#define TENURE_BASE_CONFIG_CONFIG_H

#include "base/str.h"

enum { CONFIG_MAX_ENDPOINTS = 16 };

struct config;
struct config_table; // base/config/setting.h
struct pool;
struct setting;

// Section [endpoint NAME].
struct endpoint_config {
	const char *name;
	const struct config *config;
	void **values; // of each table, in the order of config->tables; NULL for a table whose settings are not an endpoint's
};

// One setting of a configuration.
struct config_row {
	const struct setting *setting;
	const struct config_table *table;
	size_t index; // of the table among config->tables
};

struct config {
	struct pool *pool; // has the values, and this struct itself
	const struct config_table *const *tables;
	size_t n_tables;
	struct config_row *rows; // of all tables, in their order
	size_t n_rows;
	void **values; // of each table; NULL for a table of an endpoint's settings
	struct endpoint_config endpoints[CONFIG_MAX_ENDPOINTS];
	size_t n_endpoints;
};

// A configuration of the settings in `tables` (ends with NULL, must outlive it), all at their defaults, without an endpoint. It
// lives until config_free(). NULL: no memory.
struct config *config_new(const struct config_table *const *tables);
// Adds an endpoint with all settings at their defaults. NULL if there are CONFIG_MAX_ENDPOINTS.
const struct endpoint_config *config_add_endpoint(struct config *config, struct str name);
// The same as config_new() with what the file `path`, the files it includes, and the environment say. NULL on failure: *error,
// from malloc, says file, line, what is wrong and what would be right. An unknown key or section is an error, too. *error NULL:
// no memory.
struct config *config_load(const char *path, const struct config_table *const *tables, char **error);
void config_free(struct config **config);

// The struct of a table's values. The table must be one of config->tables, and not one of an endpoint's settings. Whoever made
// the configuration may change the values until others read them.
void *config_values(const struct config *config, const struct config_table *table);
// The same for a table of an endpoint's settings.
void *config_endpoint_values(const struct endpoint_config *endpoint, const struct config_table *table);
// NULL when there is no such endpoint.
const struct endpoint_config *config_endpoint(const struct config *config, const char *name);

// Writes every key with its value, default and explanation (for `tenure-manage config show` and the manual page).
// Passwords show as "********".
void config_print(const struct config *config, FILE *out);

#endif
