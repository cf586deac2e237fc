// SPDX-License-Identifier: Apache-2.0
// Documents in memory: a tree of JSON values. A value is memory of the pool that was given when it was made, and is freed with
// it. So a value that is given to an object or array must be of the same pool, or of one that lives longer: a copy (doc_copy)
// where it is not.
#ifndef TENURE_REPR_JSON_DOC_H
#define TENURE_REPR_JSON_DOC_H

#include "base/buf.h"
#include "base/str.h"

struct pool;
struct doc; // opaque; NULL stands for JSON null wherever a value is read

enum doc_kind { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_ARRAY, DOC_OBJECT };

// ---- reading text

struct doc_limits {
	size_t depth; // nested arrays and objects, the outermost counts 1
	size_t nodes; // values in all; 0: no limit
};

// Parses JSON by RFC 8259, and more strictly where RFC 7493 recommends it. It accepts UTF-8 only, without byte order mark, and
// no duplicate names in an object (compared after unescaping), lone surrogates, NaN, Infinity, comments, leading zeros, control
// characters, NUL in a member's name, or anything after the value. Any value may be at the top. Integers outside -2^63 … 2^64-1
// and numbers that overflow a double are refused, since they could not be kept exactly. Every accepted number is written back
// with the text it came with. False: *error, in pool, names the place (line and column) and what would be right.
bool doc_parse_json(struct pool *pool, struct str text, struct doc_limits limits, struct doc **doc, struct str *error);

// ---- looking at a value

enum doc_kind doc_kind(const struct doc *doc);
bool doc_bool(const struct doc *doc);      // of a DOC_BOOL
struct str doc_string(const struct doc *doc);  // of a DOC_STRING, and may hold NUL; of anything else ""
// Returns an integer in *value. False, with 0 in *value: it is no number, out of range, or has a fraction or exponent ("1.0" and
// "1e3" are no integers).
bool doc_i64(const struct doc *doc, int64_t *value);
bool doc_u64(const struct doc *doc, uint64_t *value);
// The same for every number without a fraction, however it is written ("3.0", "1e3").
bool doc_whole_i64(const struct doc *doc, int64_t *value);
struct str doc_number_text(struct pool *pool, const struct doc *doc); // the text of a DOC_NUMBER as JSON, a copy in pool
size_t doc_length(const struct doc *doc);  // members of an object, elements of an array, else 0
size_t doc_elements(const struct doc *doc); // of an array, else 0
const struct doc *doc_at(const struct doc *array, size_t index); // index < doc_elements(array)
// Finds a member by name; *value is NULL if the member is null. False: there is none, or object is no object.
bool doc_get(const struct doc *object, struct str name, const struct doc **value);
// The same of a tree that the caller has built or copied, so that the value may be changed in place; NULL: missing, or null.
struct doc *doc_own_item(struct doc *array, size_t index);
struct doc *doc_own_member(struct doc *object, struct str name);
// Iteration over an object's members in their order:
//   for (struct doc_iter it = doc_iter(object); doc_next(&it);) use(it.name, it.value);
struct doc_iter {
	struct str name;
	const struct doc *value;
	const struct doc *object; // private, as is `next`: the place to look at next
	size_t next;
};
struct doc_iter doc_iter(const struct doc *object);
bool doc_next(struct doc_iter *it);
// doc_get() for a loop over the members of a similar object: if the name is that of the member that *beside comes to next, as it
// is where both objects have the same members in the same order, it costs a step of *beside, which is doc_iter(object) at first.
bool doc_get_beside(struct doc_iter *beside, const struct doc *object, struct str name, const struct doc **value);
// Are two values equal? Members may be in any order; numbers are equal if their texts are, strings byte for byte.
bool doc_equal(const struct doc *a, const struct doc *b);
// The same, but numbers are compared by value: 1, 1.0 and 10e-1 are equal. Exact for any number of digits.
bool doc_equal_by_value(const struct doc *a, const struct doc *b);
// Compares two DOC_NUMBERs by value, exactly: <0, 0, >0.
int doc_order_numbers(const struct doc *a, const struct doc *b);
// Does the DOC_NUMBER have no fraction, however it is written ("1.0", "1e3")?
bool doc_is_whole(const struct doc *number);

// ---- building: an object or array shares a value that is given to doc_set or doc_push with whoever else has it

