// SPDX-License-Identifier: Apache-2.0
// Reads Protocol Buffers: makes documents of messages, by tables that describe each field. All input is treated as hostile:
// length, depth and number of values are bounded, and nothing is left out silently.
#ifndef TENURE_REPR_PROTOBUF_PROTOBUF_H
#define TENURE_REPR_PROTOBUF_PROTOBUF_H

#include "repr/json/doc.h"

// ---- the wire: a message is a run of items

enum protobuf_wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct protobuf_item {
	uint32_t field;
	enum protobuf_wire wire;
	uint64_t number;  // of all wire types but WIRE_BYTES
	struct str bytes; // of WIRE_BYTES; points into the message
};

// Takes the next item off *rest, which must not be empty. False: *why says what is wrong.
bool protobuf_next(struct str *rest, struct protobuf_item *item, const char **why);

// ---- messages

enum protobuf_type {
	PROTOBUF_BOOL,
	PROTOBUF_INT32,   // a number; the reader takes one of 64 bits, too
	PROTOBUF_INT64,   // a number
	PROTOBUF_DOUBLE,
	PROTOBUF_TEXT,
	PROTOBUF_BYTES,   // a string in base64
	PROTOBUF_JSON,    // the bytes are JSON text: its value; no bytes: null
	PROTOBUF_MESSAGE,
};

enum protobuf_form {
	PROTOBUF_ONE,
	PROTOBUF_ZERO,   // present in the document even if it is false, 0 or ""; a PROTOBUF_ONE is then left out
	PROTOBUF_VALUE,  // the same; but its absence means false, 0, "" or an empty message, since it is no pointer in Go
	PROTOBUF_LIST,   // repeated: an array
	PROTOBUF_MAP,    // map<string, …>: an object
	PROTOBUF_INLINE, // a message whose fields appear as members of the outer one
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
	// For messages whose value in JSON is not an object of their fields, such as a time. object: an object of the fields that
	// were read. Sets *json to the value; NULL means null. False: *why is a text that continues the message's name. to_json
	// is NULL if the object is the value.
	bool (*to_json)(struct pool *pool, const struct doc *object, struct doc **json, const char **why);
};

// Reads a message. A field that the table lacks is an error unless its value is 0 or empty, as writers of newer versions send
// it. So is a field that occurs twice and is no list. False: *error, in pool, names the field and what is wrong.
bool protobuf_read(struct pool *pool, const struct protobuf_message *message, struct str bytes,
	struct doc_limits limits, struct doc **doc, struct str *error);

#endif
