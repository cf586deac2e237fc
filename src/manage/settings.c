// SPDX-License-Identifier: Apache-2.0
// config check, config show.
#include "base/base.h"

#include "auth/auth.h"
#include "manage/manage.h"
#include "wadl/wadl.h"

// The handlers are in tenured; here any method will do.
static const void *any_handler(void *arg, const char *dialect, const char *id)
{
	UNUSED(arg);
	UNUSED(dialect);
	return id;
}

static int check_endpoint(const struct manage *manage, const struct endpoint_config *endpoint)
{
	char *error = NULL;
	struct route_table *table = wadl_load(manage->config->wadl_dir, endpoint->wadl, any_handler, NULL, &error);
	struct auth *auth = NULL;
	if (table != NULL)
		auth = auth_new(manage->config, endpoint, &error);
	int code = EX_OK;
	if (table == NULL || auth == NULL)
		code = manage_fail(EX_CONFIG, "[endpoint %s]: %s", endpoint->name, error != NULL ? error : "no memory");
	free(error);
	if (auth != NULL)
		auth_free(&auth);
	if (table != NULL)
		wadl_free(&table);
	return code;
}

void settings_warn(const struct config *config)
{
	for (size_t i = 0; i < config->n_endpoints; i++) {
		const struct endpoint_config *endpoint = &config->endpoints[i];

		if (endpoint->public_url[0] == '\0')
			fprintf(stderr, "warning: [endpoint %s] public_url is empty: links in answers, Location among them, begin with "
				"whatever Host a client names; set it to the address under which users reach this endpoint, such as "
				"https://tenure.example.org\n", endpoint->name);
		if ((endpoint->socket_mode & 0002) != 0)
			fprintf(stderr, "warning: [endpoint %s] socket_mode %#o lets every user of this machine write to the socket: let that "
				"be the web server's group alone, 0660\n", endpoint->name, endpoint->socket_mode);
	}
}

int command_config_check(struct manage *manage)
{
	int code = EX_OK;
	if (manage->config->n_endpoints == 0)
		code = manage_fail(EX_CONFIG, "%s: there is no [endpoint NAME] section", manage->config_path);
	for (size_t i = 0; i < manage->config->n_endpoints; i++) {
		int one = check_endpoint(manage, &manage->config->endpoints[i]);
		if (one != EX_OK)
			code = one;
	}
	settings_warn(manage->config);
	if (code == EX_OK)
		printf("%s: correct; `tenured -c %s -e ENDPOINT -t` checks handlers as well\n", manage->config_path,
			manage->config_path);
	return code;
}

int command_config_show(struct manage *manage)
{
	config_print(manage->config, stdout);
	return EX_OK;
}
