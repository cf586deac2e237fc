// SPDX-License-Identifier: Apache-2.0
// The depth of documents.
#include "base/base.h"

#include "repr/json/internal.h"

enum { WORD = sizeof(uint64_t) };

// How many bytes of a word are '{' or '[', which differ in one bit.
static size_t openers_in(uint64_t word)
{
	const uint64_t each = UINT64_C(0x0101010101010101), low = each * 0x7f;

	word = (word | each * 0x20) ^ each * '{'; // these bytes are 0 now
	word = ~(((word & low) + low) | word | low); // 0x80 where a byte was 0
	return (size_t)((word >> 7) * each >> 56);
}

// Counts openers first, since most texts have fewer objects and arrays than the allowed depth: then nothing else has to be
// checked.
static size_t count_openers(struct str text)
{
	size_t n = 0, at = 0;
	uint64_t word;

	for (; text.n - at >= WORD; at += WORD) {
		memcpy(&word, text.p + at, WORD);
		n += openers_in(word);
	}
	for (; at < text.n; at++)
		n += (size_t)(text.p[at] == '{') + (size_t)(text.p[at] == '[');
	return n;
}

bool json_within_depth(struct str text, size_t depth)
{
	size_t here = 0;

	if (count_openers(text) <= depth)
		return true;
	for (size_t at = 0; at < text.n;) {
		char c = text.p[at];
		if (c == '"') {
			at = json_skip_string(text, at);
			continue;
		}
		if ((c == '{' || c == '[') && ++here > depth)
			return false;
		if (c == '}' || c == ']')
			here--;
		at++;
	}
	return true;
}

static size_t depth_of(const struct doc *doc)
{
	size_t deepest = 0, depth;

	for (size_t i = 0; doc_kind(doc) == DOC_ARRAY && i < doc_length(doc); i++) {
		depth = depth_of(doc_at(doc, i));
		deepest = depth > deepest ? depth : deepest;
	}
	for (struct doc_iter it = doc_iter(doc); doc_next(&it);) {
		depth = depth_of(it.value);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + (doc_kind(doc) == DOC_ARRAY || doc_kind(doc) == DOC_OBJECT);
}

static struct doc *arranged(struct pool *pool, const struct doc *doc, size_t left);

static void add_members(struct pool *pool, const struct doc *object, size_t left, bool deep, struct doc *result)
{
	for (struct doc_iter it = doc_iter(object); doc_next(&it);) {
		if ((depth_of(it.value) > left) == deep)
			doc_set(result, it.name, deep ? arranged(pool, it.value, left) : json_own(it.value));
	}
}

// left: how many levels deep doc may be.
static struct doc *arranged(struct pool *pool, const struct doc *doc, size_t left)
{
	struct doc *result;

	if (left == 0 || (doc_kind(doc) != DOC_OBJECT && doc_kind(doc) != DOC_ARRAY))
		return json_own(doc);
	if (doc_kind(doc) == DOC_ARRAY) {
		result = doc_new_array(pool);
		for (size_t i = 0; i < doc_length(doc); i++)
			doc_push(result, arranged(pool, doc_at(doc, i), left - 1));
		return result;
	}
	result = doc_new_object(pool);
	add_members(pool, doc, left - 1, false, result);
	add_members(pool, doc, left - 1, true, result);
	return result;
}

const struct doc *doc_shallow_first(struct pool *pool, const struct doc *doc, size_t depth)
{
	return depth_of(doc) <= depth ? doc : arranged(pool, doc, depth);
}
