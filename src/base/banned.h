// SPDX-License-Identifier: Apache-2.0
// Functions that trust a NUL, a locale or a static buffer: their use does not compile.
#ifndef TENURE_BASE_BANNED_H
#define TENURE_BASE_BANNED_H

#undef alloca // glibc makes it a macro, which can't be poisoned
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll gets
#pragma GCC poison gmtime localtime ctime asctime system popen tmpnam mktemp alloca

#endif
