// SPDX-License-Identifier: Apache-2.0
// Writes objects and lists for clients: as JSON, as a Table, or their metadata alone.
#ifndef TENURE_API_SPACES_ANSWER_ANSWER_H
#define TENURE_API_SPACES_ANSWER_ANSWER_H

#include "api/spaces/answer/table.h"
#include "api/spaces/common/spaces.h"

// ---- accept.c

// In which form a client gets objects: as they are, as rows of a Table, or as PartialObjectMetadata, which is their metadata
// alone.
enum answer_as { AS_OBJECT, AS_TABLE, AS_METADATA };
struct answer_form {
	enum answer_as as;
	struct str version; // the apiVersion of the Table or of the PartialObjectMetadata; p NULL for objects
};
// The form that Accept prefers. of_list: for a list, for which metadata alone has another name; else for an object or the events
// of a watch.
struct answer_form answer_wanted_form(const struct call *call, bool of_list);
// What a Table's rows have of their objects: the parameter includeObject.
enum table_object answer_included_object(const struct call *call);

// ---- render.c: from the registry's structs to JSON

// What the objects of one definition have in common in answers. It is computed once for a list, so that each object costs little
// more than copying its texts. Lives in the call's pool.
struct object_form {
	struct call *call;
	const struct definition *definition;
	const struct definition_version *version;
	struct str head;                 // the text from "{" up to metadata
	struct str tenant, space, place; // of the last object, and the text that metadata has for them; place p NULL: none yet
	bool of_namespace; // the objects are namespaces
	bool of_beta;      // they are definitions in version v1beta1
	bool is_trial;     // a dry run has created the object: it has neither resourceVersion nor etag
};
// The form of objects of this definition in that version.
struct object_form object_form(struct call *call, const struct definition *definition,
	const struct definition_version *version);
// Appends the stored object as JSON. Temporary memory is taken from the call's scratch pool.
void answer_object_add(struct object_form *form, const struct resource *resource, struct buf *out);
// Appends one stored object, without a form for others.
void answer_object_json(struct call *call, const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct buf *out);
// Sets the whole answer with its ETag: the object in the form that the client wants (a Table has one row), or its Scale if that
// is the target's part.
void answer_object(struct call *call, const struct target *target, const struct resource *resource);
// The same for an object that a dry run has created: the answer has neither resourceVersion nor etag, since no stored object will
// ever have these. So a client can send it back to create it.
void answer_trial_object(struct call *call, const struct target *target, const struct resource *resource);
// Sets the answer without an ETag, for an object whose JSON exists already. place: where it is stored, for errors. version: its
// resourceVersion.
void answer_text(struct call *call, const struct target *target, struct stored_place place, struct str object,
	uint64_t version);
// A list that is being written.
struct listing {
	struct call *call;
	const struct target *target;
	struct answer_form form;
	const struct table_columns *columns; // of a Table; else NULL
	struct buf out;
	uint64_t spilled;                    // bytes written to the response's spill, before what is in out
	size_t n;
};
// Begins a list of the target's objects, and drops what the response has of one that was begun before.
void listing_begin(struct listing *listing, struct call *call, const struct target *target);
// Adds the object with this JSON. place: where it is stored, for errors.
void listing_add(struct listing *listing, struct stored_place place, struct str object);
// Ends the list and sets the answer. version: the list's resourceVersion. next: the marker for the next page; p NULL: it is
// complete.
void listing_end(struct listing *listing, uint64_t version, struct str next);

#endif
