// SPDX-License-Identifier: Apache-2.0
// These functions take the place of libc's for the whole process, as the dynamic linker finds them first; they call libc's by
// pointers. So a library that can't bear a failing malloc (libfcgi ends the process) meets none as long as the reserve lasts, and
// the request ends with 503 at its next step.
#include "base/base.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "base/budget.h"
#include "server/setup/rescue.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_MALLOC
#endif
#endif

#ifdef HAS_OWN_MALLOC

void rescue_prepare(void)
{
}

#else

enum { RESERVE = 1 << 20 };

static _Atomic(void *) reserve;
static void *(*real_malloc)(size_t size);
static void *(*real_calloc)(size_t n, size_t size);
static void *(*real_realloc)(void *p, size_t size);

// dlsym() gives a pointer to an object; ISO C has no cast from it to one to a function.
static void find(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found == NULL)
		abort();
	memcpy(function, &found, sizeof(found));
}

// Gives the reserve back. False: there is none.
static bool give_reserve(void)
{
	void *p = atomic_exchange(&reserve, NULL);

	if (p == NULL)
		return false;
	free(p);
	budget_starve();
	return true;
}

#define FOR_ALL __attribute__((visibility("default")))

FOR_ALL void *malloc(size_t size)
{
	if (real_malloc == NULL)
		find("malloc", &real_malloc);
	void *p = real_malloc(size);

	return p == NULL && give_reserve() ? real_malloc(size) : p;
}

FOR_ALL void *calloc(size_t n, size_t size)
{
	if (real_calloc == NULL)
		find("calloc", &real_calloc);
	void *p = real_calloc(n, size);

	return p == NULL && give_reserve() ? real_calloc(n, size) : p;
}

FOR_ALL void *realloc(void *old, size_t size)
{
	if (real_realloc == NULL)
		find("realloc", &real_realloc);
	void *p = real_realloc(old, size);

	return p == NULL && size > 0 && give_reserve() ? real_realloc(old, size) : p;
}

void rescue_prepare(void)
{
	if (reserve != NULL)
		return;
	if (real_malloc == NULL)
		find("malloc", &real_malloc);
	void *p = real_malloc(RESERVE), *none = NULL;

	if (p != NULL && !atomic_compare_exchange_strong(&reserve, &none, p))
		free(p);
}

#endif
