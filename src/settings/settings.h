// SPDX-License-Identifier: Apache-2.0
// The list of all tables of settings. Each table stands in the folder that uses it (base/config/setting.h).
#ifndef TENURE_SETTINGS_SETTINGS_H
#define TENURE_SETTINGS_SETTINGS_H

struct config_table;

// The tables of all settings that a configuration file can have, for config_load(); ends with NULL. The same array each time.
const struct config_table *const *settings_tables(void);

#endif
