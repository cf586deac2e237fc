// SPDX-License-Identifier: Apache-2.0
// The members of a type's objects, as tables: the type and the purpose of each. They are used to check the form of objects and
// to find unknown members (fieldValidation), and OpenAPI and `kubectl explain` show them.
//
// Clients take a member that is not described for an error. So if members of an object are listed, all of them are; an object
// without a list of members may have any form.
//
// kubectl 1.20 has two faults. It follows a member of any form only two levels deep when it makes a patch, and crashes if the
// third level contains an object or a list: so MEMBER_ANY is only for members that are less deep. An object without a list of
// members it does not follow at all; it prints a warning and uses its built-in knowledge.
#ifndef TENURE_TYPES_COMMON_FIELDS_H
#define TENURE_TYPES_COMMON_FIELDS_H

#include "repr/patch/strategic_patch.h"

enum field_type { OF_STRING, OF_INTEGER, OF_BOOLEAN, OF_ANY, OF_OBJECT, OF_STRING_MAP, OF_STRINGS, OF_OBJECTS,
	OF_INT_OR_STRING, OF_TIME, OF_BYTES_MAP, OF_QUANTITY_MAP };

struct type_field {
	const char *name;
	enum field_type type;
	bool required;                   // shown to clients; a rule (struct type_parts, check) refuses an object that lacks it
	const struct type_field *inside; // of OF_OBJECT, OF_OBJECTS; NULL: anything. Ends with name NULL
	const char *description;         // a sentence; "": none
};

#define MEMBER_TEXT(name, about) { name, OF_STRING, false, NULL, about }
#define MEMBER_INTEGER(name, about) { name, OF_INTEGER, false, NULL, about }
#define MEMBER_BOOLEAN(name, about) { name, OF_BOOLEAN, false, NULL, about }
#define MEMBER_TEXTS(name, about) { name, OF_STRINGS, false, NULL, about }
#define MEMBER_MAP(name, about) { name, OF_STRING_MAP, false, NULL, about }
#define MEMBER_BYTES(name, about) { name, OF_BYTES_MAP, false, NULL, about }
#define MEMBER_QUANTITIES(name, about) { name, OF_QUANTITY_MAP, false, NULL, about }
#define MEMBER_TIME(name, about) { name, OF_TIME, false, NULL, about }
#define MEMBER_ANY(name) { name, OF_ANY, false, NULL, "" }
#define MEMBER_OBJECT(name, inside, about) { name, OF_OBJECT, false, inside, about }
#define MEMBER_OBJECTS(name, inside, about) { name, OF_OBJECTS, false, inside, about }
#define MEMBER_MUST(name, type, inside, about) { name, type, true, inside, about }
#define MEMBER_END { NULL, OF_ANY, false, NULL, NULL }

// ---- how lists merge in a strategic merge patch (repr/patch/strategic_patch.h)

#define MERGE_LIST(name, key) { name, key, NULL }             // of objects, identified by the member key
#define MERGE_LIST_OF(name, key, inside) { name, key, inside } // the same, of objects that have lists inside
#define MERGE_SET(name) { name, "", NULL }                    // of scalars
#define MERGE_IN(name, inside) { name, NULL, inside }         // an object with such lists inside
#define MERGE_END { NULL, NULL, NULL }

// ---- members that several types share

// The members of metadata.
extern const struct type_field metadata_fields[];
extern const struct merge_rule metadata_merge[];
// The merge rules of a type with lists in its metadata only; and of a type that also has conditions.
extern const struct merge_rule plain_merge[], with_conditions_merge[];
extern const struct merge_rule conditions_merge[];
// A condition in a status; a reference to any object; a reference to an object in the same namespace.
extern const struct type_field condition_fields[], object_reference_fields[], local_reference_fields[];

#endif
