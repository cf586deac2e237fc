// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: the steps of a schema file, in the form that sql/schema/online/README describes.
#ifndef TENURE_MANAGE_DATABASE_STEPS_H
#define TENURE_MANAGE_DATABASE_STEPS_H

#include "manage/database/schema.h"

enum step_kind {
	STEP_TABLES,  // @step: each statement runs for itself, and may run again
	STEP_INDEX,   // @index: likewise; reads all of step.table
	STEP_ONCE,    // @once: one transaction, recorded in it
	STEP_BATCHES, // @batches: many short transactions
};

struct step {
	enum step_kind kind;
	struct str name;  // unique in its file
	struct str table; // of @index and @batches; else ""
	struct str text;
};

struct steps {
	struct step *steps;
	size_t n;
	uint64_t oldest; // @oldest; 0: the file says nothing
};

// Cuts file->online into its steps; a file without any is one step STEP_TABLES, "all". EX_OK, or EX_CONFIG after a message: a
// line is wrong.
int steps_read(struct manage *manage, const struct schema_file *file, struct steps *steps);
// The step with this name; NULL: none.
const struct step *steps_find(const struct steps *steps, const char *name);
// How far the step is: *position, the last id of its batches. If the tables in which steps are recorded do not exist yet (before
// the step "books"), *done is false and *position 0. False: the database cannot be asked, and a message says so.
bool step_progress(struct manage *manage, const struct schema_file *file, const struct step *step, uint64_t *position, bool *done);
// How many rows the step's table has, about; 0: it has none yet, or the step names none. EX_OK, or an exit code after a message.
int step_rows(struct manage *manage, const struct step *step, uint64_t *n);

// What runs steps. manage->db may be another connection afterwards.
struct upgrade {
	struct manage *manage;
	bool fresh;          // `db init` makes the schema: nothing goes on where it stopped
	struct db *guard;    // another connection of the same user to the same server, for db_run_guarded()
	struct nodes *nodes; // NULL until indexes are built on one node after the other
};
// Runs the step to its end, from where an earlier run stopped. EX_OK, or an exit code after a message.
int step_run(struct upgrade *upgrade, const struct schema_file *file, const struct step *step);

#endif