struct doc *doc_new_object(struct pool *pool);
struct doc *doc_new_array(struct pool *pool);
struct doc *doc_new_string(struct pool *pool, struct str s);
struct doc *doc_new_i64(struct pool *pool, int64_t value);
struct doc *doc_new_u64(struct pool *pool, uint64_t value);
struct doc *doc_new_bool(struct pool *pool, bool value);
// A copy that may be changed without changing the original, and that needs nothing of the original's pool.
struct doc *doc_copy(struct pool *pool, const struct doc *doc);
// Adds or replaces; name must hold no NUL. value NULL is JSON null.
void doc_set(struct doc *object, struct str name, struct doc *value);
void doc_remove(struct doc *object, struct str name);
void doc_push(struct doc *array, struct doc *value);
// Replaces each number in an object or array that has no fraction, and fits into 64 bits with a sign, by an integer: 3.0 and 3e0
// by 3. In place; no other tree may share containers of this one.
void doc_make_integers(struct pool *pool, struct doc *doc);
// Shorthands for doc_set() with a new value.
void doc_set_str(struct pool *pool, struct doc *object, const char *name, struct str value);
void doc_set_u64(struct pool *pool, struct doc *object, const char *name, uint64_t value);

// ---- writing text

// Compact JSON: no blanks, members in their order, '/' not escaped, numbers as they came.
void doc_write_json(const struct doc *doc, struct buf *out);

// Compact JSON in a form for comparing: members are sorted by name, and whole numbers below 2^53 are written as integers (1.0 as
// 1). Values with equal texts are equal (doc_equal_by_value). Equal values have equal texts, unless they hold other numbers that
// are written in different ways (0.5 and 0.50). So sorting the texts finds equal values in n log n steps.
void doc_write_sorted(const struct doc *doc, struct buf *out);

// At least as many bytes as doc_write_json() would write, in much fewer steps.
size_t doc_json_bound(const struct doc *doc);

// Appends s as a JSON string with quotes and escapes, for code that writes JSON without making a tree.
void json_add_string(struct buf *out, struct str s);

// ---- members of an object in its compact text (as doc_write_json() writes it), for code that needs no tree

struct json_members {
	struct str text;
	size_t at; // private: where the member ends that was found last
};
// Of any other text the results are unspecified parts of it.
struct json_members json_members(struct str object);
// The next member: its name as it stands in the text, escapes included, and the JSON text of its value. False: there are no more.
bool json_members_next(struct json_members *members, struct str *name, struct str *value);
// The text behind the member that was found last: a comma and further members, or nothing but the closing brace.
struct str json_members_rest(const struct json_members *members);
// Finds the member with that name, which contains nothing that JSON escapes; *value is its JSON text, a part of the object's.
// The search begins behind the member that was found last, and then at the first one. So to look for members in the order of
// the text costs one pass. False: there is none, and *value is STR_NONE.
bool json_members_find(struct json_members *members, struct str name, struct str *value);

// ---- depth; the outermost object or array counts 1

// Is the JSON text nested at most depth levels deep? text must be well-formed.
bool json_within_depth(struct str text, size_t depth);
// Reorders members: in each object, members whose values end within depth come first; within both groups the order stays. So a
// reader that stops at depth finds all of the former. Returns a new document in pool, or doc itself if nothing had to move.
const struct doc *doc_shallow_first(struct pool *pool, const struct doc *doc, size_t depth);

// ---- JSON Merge Patch (RFC 7396): the result, a new document; neither argument changes.
struct doc *doc_merge_patch(struct pool *pool, const struct doc *target, const struct doc *patch);

// ---- JSON Pointer (RFC 6901) and JSON Patch (RFC 6902)

// Appends "/" and the token with its "~" and "/" escaped.
void pointer_add_token(struct buf *out, struct str token);

// Is patch a valid JSON Patch, whatever its target: an array of operations, each with the members that its "op" needs and valid
// pointers, and no value moved into itself? False: *error names the operation by its index and says what would be right.
bool doc_json_patch_check(struct pool *pool, const struct doc *patch, struct str *error);
// Applies all operations in turn, or none. *result is a new document; neither argument changes. A test compares by
// doc_equal_by_value(). The result stays within limits after each operation, and the work within a multiple of limits.nodes, so
// copies of copies do no harm. False: *error names the operation that failed and why. After a successful doc_json_patch_check()
// this means that the patch does not fit the target: a test failed, a path does not exist, or the result would be too large.
bool doc_json_patch(struct pool *pool, const struct doc *target, const struct doc *patch, struct doc_limits limits,
	struct doc **result, struct str *error);

// What an operation "move" or "copy" carries from one place to another. The places are pointers as unescaped tokens; 0 tokens:
// the whole document.
struct doc_carried {
	bool moves; // "move"
	const struct doc *value; // what is at `from` when the operation is carried out
	const struct str *from, *path;
	size_t n_from, n_path;
};
// A rule about what may be carried. It is asked before each such operation whose two places are not the same.
struct doc_patch_rule {
	bool (*allows)(const struct doc_patch_rule *rule, const struct doc_carried *carried);
	const char *why;  // the error if it does not, a text that goes on from: what is at "/a"
	const void *arg;  // for allows()
};
// Like doc_json_patch(), under that rule; NULL: none.
bool doc_json_patch_ruled(struct pool *pool, const struct doc *target, const struct doc *patch, struct doc_limits limits,
	const struct doc_patch_rule *rule, struct doc **result, struct str *error);

#endif
