// SPDX-License-Identifier: Apache-2.0
// For the files of shape/ only.
#ifndef TENURE_REPR_SHAPE_INTERNAL_H
#define TENURE_REPR_SHAPE_INTERNAL_H

#include "repr/json/internal.h"
#include "repr/shape/shape.h"

// ---- members.c

// Which members XML writes as attributes, and which as elements; JSON knows no difference.
enum { SHAPE_ATTRIBUTES = 1, SHAPE_ELEMENTS = 2 };
// The names of members of these kinds for a message: "\"id\", \"tier\""; "none".
struct str shape_member_names(struct pool *pool, const struct shape *members, unsigned kinds);
const struct shape *shape_find_member(const struct shape *members, struct str name);

// ---- shape/json.c, shape/xml_read.c, shape/xml_write.c

bool shape_read_json(struct pool *pool, const struct repr_document *document, struct str text, struct doc_limits limits,
	struct doc **body, struct str *error);
void shape_write_json(const struct repr_document *document, const struct doc *body, struct buf *out);
bool shape_read_xml(struct pool *pool, const struct repr_document *document, struct str text, struct doc_limits limits,
	struct doc **body, struct str *error);
void shape_write_xml(const struct repr_document *document, const struct doc *body, struct buf *out);

#endif
