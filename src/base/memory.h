// SPDX-License-Identifier: Apache-2.0
// How a process ends that needs memory which the system does not have. A transaction that was open is rolled back by the
// database, and whoever started the process starts another.
#ifndef TENURE_BASE_MEMORY_H
#define TENURE_BASE_MEMORY_H

#include "base/base.h"

// From now on memory_end() ends this process with the exit code EX_OSERR (71) in place of SIGABRT. Programs call it first;
// libtenure does not, since the exit codes of a program that uses it are that program's. purpose: a static text that says in the
// log what the memory was for ("webhooks"); NULL: the log says how many bytes were asked for. A forked process keeps both until
// it calls this itself.
void memory_end_with_code(const char *purpose);

// How memory_end() says why the process ends. log_open() sets it; before that, and in libtenure, it is a line on standard error.
typedef void memory_report_fn(const char *purpose, size_t bytes);
void memory_report_by(memory_report_fn *report);

// Ends the process after a line in the log. bytes: how many were asked for; 0: the caller does not know.
_Noreturn void memory_end(size_t bytes);

// calloc(3) that never returns NULL: it ends the process instead.
void *memory_zeroed(size_t count, size_t size);

#endif
