// SPDX-License-Identifier: Apache-2.0
// Objects and lists as clients read them: JSON, or a Table.
#ifndef TENURE_API_SPACES_ANSWER_ANSWER_H
#define TENURE_API_SPACES_ANSWER_ANSWER_H

#include "api/spaces/answer/table.h"
#include "api/spaces/common/spaces.h"

// ---- accept.c

// The apiVersion of the Table that Accept prefers to the objects themselves; p NULL: it does not.
struct str wanted_table(const struct call *call);
enum table_object included_object(const struct call *call);

// ---- render.c: from the registry's structs to what clients read

// What objects of one definition have in common when they are told, so that each of a list costs little more than the
// copy of its texts. Lives in the call's pool.
struct object_form {
	struct call *call;
	const struct definition *definition;
	const struct definition_version *version;
	struct str head;                 // up to metadata
	struct str tenant, space, place; // of the last one, and what its metadata says of them; place p NULL: there was none
	bool of_namespace, of_beta;
};
struct object_form object_form(struct call *call, const struct definition *definition,
	const struct definition_version *version);
// The object as stored.
void object_add(struct object_form *form, const struct resource *resource, struct buf *out);
// The same for one.
void object_json(struct call *call, const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct buf *out);
// The whole answer with its ETag: the object, or a Table of one row where that is asked for.
void answer_object(struct call *call, const struct target *target, const struct resource *resource);
// The same for an object's JSON that is made already.
void answer_text(struct call *call, const struct target *target, struct stored_place place, struct str object,
	uint64_t version);
// A list being made, as items or as a Table.
struct listing {
	struct call *call;
	const struct target *target;
	const struct table_columns *columns; // NULL: no Table, the objects themselves
	struct buf out;
	uint64_t spilled;                    // bytes that went before what is in out
	size_t n;
};
void listing_begin(struct listing *listing, struct call *call, const struct target *target);
// The object's JSON.
void listing_add(struct listing *listing, struct stored_place place, struct str object);
// next: where the list goes on; p NULL: this was all.
void listing_end(struct listing *listing, uint64_t version, struct str next);

#endif
