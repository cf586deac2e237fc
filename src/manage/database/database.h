// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the commands that make, upgrade and empty the database, and fill its catalogue of traits. Each
// returns its exit code.
#ifndef TENURE_MANAGE_DATABASE_DATABASE_H
#define TENURE_MANAGE_DATABASE_DATABASE_H

#include "manage/core/manage.h"

int command_db_init(struct manage *manage);
int command_db_status(struct manage *manage);
int command_db_upgrade(struct manage *manage);
int command_db_reset(struct manage *manage);
int command_os_traits_sync(struct manage *manage);

#endif
