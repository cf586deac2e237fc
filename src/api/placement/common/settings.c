// SPDX-License-Identifier: Apache-2.0
// The rows of the settings.
#include "base/base.h"

#include "api/placement/common/settings.h"
#include "base/config/config.h"
#include "base/config/setting.h"

#define PLACEMENT(key, type, member, ...) SETTING_ROW("placement", key, type, placement_settings, member, __VA_ARGS__)

static const struct setting placement_rows[] = {
	PLACEMENT("cors_allowed_origin", TEXT, cors_origins, "", 0, SETTING_TEXT_MAX, NULL,
	          "Origins of web pages that may use the placement dialect, comma-separated: https://console.example.org. *: all. Empty: "
	          "none."),
	PLACEMENT("randomize_allocation_candidates", CHOICE, randomize_candidates, "no", 0, 0, "no,yes",
	          "no: equal requests get equal allocation candidates while nothing changes. yes: a random sample each time."),
	PLACEMENT("max_allocation_candidates", NUMBER, max_candidates, "0", 0, 1000000, NULL,
	          "Allocation candidates that one answer has at most, also where the request gives no limit. 0: no maximum."),
};

const struct config_table placement_settings_table = {
	.settings = placement_rows, .n = COUNT_OF(placement_rows), .size = sizeof(struct placement_settings),
};

const struct placement_settings *placement_settings(const struct config *config)
{
	return config_values(config, &placement_settings_table);
}
