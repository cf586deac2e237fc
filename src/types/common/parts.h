// SPDX-License-Identifier: Apache-2.0
// The parts of a built-in type, beyond its names. Each file of types/ has those of its type, and all dialects read them. A part
// that is left out does not apply. The names are in base/builtin_types.def.
#ifndef TENURE_TYPES_COMMON_PARTS_H
#define TENURE_TYPES_COMMON_PARTS_H

#include "repr/patch/strategic_patch.h"
#include "repr/protobuf/protobuf.h"
#include "repr/schema/field_fault.h"
#include "types/common/columns.h"
#include "types/common/fields.h"

// The value of a member if the writer of an object leaves it out, or leaves it empty.
struct type_preset {
	const char *path[4]; // names of members, from the object's root on; an array stands for each of its elements
	const char *value;   // a text; NULL: the end of the table
};
// Sets the members that are missing or empty to these values, in place. presets NULL: none. No other tree may share parts of the
// object.
void type_preset_fill(struct pool *pool, const struct type_preset *presets, struct doc *object);

// A column of `tenure NOUN list`, for a type with an API and a noun of its own: bare metal's and placement's.
struct type_noun_column {
	const char *name; // its heading, and its name in --columns
	const char *path; // of the value in that API's documents: names joined by dots
	bool wide;        // only with --long
};

struct type_parts {
	// ---- the form of the objects

	const char *description;         // a sentence; NULL: OpenAPI doesn't describe the type
	// The members besides apiVersion, kind and metadata; ends with name NULL. Set if description is set. NULL: an object
	// may have any members.
	const struct type_field *fields;
	const struct type_preset *presets; // NULL: none
	const char *first_phase;         // status.phase of a new object; NULL: a new object has no status
	bool has_first_status;           // a new object may bring its status, as a kubelet's node does

	// ---- how clients use the objects

	// how lists merge in a strategic merge patch, from the object's root on; NULL: such a patch is refused
	const struct merge_rule *merge;
	const struct type_column *columns; // columns of lists after the name; ends with cell NULL. NULL: only the age
	const struct type_noun_column *noun_columns; // ends with name NULL. NULL: the type has no noun of its own
	// the protobuf message of version v1; NULL: objects are not accepted as protobuf
	const struct protobuf_message *message;
	// The fields that a field selector may name besides metadata.name and metadata.namespace, such as "status.phase": at
	// most two names deep; ends with NULL. NULL: none.
	const char *const *selectable;
	bool selectable_fixed;           // no change of an object can alter these fields

	// ---- rules of the spaces dialect; faults have the texts of the Kubernetes API server

	// Adds faults for the name of a new object; at is its path. NULL: the name must be a DNS subdomain.
	void (*check_name)(struct str name, const struct field_path *at, struct field_faults *faults);
	// Adds faults for an object with members of the right types that differs from before (NULL: it is new). meta: its
	// metadata; body: the rest. NULL: there are no such rules.
	void (*check)(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body);
	// Takes over from before, what is stored, what a controller has set in the object and a write of the whole object left
	// out, and removes what only the stored object has a use for and the write left as it was; in place, with copies in pool.
	// No other tree may share parts of body. NULL: a write stores what it contains.
	void (*carry_over)(struct pool *pool, const struct doc *before, struct doc *body);

	// ---- rules of all dialects

	// Turns what a client sent, without its metadata, into what is stored; a body that is stored stays as it is. False:
	// *error says what is wrong. NULL: it is stored as sent.
	bool (*receive)(struct pool *pool, struct doc *body, struct str *error);
	// Adds faults for immutable fields that have changed. NULL: every field may change. A type whose rules query the
	// database or rewrite the object has struct type_rules instead (registry/type/rules.h).
	void (*check_kept)(struct field_faults *faults, const struct doc *before, const struct doc *after);
	struct str kept_if; // check_kept() is only called if the stored JSON contains this text; n 0: always
};

#endif
