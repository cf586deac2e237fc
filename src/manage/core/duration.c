// SPDX-License-Identifier: Apache-2.0
// Parses durations, as options of commands have them: "15m", "30d".
#include "base/base.h"

#include "manage/core/manage.h"

static bool unit_seconds(char unit, uint64_t *seconds)
{
	switch (unit) {
	case 's':
		*seconds = 1;
		return true;
	case 'm':
		*seconds = 60;
		return true;
	case 'h':
		*seconds = 3600;
		return true;
	case 'd':
		*seconds = 86400;
		return true;
	case 'w':
		*seconds = 7 * 86400;
		return true;
	default:
		return false;
	}
}

bool manage_duration_parse(struct str text, int64_t *us)
{
	const uint64_t most = UINT64_C(100) * 366 * 86400;
	uint64_t unit = 1, count;
	if (text.n == 0)
		return false;
	char last = text.p[text.n - 1];
	if (last < '0' || last > '9') {
		if (!unit_seconds(last, &unit))
			return false;
		text.n--;
	}
	if (!str_to_u64(text, &count) || count == 0 || count > most / unit)
		return false;
	*us = (int64_t)(count * unit) * 1000000;
	return true;
}
