// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the table of commands, and the commands that no room has. Each returns its exit code.
#ifndef TENURE_MANAGE_COMMANDS_H
#define TENURE_MANAGE_COMMANDS_H

#include <stdio.h>

#include "manage/core/manage.h"

extern const struct manage_command manage_commands[]; // ends with noun NULL

// ---- main.c: what the command line has

// Options that stand anywhere.
enum { ROW_CONFIG, ROW_HELP, ROW_VERSION, ROW__COUNT };
extern const struct option_row manage_everywhere[ROW__COUNT];
// How many options of its own a command has; NULL: none.
size_t manage_command_options(const struct manage_command *command);
// Finds the command whose noun, and verb if it has one, begin the words. NULL: none, or not yet.
const struct manage_command *manage_command_find(const char *const *words, size_t n);
enum { MANAGE_WORDS = 64 };
// The words that name commands: the nouns or, if noun is not NULL, the verbs of that noun. Returns how many are in words, which
// has room for MANAGE_WORDS.
size_t manage_command_words(const char *noun, const char **words);

// ---- complete.c

// Prints what the last of the words, which is being typed, can become behind the others; base/completion.h. Its exit code.
int manage_complete(const char *const *words, size_t n, bool describes);

// ---- the commands

int command_token_create(struct manage *manage);
int command_token_list(struct manage *manage);
int command_token_revoke(struct manage *manage);
int command_token_revoke_all(struct manage *manage);
int command_db_restored(struct manage *manage);
int command_tier_list(struct manage *manage);
int command_tier_set(struct manage *manage);
int command_tier_remove(struct manage *manage);
int command_reap(struct manage *manage);
int command_doctor(struct manage *manage);
int command_import_placement(struct manage *manage);
int command_export_placement(struct manage *manage);
int command_log_level(struct manage *manage);
int command_status(struct manage *manage);
int command_maintenance_on(struct manage *manage);
int command_maintenance_off(struct manage *manage);
int command_maintenance_status(struct manage *manage);
int command_cluster_status(struct manage *manage);
int command_cluster_switch(struct manage *manage);
int command_cluster_fence(struct manage *manage);
int command_usage_verify(struct manage *manage);
int command_etag_key_list(struct manage *manage);
int command_etag_key_add(struct manage *manage);
int command_etag_key_retire(struct manage *manage);
int command_keys(struct manage *manage);
int command_config_check(struct manage *manage);
int command_config_show(struct manage *manage);

// Prints warnings about settings that are valid but unsafe; for config check and doctor.
void settings_warn(const struct config *config);
// Revokes the tokens of whose ids there is one on each line, and prints how many were revoked, and how many the database does not
// have: a restored one lacks the tokens that are newer than its dump. name: of the file, for messages. EX_OK, or an exit code
// after a message.
int manage_revoke_listed(struct manage *manage, FILE *ids, const char *name);
// Prints what is wrong if [database] host names one server of a cluster of that many nodes: a line; for doctor.
void manage_tell_unfenced(FILE *to, uint64_t nodes);
// Prints a warning if changes are stopped for maintenance; for doctor.
void manage_warn_of_maintenance(struct manage *manage);
// Prints errors of endpoints with wrong authenticators, with which tenured would not start; for doctor. config check finds
// these by itself.
void settings_check_auth(const struct config *config);

#endif
