// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// The configuration file: it is read, or an error says where and why; what was read can be printed and is in its ranges.
#include "input-file.h"

#include "base/config/config.h"
#include "server/setup/settings.h"
#include "settings/settings.h"
#include "wadl/settings.h"

static bool contains(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++) {
		if (memcmp(text.p + i, word, n) == 0)
			return true;
	}
	return false;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	char *error = NULL;

	UNUSED(pool);
	// Files of the host are none of this target's business, and some never end.
	if (contains(input, "@") || contains(input, "/") || contains(input, ".."))
		return;
	struct config *config = config_load(input_file_write("t.conf", input), settings_tables(), &error);
	MUST((config == NULL) == (error != NULL));
	if (config == NULL) {
		MUST(error[0] != '\0');
		free(error);
		return;
	}
	MUST(config->n_endpoints <= CONFIG_MAX_ENDPOINTS);
	for (size_t i = 0; i < config->n_endpoints; i++) {
		MUST(config_endpoint(config, config->endpoints[i].name) == &config->endpoints[i]);
		MUST(server_endpoint_settings(&config->endpoints[i])->socket != NULL);
		MUST(wadl_endpoint_settings(&config->endpoints[i])->wadl != NULL);
	}
	FILE *out = fopen("/dev/null", "w");
	MUST(out != NULL);
	config_print(config, out);
	(void)fclose(out);
	config_free(&config);
}
