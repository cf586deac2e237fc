// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// The configuration file: it is read, or an error says where and why; what was read can be printed and is in its ranges.
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/config/config.h"
#include "server/setup/settings.h"
#include "settings/settings.h"
#include "wadl/settings.h"

static char dir[] = "/tmp/tenure-fuzz-XXXXXX";
static char path[sizeof(dir) + 16];

static void remove_files(void)
{
	(void)unlink(path);
	(void)rmdir(dir);
}

static void write_input(struct str input)
{
	if (path[0] == '\0') {
		MUST(mkdtemp(dir) != NULL);
		(void)snprintf(path, sizeof(path), "%s/t.conf", dir);
		(void)atexit(remove_files);
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, input.p, input.n) == (ssize_t)input.n);
	close(fd);
}

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
	write_input(input);
	struct config *config = config_load(path, settings_tables(), &error);
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
