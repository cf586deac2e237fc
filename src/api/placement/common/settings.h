// SPDX-License-Identifier: Apache-2.0
// The settings of the placement dialect, except for its policy (auth/policy/placement_policy.h).
#ifndef TENURE_API_PLACEMENT_COMMON_SETTINGS_H
#define TENURE_API_PLACEMENT_COMMON_SETTINGS_H

struct config;
struct config_table;

struct placement_settings {
	const char *cors_origins;         // origins of web pages that may ask, with commas; "*": all; "": none
	const char *randomize_candidates; // yes | no: a random sample of the allocation candidates, or always the same
	unsigned max_candidates;          // candidates in one answer; 0: no limit
};
extern const struct config_table placement_settings_table;
const struct placement_settings *placement_settings(const struct config *config);

#endif
