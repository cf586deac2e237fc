// SPDX-License-Identifier: Apache-2.0
// What base/ascii.h says of each byte is what the C library says in the locale "C".
#include "base/base.h"

#include <ctype.h>

#include "base/ascii.h"
#include "base/pool.h"
#include "tap.h"

int main(void)
{
	struct pool *pool = pool_new();
	char all[256];

	for (int i = 0; i < 256; i++) {
		char c = all[i] = (char)i;
		bool same = ascii_is_digit(c) == (isdigit(i) != 0) && ascii_is_lower(c) == (islower(i) != 0) &&
			ascii_is_upper(c) == (isupper(i) != 0) && ascii_is_letter(c) == (isalpha(i) != 0) &&
			ascii_is_alnum(c) == (isalnum(i) != 0) && ascii_is_lower_alnum(c) == (islower(i) || isdigit(i)) &&
			ascii_to_lower(c) == (char)tolower(i) && ascii_to_upper(c) == (char)toupper(i);
		ok(same, "byte %d", i);
	}
	struct str lowered = ascii_lowered(pool, str_n(all, sizeof(all)));
	is_int((long long)lowered.n, sizeof(all), "as long as before, NUL or not");
	for (size_t i = 0; i < lowered.n; i++)
		if (lowered.p[i] != (char)tolower((int)i))
			ok(false, "byte %zu in lower case", i);
	is_int((long long)ascii_lowered(pool, STR_NONE).n, 0, "nothing stays nothing");
	pool_free(&pool);
	return done_testing();
}
