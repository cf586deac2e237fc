// SPDX-License-Identifier: Apache-2.0
// What the files of repr/ share and nobody else includes: a struct doc is a json-c object under another name.
//
// Ownership: json-c counts references. A value made for a pool is held by that pool (a cleanup drops the reference)
// and, once attached, by its parent as well; so nothing leaks, attached or not, and trees may span pools.
#ifndef TENURE_REPR_JSON_INTERNAL_H
#define TENURE_REPR_JSON_INTERNAL_H

#include <json-c/json.h>

#include "repr/json/doc.h"

// Parsing, writing and comparing recurse once per level, so no limit is taken beyond this one.
enum { REPR_DEPTH_MAX = 1000 };

static inline struct json_object *tree_of(const struct doc *doc)
{
	return (struct json_object *)doc;
}

static inline struct doc *doc_of(struct json_object *tree)
{
	return (struct doc *)tree;
}

// ---- doc.c

// What json-c made; logs and aborts when that is NULL (out of memory), as pools do.
struct json_object *tree_made(struct json_object *tree);
// Gives the caller's reference to the pool, with what was charged since the last one. May leave the caller as pool_alloc()
// does; the tree is the pool's then.
struct doc *tree_keep(struct pool *pool, struct json_object *tree);
struct json_object *tree_string(struct str s);
// A deep copy, the caller's. Called between budget_hold() and budget_release(): once the budget is exceeded, what is
// left of it is null.
struct json_object *tree_copy(struct json_object *tree);

// What json-c takes of the system, as measured for json-c 0.16 to 0.18 on 64 bits: a value, with its place in an array; a
// member beside its value; an object without its table, and a place in that. A new object's table has TREE_TABLE places, and
// doubles when it is full.
enum { TREE_VALUE = 80, TREE_MEMBER = 32, TREE_OBJECT = 160, TREE_TABLE = 16, TREE_TABLE_PLACE = 40 };
// Of an empty object.
enum { TREE_EMPTY_OBJECT = TREE_OBJECT + TREE_TABLE * TREE_TABLE_PLACE };
// Counts bytes that are about to be taken for a tree that is being built. A caller that holds a tree of its own encloses
// this in budget_hold() and budget_release(). False: the budget is exceeded, and the caller drops what it holds.
// Bytes are counted in steps, as most documents are small: tree_uncounted are still to be, and tree_count() does it.
enum { TREE_STEP = 4096 };
extern _Thread_local size_t tree_uncounted __attribute__((tls_model("initial-exec")));
bool tree_count(void);
static inline bool tree_charge(size_t n)
{
	tree_uncounted += n;
	return tree_uncounted < TREE_STEP || tree_count();
}
// Gives back what was charged since tree_charged() said so much: what was built is dropped.
size_t tree_charged(void);
void tree_uncharge(size_t since);
// The same for one more member of an object, beside its value.
bool tree_charge_member(struct json_object *object, size_t name_bytes);
// The same for an object that is complete. *objects counts those of one document: beyond the first few, a small object's
// table of 16 members is replaced by one that fits, since a text full of small objects would take 250 times its size.
void tree_charge_object(struct json_object *object, size_t *objects);
// True when the object has no such member; name holds no NUL. The object takes over the caller's reference to value.
bool tree_add(struct json_object *object, struct str name, struct json_object *value);

// ---- number.c

// Length of the run of bytes that can stand in a number.
size_t number_run(struct str text);
// The value of a number's text, the caller's. NULL: *why says what is wrong with it.
struct json_object *number_parse(struct pool *pool, struct str text, const char **why);

// Do two numbers' texts mean the same number, exactly?
bool number_same(struct str a, struct str b);
// Their order, exactly: <0, 0, >0.
int number_order(struct str a, struct str b);
// Has the number no fraction, however it is written?
bool number_is_whole(struct str text);

// ---- json_pointer.c (RFC 6901)

struct pointer {
	const struct str *tokens; // unescaped
	size_t n;                 // 0: the whole document
};
// False: *why continues "a pointer …".
bool pointer_parse(struct pool *pool, struct str text, struct pointer *pointer, const char **why);
// Is token an array's index: digits without leading zeros? (Not "-", which is none of an element.)
bool pointer_index(struct str token, size_t *index);

// ---- json/string.c

// Appends text with JSON's escapes resolved. False: *why, and *at the offset in text.
bool json_unescape(struct str text, struct buf *out, size_t *at, const char **why);

// ---- place.c

// Where in a document the reader stands, for error texts.
struct place {
	const struct place *parent; // NULL: the outermost
	struct str name;            // member's name; p NULL for an element of a list
	size_t index;
};
// "\"account.metadata.colour\"", "\"move.accounts[2].id\"", or "the document" for the outermost without a name.
struct str place_text(struct pool *pool, const struct place *place);
// A client's text as error texts show it: cut to a readable length.
struct str clipped(struct pool *pool, struct str s);
const char *kind_name(enum doc_kind kind); // "an object"

#endif
