// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "registry/usage/usage_sum.h"

usage_sum usage_sum_of_text(struct str text)
{
	bool negative = str_starts(text, STR("-"));
	usage_sum value = 0;

	for (size_t i = negative ? 1 : 0; i < text.n && ascii_is_digit(text.p[i]); i++)
		value = value * 10 + (text.p[i] - '0');
	return negative ? -value : value;
}

void usage_sum_write(char text[USAGE_SECONDS], usage_sum us)
{
	char digits[USAGE_SECONDS];
	size_t at = sizeof(digits) - 1;
	usage_sum rest = us < 0 ? -us : us;

	digits[at] = '\0';
	for (int n = 0; n < 7 || rest > 0; n++, rest /= 10) {
		if (n == 6)
			digits[--at] = '.';
		digits[--at] = (char)('0' + (int)(rest % 10));
		assert(at > 1);
	}
	if (us < 0)
		digits[--at] = '-';
	memcpy(text, digits + at, sizeof(digits) - at);
}
