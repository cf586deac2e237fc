// SPDX-License-Identifier: Apache-2.0
// Shared by the files of repr/, and included by nobody else: a struct doc is a json-c object under another name.
//
// Ownership: json-c counts references. A value that is made for a pool is held by that pool (a cleanup drops the reference),
// and by its parent once it is attached. So nothing leaks, attached or not, and a tree may span pools. Parsing, writing and
// comparing recurse once per level, so no caller's limit may exceed REPR_DEPTH_MAX.
#ifndef TENURE_REPR_JSON_INTERNAL_H
#define TENURE_REPR_JSON_INTERNAL_H

#include <json-c/json.h>

#include "repr/json/doc.h"

// Parsing, writing and comparing recurse once per level, so no limit is taken beyond this one.
enum { REPR_DEPTH_MAX = 1000 };

static inline struct json_object *json_tree_of(const struct doc *doc)
{
	return (struct json_object *)doc;
}

static inline struct doc *doc_of(struct json_object *tree)
{
	return (struct doc *)tree;
}

// ---- doc.c

// Returns tree; if it is NULL, json-c had no memory: logs that and aborts, as pools do.
struct json_object *json_tree_made(struct json_object *tree);
// Gives the caller's reference to the pool, with the bytes charged since the last json_tree_keep(). It may leave the caller by
// longjmp as pool_alloc() does; the pool has the tree even then.
struct doc *json_tree_keep(struct pool *pool, struct json_object *tree);
struct json_object *json_tree_string(struct str s);
// Returns a deep copy with a reference for the caller. Call it between budget_hold() and budget_release(): once the budget is
// exceeded, the rest of the copy is null.
struct json_object *json_tree_copy(struct json_object *tree);

// The memory that json-c takes, as measured for json-c 0.16 to 0.18 on 64 bits: of a value with its place in an array; of a
// member beside its value; of an object without its table; and of a place in the table. A new object's table has TREE_TABLE
// places and doubles when it is full.
enum { TREE_VALUE = 80, TREE_MEMBER = 32, TREE_OBJECT = 160, TREE_TABLE = 16, TREE_TABLE_PLACE = 40 };
// The memory of an empty object.
enum { TREE_EMPTY_OBJECT = TREE_OBJECT + TREE_TABLE * TREE_TABLE_PLACE };
// Charges n bytes to the budget before they are allocated for a tree that is being built. A caller that holds a tree of its own
// calls it between budget_hold() and budget_release(). False: the budget is exceeded, and the caller must drop the tree; so is
// every later charge until then. Since most documents are small, bytes are counted in steps: tree_uncounted collects them, and
// json_tree_count() charges them.
enum { TREE_STEP = 4096 };
extern _Thread_local size_t tree_uncounted __attribute__((tls_model("initial-exec")));
bool json_tree_count(void);
static inline bool json_tree_charge(size_t n)
{
	tree_uncounted += n;
	return tree_uncounted < TREE_STEP || json_tree_count();
}
// Returns to the budget what was charged since json_tree_charged() returned since: the tree that was built is dropped.
size_t json_tree_charged(void);
void json_tree_uncharge(size_t since);
// Charges one more member of an object, without its value.
bool json_tree_charge_member(struct json_object *object, size_t name_bytes);
// Charges an object that is complete. *objects counts the objects of a document: after the first few, the table of a small
// object, which has 16 places, is replaced by one that fits. Else a text full of small objects would take 250 times its size.
void json_tree_charge_object(struct json_object *object, size_t *objects);
// Adds a member; takes over the caller's reference to value. Returns whether the name is new in the object. name must hold no
// NUL.
bool json_tree_add(struct json_object *object, struct str name, struct json_object *value);

// ---- number.c

// The number of bytes at the beginning of text that can be part of a number.
size_t json_number_run(struct str text);
// Parses a number; the caller gets a reference. NULL: *why says what is wrong.
struct json_object *json_number_parse(struct pool *pool, struct str text, const char **why);

// Do two numbers' texts mean the same number, exactly?
bool json_number_same(struct str a, struct str b);
// Compares two numbers by value, exactly: <0, 0, >0.
int json_number_order(struct str a, struct str b);
// Has the number no fraction, however it is written?
bool json_number_is_whole(struct str text);

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
const char *kind_name(enum doc_kind kind); // "an object"

#endif
