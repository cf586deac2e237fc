// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers, read: messages as documents, by tables that say what each field is. Every input is taken for
// hostile: lengths, depth and the number of values are bounded, nothing is left out silently.
#ifndef TENURE_REPR_PROTOBUF_PROTOBUF_H
#define TENURE_REPR_PROTOBUF_PROTOBUF_H

#include "repr/json/doc.h"

// ---- the wire: a message is a run of items

enum protobuf_wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct protobuf_item {
	uint32_t field;
	enum protobuf_wire wire;
	uint64_t number;  // of all but WIRE_BYTES
	struct str bytes; // of WIRE_BYTES; a view
};

// Cuts the next item off *rest, which is not empty. False: *why says what is wrong with it.
bool protobuf_next(struct str *rest, struct protobuf_item *item, const char **why);

// ---- messages

enum protobuf_type {
	PROTOBUF_BOOL,
	PROTOBUF_INT,     // int32, int64: a number
	PROTOBUF_DOUBLE,
	PROTOBUF_TEXT,
	PROTOBUF_BYTES,   // a string in base64
	PROTOBUF_JSON,    // bytes that are the text of a JSON value: that value; none: null
	PROTOBUF_MESSAGE,
};

enum protobuf_form {
	PROTOBUF_ONE,
	PROTOBUF_ZERO,   // one that is told even where it is false, 0 or ""; a PROTOBUF_ONE is not
	PROTOBUF_LIST,   // repeated: an array
	PROTOBUF_MAP,    // map<string, …>: an object
	PROTOBUF_INLINE, // a message whose fields are told as those of the one it is in
};

struct protobuf_message;

struct protobuf_field {
	uint32_t number;
	enum protobuf_type type;
	enum protobuf_form form;
	const char *name;                      // the member's; NULL for PROTOBUF_INLINE
	const struct protobuf_message *inside; // of a PROTOBUF_MESSAGE
};

struct protobuf_message {
	const struct protobuf_field *fields; // ends with the number 0
	// What stands for the message, where that is not an object with its fields as members: *told, made of that
	// object; NULL is null. False: *why continues its name. NULL: the object it is.
	bool (*tell)(struct pool *pool, const struct doc *object, struct doc **told, const char **why);
};

// A field that the table does not have is an error, unless its value is 0 or empty: writers of newer versions send
// those for what is not set. So is one that comes twice and is no list.
// False: *error names the field and what is wrong. Lives in pool.
bool protobuf_read(struct pool *pool, const struct protobuf_message *message, struct str bytes,
	struct doc_limits limits, struct doc **doc, struct str *error);

#endif
