// SPDX-License-Identifier: Apache-2.0
// Uses of tokens that wait to be written: which are due, what becomes of them when there are more than there is room for, and of
// a file that is damaged.
#include "base/base.h"

#include <glob.h>
#include <unistd.h>

#include "auth/core/token_uses.h"
#include "base/shared.h"
#include "tap.h"

#define SECOND INT64_C(1000000)
#define INTERVAL (300 * SECOND)

static char dir[] = "/tmp/tenure-uses-XXXXXX";
static struct shared *shared;
static struct token_use list[TOKEN_USES];
// A time of 2026, as clock_now_us() has it.
static const int64_t start_us = INT64_C(1795000000) * SECOND;

static size_t due(int64_t now_us)
{
	return token_uses_due(shared, now_us, INTERVAL, list, COUNT_OF(list));
}

static bool is_use(const struct token_use *use, const char *id, int64_t used_us)
{
	return str_eq_c(str_n(use->id, use->id_n), id) && use->used_us == used_us;
}

static void test_due(void)
{
	int64_t now_us = start_us;

	is_int((int64_t)due(now_us), 0, "nothing is due before the first use");
	token_use_note(shared, STR("ann-token"), now_us);
	is_int((int64_t)due(now_us), 1, "a first use is due at once");
	ok(is_use(&list[0], "ann-token", now_us), "with its id and time");
	is_int((int64_t)due(now_us), 1, "until it is written");
	token_uses_wrote(shared, now_us, list, 1);
	is_int((int64_t)due(now_us), 0, "then no more");

	int64_t later_us = now_us + 10 * SECOND;
	token_use_note(shared, STR("ann-token"), later_us);
	is_int((int64_t)due(later_us), 0, "a use within the interval waits");
	is_int((int64_t)due(now_us + INTERVAL - 1), 0, "until its end");
	is_int((int64_t)due(now_us + INTERVAL), 1, "when it is due");
	ok(is_use(&list[0], "ann-token", later_us), "with its own time");
	token_uses_wrote(shared, now_us + INTERVAL, list, 1);
	is_int((int64_t)due(now_us + 10 * INTERVAL), 0, "a token that is not used is never due again");

	token_use_note(shared, STR("ann-token"), now_us + 20 * INTERVAL);
	is_int((int64_t)due(now_us + 3 * INTERVAL), 0, "a use of the future is not written: the clock was wrong");
	is_int((int64_t)due(now_us + 20 * INTERVAL), 1, "before its time has come");
	token_uses_wrote(shared, now_us + 20 * INTERVAL, list, 1);
	token_use_note(shared, STR("ann-token"), now_us + 2 * INTERVAL);
	is_int((int64_t)due(now_us + 40 * INTERVAL), 0, "a clock that was set back makes no use of less than what is stored");
}

static void test_ids(void)
{
	static const char longest[] = "0123456789abcdef0123456789abcdef";
	int64_t now_us = start_us + 100 * INTERVAL;

	token_use_note(shared, str_c(longest), now_us);
	is_int((int64_t)due(now_us), 1, "an id of as many bytes as there may be");
	ok(is_use(&list[0], longest, now_us), "is whole");
	token_uses_wrote(shared, now_us, list, 1);
	token_use_note(shared, STR("0123456789abcdef0123456789abcdef0"), now_us);
	token_use_note(shared, STR(""), now_us);
	is_int((int64_t)due(now_us), 0, "a longer one and an empty one are no tokens'");
	token_use_note(NULL, STR("nobody"), now_us);
	ok(true, "without memory nothing is noted");
}

static void test_crowd(void)
{
	int64_t now_us = start_us + 200 * INTERVAL;
	enum { MANY = 4 * TOKEN_USES };
	char id[16];
	bool invented = false, seen[MANY] = { false };

	for (unsigned i = 0; i < MANY; i++) {
		(void)snprintf(id, sizeof(id), "t%u", i);
		token_use_note(shared, str_c(id), now_us + i);
	}
	size_t n = due(now_us + SECOND);
	ok(n > TOKEN_USES / 2 && n <= TOKEN_USES, "of four times as many tokens as there are places many are known");
	for (size_t i = 0; i < n; i++) {
		uint64_t number = 0;
		bool well = list[i].id_n > 1 && str_to_u64(str_n(list[i].id + 1, list[i].id_n - 1), &number) && number < MANY && !seen[number] &&
			list[i].used_us == now_us + (int64_t)number;
		if (well)
			seen[number] = true;
		invented = invented || !well;
	}
	ok(!invented, "each once, with its own time");
	size_t newest = 0;
	for (size_t i = MANY - TOKEN_USES / 8; i < MANY; i++)
		newest += seen[i];
	is_int((int64_t)newest, TOKEN_USES / 8, "those that were used last are among them");

	is_int((int64_t)token_uses_due(shared, now_us + SECOND, INTERVAL, list, 7), 7, "no more are listed than there is room for");
	struct token_use first = list[0];
	token_uses_wrote(shared, now_us + SECOND, &first, 1);
	size_t left = due(now_us + SECOND);
	is_int((int64_t)left, (int64_t)n - 1, "what was written is not listed");

	// The place is taken by another token between the list and the writing.
	first = list[0];
	for (unsigned i = 0; i < MANY; i++) {
		(void)snprintf(id, sizeof(id), "u%u", i);
		token_use_note(shared, str_c(id), now_us + 2 * SECOND + i);
	}
	size_t before = due(now_us + 3 * SECOND);
	token_uses_wrote(shared, now_us + 3 * SECOND, &first, 1);
	is_int((int64_t)due(now_us + 3 * SECOND), (int64_t)before, "what took its place is still to be written");
}

static void test_damaged(void)
{
	int64_t now_us = start_us + 300 * INTERVAL;
	size_t size = 64 * TOKEN_USES;
	unsigned char *bytes = shared_area(shared, SHARED_TOKEN_USES, size);
	uint64_t random = 1;

	memset(bytes, 0, size);
	token_use_note(shared, STR("whole"), now_us);
	unsigned char *id = memmem(bytes, size, "whole", 5);
	ok(id != NULL, "an id in the file");
	if (id != NULL)
		id[0] = 'h';
	is_int((int64_t)due(now_us), 0, "that is changed by others is no token's");
	token_use_note(shared, STR("whole"), now_us);
	is_int((int64_t)due(now_us), 1, "the token's next use is noted");
	for (size_t i = 0; i < size; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		bytes[i] = (unsigned char)(random >> 56);
	}
	is_int((int64_t)due(now_us), 0, "of a damaged file no use is made up");
	token_use_note(shared, STR("after"), now_us);
	is_int((int64_t)due(now_us), 1, "and a use is noted in it again");
	ok(is_use(&list[0], "after", now_us), "as it was");
}

static void remove_folder(void)
{
	char pattern[64];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
	}
	globfree(&found);
	ok(rmdir(dir) == 0, "nothing is left in the folder");
}

int main(void)
{
	if (mkdtemp(dir) == NULL || (shared = shared_open(dir, STR("here"))) == NULL)
		abort();
	test_due();
	test_ids();
	test_crowd();
	test_damaged();
	shared_close(&shared);
	remove_folder();
	return done_testing();
}
