// SPDX-License-Identifier: Apache-2.0
// tenure-manage log-level: sets the level of log lines of all processes of this host, while they run.
#include "base/base.h"

#include <errno.h>

#include "base/control.h"
#include "manage/commands.h"
#include "server/setup/host.h"
#include "server/setup/settings.h"

int command_log_level(struct manage *manage)
{
	const char *text = manage->arguments[0];
	bool resets = strcmp(text, "default") == 0;
	enum log_level level = LOG_LEVEL_INFO;

	if (!resets && !log_level_parse(str_c(text), &level))
		return manage_fail(EX_USAGE, "\"%s\" is no level: error, warning, info, debug, or default for what the configuration says", text);
	struct shared *shared = host_shared_attach(manage->config);
	if (shared == NULL)
		return manage_fail(EX_NOINPUT, "no process of this version serves this registry on this host, or this user may not write to "
			"its file in %s: %s", server_settings(manage->config)->runtime_dir, strerror(errno));
	control_set_log_level(shared, !resets, level);
	shared_close(&shared);
	return EX_OK;
}
