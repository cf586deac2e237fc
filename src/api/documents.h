// SPDX-License-Identifier: Apache-2.0
// Documents and the JSON texts in which they are stored, for the dialects that store and copy such texts.
#ifndef TENURE_API_DOCUMENTS_H
#define TENURE_API_DOCUMENTS_H

#include "registry/core/stored.h"
#include "repr/json/doc.h"

struct call;

// The document as compact JSON; the text lives in pool.
struct str document_json_text(struct pool *pool, const struct doc *doc);
// The text to store for doc in the column "meta" or "body". If the stored text means the same it is returned itself, so that a
// write that changes nothing is recognised. current NULL: nothing is stored yet.
struct str document_text_or_stored(struct pool *pool, const struct doc *doc, const struct resource *current, const char *column);
// Is what will be stored within max_body, or not larger than what is stored? The latter makes it possible to repair a resource
// that was stored under a greater limit, and to delete one that waits for a finalizer. current NULL: nothing is stored yet.
bool document_fits(const struct call *call, const struct resource *current, const struct content *content);
// A time in the form that documents use: RFC 3339 in UTC.
struct str document_time_text(struct pool *pool, int64_t us);
// Appends "name":"value", and a comma. name is not escaped.
void document_add_member(struct buf *out, const char *name, struct str value);
// Appends the members of a stored object, without its braces; a comma stands in front if there are any. The text is copied
// without being parsed, to save time, so damage within the braces is not found. place: where the text is stored, for errors.
void document_add_stored_members(struct buf *out, struct stored_place place, struct str object);
// Sorts by name, so that the same members always give the same text.
void document_sort_members(struct doc_iter *members, size_t n);

#endif
