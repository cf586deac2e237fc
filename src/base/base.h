// SPDX-License-Identifier: Apache-2.0
// The first include of every .c file: the standard headers that all files use, and the functions of libc that no file may use.
#ifndef TENURE_BASE_BASE_H
#define TENURE_BASE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PRINTF_LIKE(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define UNUSED(x) ((void)(x))

#include "base/banned.h"

#endif
