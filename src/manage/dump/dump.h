// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the commands that write a tenant, or the whole installation, into a file, and make it again from
// that. Each returns its exit code.
#ifndef TENURE_MANAGE_DUMP_DUMP_H
#define TENURE_MANAGE_DUMP_DUMP_H

#include "manage/core/manage.h"

int command_dump(struct manage *manage);
int command_restore(struct manage *manage);

#endif
