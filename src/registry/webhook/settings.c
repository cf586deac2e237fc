// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/network.h"
#include "base/pool.h"
#include "registry/webhook/settings.h"

#define WEBHOOKS(key, type, member, ...) SETTING_ROW("webhooks", key, type, webhook_settings, member, __VA_ARGS__)

static const struct setting webhook_rows[] = {
	WEBHOOKS("per_tenant", NUMBER, per_tenant, "10", 0, 1000, NULL,
		"Webhooks that one tenant may have. 0: only operators may have any."),
	WEBHOOKS("allow_http", CHOICE, allow_http, "no", 0, 0, "no,yes",
		"yes: a webhook's URL may begin with http: as well, and messages are sent without encryption there."),
	WEBHOOKS("allow", TEXT, allow, "", 0, SETTING_TEXT_MAX, NULL,
		"Networks (10.1.0.0/16, fd00::/8), comma-separated, to which messages are sent although they are not public."),
	WEBHOOKS("ports", TEXT, ports, "", 0, SETTING_TEXT_MAX, NULL,
		"Ports to which messages are sent, comma-separated. Empty: any."),
	WEBHOOKS("ca_file", TEXT, ca_file, "", 0, SETTING_TEXT_MAX, NULL,
		"File with the certificate authorities (PEM) that receivers' certificates are verified by. Empty: those of the system."),
	WEBHOOKS("timeout", SECONDS, timeout, "10", 1, 300, NULL,
		"How long one attempt to send a message may take, from resolving the name to the end of the answer."),
	WEBHOOKS("parallel", NUMBER, parallel, "64", 1, 1024, NULL,
		"Attempts at the same time; those for one tenant's webhooks are an eighth of it at most."),
	WEBHOOKS("batch", NUMBER, batch, "100", 1, 1000, NULL,
		"Changes that one message may have."),
	WEBHOOKS("attempts", NUMBER, attempts, "20", 1, 1000, NULL,
		"A message is given up after this many failed attempts."),
	WEBHOOKS("retry_first", NUMBER, retry_first, "5000", 10, SETTING_DAY * 1000, NULL,
		"The longest pause between the first failed attempt and the second, in milliseconds; of each further pause it is twice as long."),
	WEBHOOKS("retry_most", NUMBER, retry_most, "3600000", 10, SETTING_DAY * 1000, NULL,
		"Milliseconds that a pause between two attempts is at most."),
	WEBHOOKS("disable_after", SECONDS, disable_after, "5d", 0, 366 * SETTING_DAY, NULL,
		"A webhook to which nothing could be sent for this long is disabled until somebody changes it. 0: never."),
	WEBHOOKS("secret_overlap", SECONDS, secret_overlap, "1d", 0, 366 * SETTING_DAY, NULL,
		"How long messages are signed with the secret before the present one as well."),
	WEBHOOKS("lease", SECONDS, lease, "15", 2, SETTING_HOUR, NULL,
		"Another host takes over when the one that sends has shown no sign of life for this long. The same on all hosts."),
};

static const char *check_lists(const void *values, struct pool *pool)
{
	const struct webhook_settings *settings = values;
	struct networks networks;
	struct ports ports;
	struct str wrong;

	if (!networks_read(pool, str_c(settings->allow), &networks, &wrong))
		return str_printf(pool, "[webhooks] allow: got \"%.80s\"; expected networks such as 10.1.0.0/16 or fd00::/8, comma-separated",
			settings->allow).p;
	if (!ports_read(pool, str_c(settings->ports), &ports, &wrong))
		return str_printf(pool, "[webhooks] ports: got \"%.80s\"; expected numbers from 1 to 65535, comma-separated", settings->ports).p;
	return NULL;
}

const struct config_table webhook_settings_table = {
	.settings = webhook_rows, .n = COUNT_OF(webhook_rows), .size = sizeof(struct webhook_settings), .check = check_lists,
};

const struct webhook_settings *webhook_settings(const struct config *config)
{
	return config_values(config, &webhook_settings_table);
}
