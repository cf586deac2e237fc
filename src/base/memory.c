// SPDX-License-Identifier: Apache-2.0
// Nothing here allocates.
#include "base/base.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/memory.h"

static struct {
	bool by_code;
	const char *purpose;
	memory_report_fn *report;
} end;

void memory_report_by(memory_report_fn *report)
{
	end.report = report;
}

void memory_end_with_code(const char *purpose)
{
	end.by_code = true;
	end.purpose = purpose;
}

void memory_end(size_t bytes)
{
	if (end.report != NULL)
		end.report(end.purpose, bytes);
	else
		(void)dprintf(STDERR_FILENO, "out of memory\n");
	if (!end.by_code)
		abort();
	_exit(EX_OSERR); // not exit(): what is registered with atexit(3) might ask for memory
}

void *memory_zeroed(size_t count, size_t size)
{
	void *p = calloc(count > 0 ? count : 1, size);

	if (p == NULL)
		memory_end(count * size);
	return p;
}
