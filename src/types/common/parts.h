// SPDX-License-Identifier: Apache-2.0
// What a built-in type is, beyond its names: the parts that each file of types/ gives of its type. All dialects read them; what a
// type leaves out it doesn't have. The names stand in base/builtin_types.def.
#ifndef TENURE_TYPES_COMMON_PARTS_H
#define TENURE_TYPES_COMMON_PARTS_H

#include "repr/patch/strategic_patch.h"
#include "repr/protobuf/protobuf.h"
#include "repr/schema/field_fault.h"
#include "types/common/columns.h"
#include "types/common/fields.h"

// The value of a member where the writer of an object leaves it out or empty.
struct type_preset {
	const char *path[4]; // names of members from the object's root on; an array stands for all its elements
	const char *value;   // a text; NULL: the end of the table
};

struct type_parts {
	// ---- what the objects are like

	const char *description;         // a sentence; NULL: OpenAPI doesn't describe the type
	const struct type_field *fields; // the members besides apiVersion, kind and metadata; ends with name NULL. NULL: any
	                                 // object is taken. Set where description is
	const struct type_preset *presets; // NULL: none
	const char *first_phase;         // status.phase of a new object whose writer says nothing of its status; NULL: none

	// ---- what clients do with them

	const struct merge_rule *merge;  // how lists merge, from the object's root on; NULL: a strategic merge patch is refused
	const struct type_column *columns; // of lists behind the name; ends with cell NULL. NULL: the age alone
	const struct protobuf_message *message; // of version v1; NULL: objects are not taken as protobuf
	const char *const *selectable;   // what a field selector may name beside metadata.name and metadata.namespace, as
	                                 // "status.phase": at most two names deep; ends with NULL. NULL: nothing
	bool selectable_fixed;           // no change of an object alters those

	// ---- rules of the spaces dialect, in the words of the Kubernetes API server

	// Adds what is wrong with the name of a new object, which stands at that path. NULL: it has to be a DNS subdomain.
	void (*check_name)(struct str name, const struct field_path *at, struct field_faults *faults);
	// Turns what a client sent, without its metadata, into what is stored. False: *error says what is wrong. NULL: nothing
	// has to be done.
	bool (*receive)(struct pool *pool, struct doc *body, struct str *error);
	// Adds what is wrong with an object whose members are of the right types and that differs from before (NULL: it is new).
	// meta: its metadata; body: the rest. NULL: nothing can be.
	void (*check)(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body);

	// ---- a rule of all dialects

	// Adds what of an object may not change and did. NULL: everything may. A type whose rules ask the database or rewrite the
	// object has struct type_rules instead (registry/type/rules.h).
	void (*check_kept)(struct field_faults *faults, const struct doc *before, const struct doc *after);
	struct str kept_if; // check_kept is run if the stored JSON has this text; n 0: always
};

#endif
