// SPDX-License-Identifier: Apache-2.0
// The Test Anything Protocol for the C unit tests: one header, no library, the plan comes last.
//
//   ok(cond, "what holds");   is_str(got, "want", "name");   is_int(got, 3, "name");   return done_testing();
#ifndef TENURE_T_UNIT_TAP_H
#define TENURE_T_UNIT_TAP_H

#include <stdarg.h>

#include "base/str.h"

#define TAP_UNUSED_OK __attribute__((unused))

static struct {
	int run;
	int failed;
} tap;

// "ok 3 - name"; a line break in a name would end the TAP line.
TAP_UNUSED_OK PRINTF_LIKE(2, 0) static inline bool tap_result(bool pass, const char *format, va_list args)
{
	char name[1024];

	(void)vsnprintf(name, sizeof(name), format, args);
	for (char *c = name; *c != '\0'; c++) {
		if (*c == '\n' || *c == '\r' || *c == '#')
			*c = ' ';
	}
	tap.run++;
	tap.failed += pass ? 0 : 1;
	printf("%sok %d - %s\n", pass ? "" : "not ", tap.run, name);
	fflush(stdout);
	if (!pass && getenv("TENURE_FIRST_FAILURE") != NULL) // scripts/mutate asks for no more than that
		exit(1);
	return pass;
}

// A remark in the output; never part of the result.
TAP_UNUSED_OK PRINTF_LIKE(1, 2) static inline void diag(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	fputc('\n', stdout);
	fflush(stdout);
}

TAP_UNUSED_OK static inline void tap_show(const char *label, struct str s)
{
	printf("#   %s (%zu bytes): ", label, s.n);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 && c != '\\' && c != 0x7f)
			putchar(c);
		else
			printf("\\x%02x", c);
	}
	putchar('\n');
	fflush(stdout);
}

// Each of these returns whether it passed.
#define ok(cond, ...) tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_strs(got, want, ...) tap_is_strs((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) tap_is_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)

TAP_UNUSED_OK PRINTF_LIKE(4, 5)
static inline bool tap_ok(bool cond, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bool pass = tap_result(cond, format, args);
	va_end(args);
	if (!pass)
		printf("#   failed at %s:%d\n", file, line);
	return pass;
}

TAP_UNUSED_OK PRINTF_LIKE(5, 0) static inline bool tap_strs(struct str got, struct str want, const char *file, int line,
	const char *format, va_list args)
{
	bool pass = tap_result(str_eq(got, want), format, args);

	if (!pass) {
		printf("#   failed at %s:%d\n", file, line);
		tap_show("got ", got);
		tap_show("want", want);
	}
	return pass;
}

// want: a C string; use is_strs where a NUL is part of what is expected.
TAP_UNUSED_OK PRINTF_LIKE(5, 6)
static inline bool tap_is_str(struct str got, const char *want, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bool pass = tap_strs(got, str_c(want), file, line, format, args);
	va_end(args);
	return pass;
}

TAP_UNUSED_OK PRINTF_LIKE(5, 6)
static inline bool tap_is_strs(struct str got, struct str want, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bool pass = tap_strs(got, want, file, line, format, args);
	va_end(args);
	return pass;
}

TAP_UNUSED_OK PRINTF_LIKE(5, 6)
static inline bool tap_is_int(long long got, long long want, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bool pass = tap_result(got == want, format, args);
	va_end(args);
	if (!pass)
		printf("#   failed at %s:%d\n#   got  %lld\n#   want %lld\n", file, line, got, want);
	return pass;
}

// Counts as passed; for what this machine can't show.
TAP_UNUSED_OK static inline void skip(const char *why)
{
	tap.run++;
	printf("ok %d # SKIP %s\n", tap.run, why);
}

// Ends the program: nothing of it can run here.
TAP_UNUSED_OK static inline void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

// Ends the program and prove's whole run.
TAP_UNUSED_OK static inline void bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(255);
}

// Prints the plan; what main returns.
TAP_UNUSED_OK static inline int done_testing(void)
{
	printf("1..%d\n", tap.run);
	if (tap.failed > 0)
		printf("# %d of %d failed\n", tap.failed, tap.run);
	return tap.failed > 0 || tap.run == 0 ? 1 : 0;
}

#endif
