// SPDX-License-Identifier: Apache-2.0
// Between config.c (the list of settings), config/value.c (their types) and config/file.c (files and environment).
// No one else includes it.
#ifndef TENURE_BASE_CONFIG_SETTING_H
#define TENURE_BASE_CONFIG_SETTING_H

#include "base/buf.h"
#include "base/str.h"

enum setting_type {
	SETTING_TEXT,
	SETTING_SECRET,  // text that is never shown
	SETTING_CHOICE,  // one of choices
	SETTING_LIST,    // one or more of choices, with commas
	SETTING_NAMES,   // one or more different names of letters, digits, "-", "_" and ".", with commas
	SETTING_URLS,    // "", or one or more http(s)://host[:port][/prefix], with commas
	SETTING_NUMBER,
	SETTING_SIZE,    // bytes; K, M, G
	SETTING_SECONDS, // s, m, h, d, w
	SETTING_OCTAL,
};

struct setting {
	const char *section;
	const char *key;
	enum setting_type type;
	size_t offset;        // in struct config, for section "endpoint" in struct endpoint_config
	size_t size;          // of the member
	const char *standard; // the default; NAME in it stands for the endpoint's name
	uint64_t least, most; // of a number; of a text its length in bytes
	const char *choices;  // with commas
	const char *help;
};

extern const struct setting config_settings[];
extern const size_t config_n_settings;

// NULL when there is none.
const struct setting *setting_find(struct str section, struct str key);
// Stores value, copied to the pool, in base; false when it is not what the setting expects.
bool setting_set(const struct setting *setting, void *base, struct pool *pool, struct str value);
// Appends "a number from 1 to 65535" and the like.
void setting_expected(const struct setting *setting, struct buf *buf);
// Writes a blank and the value, nothing when it is empty; secrets as "********".
void setting_print(const struct setting *setting, const void *base, FILE *out);
// The default for this endpoint; endpoint is empty for other sections.
struct str setting_standard(const struct setting *setting, struct pool *pool, struct str endpoint);

#endif
