// SPDX-License-Identifier: Apache-2.0
// Tables of settings. A folder that has settings writes, beside a struct for their values:
//
//	#define DATABASE(key, type, member, ...) SETTING_ROW("database", key, type, db_settings, member, __VA_ARGS__)
//	static const struct setting rows[] = {
//		DATABASE("port", NUMBER, port, "3306", 1, 65535, NULL, "TCP port for hosts that name none."),
//	};
//	const struct config_table db_settings_table = { .settings = rows, .n = COUNT_OF(rows), .size = sizeof(struct db_settings) };
//
// and src/settings/settings.c lists the table. scripts/check-docs reads the rows in this form.
#ifndef TENURE_BASE_CONFIG_SETTING_H
#define TENURE_BASE_CONFIG_SETTING_H

#include "base/buf.h"
#include "base/str.h"

enum setting_type {
	SETTING_TEXT,
	SETTING_SECRET,  // text that is never shown
	SETTING_CHOICE,  // one of choices
	SETTING_LIST,    // one or more of choices, comma-separated
	SETTING_NAMES,   // one or more different names, comma-separated, of letters, digits, "-", "_" and "."
	SETTING_URLS,    // "", or one or more http(s)://host[:port][/prefix], comma-separated
	SETTING_NUMBER,
	SETTING_SIZE,    // bytes; the suffixes K, M and G are allowed
	SETTING_SECONDS, // seconds; the suffixes s, m, h, d and w are allowed
	SETTING_OCTAL,
};

// The member is a const char * for the types up to SETTING_URLS, and unsigned or uint64_t for numbers.
struct setting {
	const char *section;
	const char *key;
	enum setting_type type;
	size_t offset;        // of the member, in the table's struct
	size_t size;          // size of the member in bytes
	const char *standard; // the default; NAME in it stands for the endpoint's name
	uint64_t least, most; // range of a number, or of a text's length in bytes
	const char *choices;  // comma-separated
	const char *help;
};

// A row: section, key, type, the struct of the table's values without "struct", its member, default, least, most, choices, help.
#define SETTING_ROW(section, key, type, owner, member, ...) { section, key, SETTING_##type, offsetof(struct owner, member), \
	sizeof(((struct owner *)NULL)->member), __VA_ARGS__ }

// For ranges.
enum {
	SETTING_HOUR = 3600,
	SETTING_DAY = 86400,
	SETTING_KIB = 1024,
	SETTING_MIB = 1048576,
	SETTING_TEXT_MAX = 4096,  // bytes of a text that nothing else limits
	SETTING_SOCKET_MAX = 107, // bytes of the path of a unix socket: sun_path has 108
};

// Folders that configure chose; the build defines them.
#ifndef TENURE_DATADIR
#define TENURE_DATADIR "/usr/local/share"
#endif
#ifndef TENURE_RUNSTATEDIR
#define TENURE_RUNSTATEDIR "/run"
#endif

struct config_table {
	const struct setting *settings;
	size_t n;
	size_t size;      // of the struct of values
	bool of_endpoint; // the settings are those of a section [endpoint NAME], whose rows say "endpoint": a struct for each endpoint
	// Looks at the values together, once all are read. NULL, or in pool what is wrong and what would be right: "[section]
	// key: got …; expected …". NULL: each value alone is all there is to check. Not for a table of an endpoint's settings.
	const char *(*check)(const void *values, struct pool *pool);
};

// ---- for files of base/config/

struct config;

// Is this row of config->rows the first one of its section?
bool setting_opens_section(const struct config *config, size_t row);
// Parses value and stores it in the struct at base (see offset); a text is copied to the pool. False if the setting does not
// accept the value.
bool setting_set(const struct setting *setting, void *base, struct pool *pool, struct str value);
// Appends what the setting accepts, as "a number from 1 to 65535".
void setting_add_expected(const struct setting *setting, struct buf *buf);
// Writes a blank and the value; writes nothing if the value is empty, and "********" for a secret.
void setting_print(const struct setting *setting, const void *base, FILE *out);
// The default value for this endpoint. endpoint is the endpoint's name, empty for settings of other sections.
struct str setting_default(const struct setting *setting, struct pool *pool, struct str endpoint);

#endif
