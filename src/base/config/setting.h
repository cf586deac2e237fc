// SPDX-License-Identifier: Apache-2.0
// The interface between config.c (the list of settings), config/value.c (their types) and config/file.c (files and environment).
// No other file includes it.
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

struct setting {
	const char *section;
	const char *key;
	enum setting_type type;
	size_t offset;        // of the member, in struct config or, for section "endpoint", in struct endpoint_config
	size_t size;          // size of the member in bytes
	const char *standard; // the default; NAME in it stands for the endpoint's name
	uint64_t least, most; // range of a number, or of a text's length in bytes
	const char *choices;  // comma-separated
	const char *help;
};

extern const struct setting config_settings[];
extern const size_t config_n_settings;

// NULL if there is no such setting.
const struct setting *setting_find(struct str section, struct str key);
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
