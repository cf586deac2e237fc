// SPDX-License-Identifier: Apache-2.0
// Documents and the JSON texts they are stored as: what the dialects that keep and splice such texts share.
#ifndef TENURE_API_DOCUMENTS_H
#define TENURE_API_DOCUMENTS_H

#include "registry/core/stored.h"
#include "repr/json/doc.h"

// The document as compact JSON, from pool.
struct str json_text(struct pool *pool, const struct doc *doc);
// The text to store for doc in that column, "meta" or "body": the stored one itself if it means the same, so that a write
// that changes nothing is recognized. current NULL: nothing is there yet.
struct str text_or_same(struct pool *pool, const struct doc *doc, const struct resource *current, const char *column);
// RFC 3339, UTC, as documents have times.
struct str time_text(struct pool *pool, int64_t us);
// Appends "name":"value", with the comma behind it. name is written as it stands.
void json_add_member(struct buf *out, const char *name, struct str value);
// Appends the members of a stored object, without its braces; with a comma in front unless there are none. Its text is taken
// as it is, which spares reading it: damage within the braces is passed on. place: where it comes from.
void add_stored_members(struct buf *out, struct stored_place place, struct str object);
// By name, so that the same members always make the same text.
void sort_members(struct doc_iter *members, size_t n);

#endif
