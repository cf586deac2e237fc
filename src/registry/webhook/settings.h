// SPDX-License-Identifier: Apache-2.0
// Section [webhooks] of the configuration: settings for the calls of owners, and for the process that sends.
#ifndef TENURE_REGISTRY_WEBHOOK_SETTINGS_H
#define TENURE_REGISTRY_WEBHOOK_SETTINGS_H

#include "base/base.h"

struct config;
struct config_table;

struct webhook_settings {
	unsigned per_tenant;  // how many webhooks a tenant may have; 0: only operators have any
	const char *allow_http; // no | yes: also http URLs
	const char *allow;    // networks that are reached although they are not public, comma-separated; "" for none
	const char *ports;    // ports that are reached, comma-separated; "" for all
	const char *ca_file;  // authorities to trust, PEM; "": those of the system
	unsigned timeout;     // seconds for one attempt
	unsigned parallel;    // attempts at the same time; one tenant has an eighth of them at most
	unsigned batch;       // changes in one message
	unsigned attempts;    // after so many failed ones a message is given up
	unsigned retry_first; // the longest pause from the first failed attempt to the next, in milliseconds; of each further pause it is twice as long
	unsigned retry_most;  // milliseconds, the longest pause
	uint64_t disable_after; // seconds of failure after which a webhook is disabled; 0: never
	uint64_t secret_overlap; // seconds for which a replaced secret still signs
	unsigned lease;       // seconds without a sign of life of the process that sends after which another host's takes over
};
extern const struct config_table webhook_settings_table;
// The settings of that configuration, which owns them.
const struct webhook_settings *webhook_settings(const struct config *config);

#endif
