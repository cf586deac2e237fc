// SPDX-License-Identifier: Apache-2.0
// Shared by the files of repr/, and included by nobody else: how a tree stands in memory.
//
// Ownership: all memory of a tree is memory of pools, and nothing is freed before its pool is. A container grows in the pool that
// it was made in. A value that is given to a container must live at least as long as the container does. Scalars and names of
// members never change once they are made, so several trees may share them.
#ifndef TENURE_REPR_JSON_INTERNAL_H
#define TENURE_REPR_JSON_INTERNAL_H

#include "repr/json/doc.h"

// Parsing, writing and comparing recurse once per level, so no limit is taken beyond this one.
enum { REPR_DEPTH_MAX = 1000 };

// A member of an object. key holds the length of the name and bytes of it (json_member_key), so that few names have to be
// compared byte by byte.
struct doc_member {
	uint64_t key;
	const char *name; // ended by NUL; NULL: the member was removed
	struct doc *value;
};

struct doc {
	uint8_t kind;     // enum doc_kind; never DOC_NULL, which is a NULL pointer
	bool is_integer;  // a DOC_NUMBER without fraction and exponent, except "-0"
	bool is_negative; // an integer below 0: its bits are those of an int64_t
	uint32_t n;       // bytes of a string or of a number's text; elements; members
	uint32_t used;    // of a container: places taken, those of removed members too
	uint32_t room;    // … and places allocated
	union {
		bool truth;       // of a DOC_BOOL
		struct {          // of a DOC_STRING and a DOC_NUMBER
			const char *text; // a string is ended by NUL; a number's text is NULL if the number was not parsed from one
			union {
				uint64_t integer;
				double real; // of a number that is no integer
			};
		};
		struct {          // of a container
			struct pool *pool;
			union {
				struct doc **elements;
				struct doc_member *members; // behind them, if there is room for more than JSON_FEW, an index (tree.c)
			};
		};
	};
};

// The caller owns the tree and may change it: functions that look at trees return const pointers only.
static inline struct doc *json_own(const struct doc *doc)
{
	return (struct doc *)doc;
}

// ---- tree.c

// Makes a string of text, which is ended by NUL and lives as long as the pool; it is not copied.
struct doc *json_string_of(struct pool *pool, struct str text);
// Adds a member whose name is ended by NUL, holds no other NUL and lives as long as the object; it is not copied. Returns false,
// and adds nothing, if the object has a member of that name.
bool json_add_member(struct doc *object, struct str name, struct doc *value);
// The member of that name; NULL: there is none.
struct doc_member *json_find_member(const struct doc *object, struct str name);
// Inserts an element before the one at index, which is at most the array's length; replaces one; removes one.
void json_insert_element(struct doc *array, size_t index, struct doc *value);
void json_replace_element(struct doc *array, size_t index, struct doc *value);
void json_remove_element(struct doc *array, size_t index);
// The value of a DOC_NUMBER as a double, rounded if it has to be.
double json_double(const struct doc *number);

// ---- number.c

// The number of bytes at the beginning of text that can be part of a number.
size_t json_number_run(struct str text);
// Parses a number, whose text must live as long as the pool; it is not copied. NULL: *why says what is wrong.
struct doc *json_number_parse(struct pool *pool, struct str text, const char **why);

// Do two numbers' texts mean the same number, exactly?
bool json_number_same(struct str a, struct str b);
// Compares two numbers by value, exactly: <0, 0, >0.
int json_number_order(struct str a, struct str b);
// Has the number no fraction, however it is written?
bool json_number_is_whole(struct str text);
// Its value, if it has no fraction. False, with 0 in *value: it has one, or more than 64 bits.
bool json_number_whole(struct str text, int64_t *value);

// ---- json_pointer.c (RFC 6901)

struct pointer {
	const struct str *tokens; // unescaped
	size_t n;                 // 0: the whole document
};
// Parses a pointer into tokens, allocated from pool. False: *why is a text that continues "a pointer …".
bool pointer_parse(struct pool *pool, struct str text, struct pointer *pointer, const char **why);
// Is token an array index: digits without leading zeros? ("-", which means the end of the array, is none.)
bool pointer_index(struct str token, size_t *index);

// ---- json/string.c

// The offset, from `from` on, of the first byte that stands escaped in a JSON string: a quote, a backslash or a control
// character; text.n if there is none.
size_t json_plain(struct str text, size_t from);
// Appends text with its escapes resolved. False: *why says what is wrong at offset *at.
bool json_unescape(struct str text, struct buf *out, size_t *at, const char **why);

// ---- member_text.c

// The offset behind the string whose opening quote is at text.p[at]; more than text.n if the string is not closed.
size_t json_skip_string(struct str text, size_t at);

// ---- place.c

// A place in a document, for error texts: a chain of names and indexes on the stack.
struct place {
	const struct place *parent; // NULL: the outermost
	struct str name;            // the member's name; p NULL: an element of a list
	size_t index;
};
// The place as text: "\"account.metadata.colour\"", "\"move.accounts[2].id\"", or "the document" for the outermost without a
// name.
struct str place_text(struct pool *pool, const struct place *place);
// A client's text, cut to a readable length for an error text.
struct str json_clipped(struct pool *pool, struct str s);
// A number as it was written, cut in the same way. It may point to the number's own text.
struct str json_number_clipped(struct pool *pool, const struct doc *number);
const char *kind_name(enum doc_kind kind); // "an object"

#endif
