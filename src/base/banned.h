// SPDX-License-Identifier: Apache-2.0
// Functions that rely on a terminating NUL, on the locale or on a static buffer. A file that uses one of them does not compile.
#ifndef TENURE_BASE_BANNED_H
#define TENURE_BASE_BANNED_H

// Some of them are macros in glibc, which can't be poisoned before they are undefined.
#undef alloca
#undef sprintf
#undef strcat
#undef strncat
#undef vsprintf
#pragma GCC poison strcat strncat sprintf vsprintf strtok atoi atol atoll gets
#pragma GCC poison gmtime localtime ctime asctime system popen tmpnam mktemp alloca

// <mysql.h> has macros that mention these two, so they may be named, but not called.
#undef strcpy
#undef strncpy
#define strcpy(to, from) strcpy_is_banned_use_str_dup
#define strncpy(to, from, n) strncpy_is_banned_use_str_dup

#endif
