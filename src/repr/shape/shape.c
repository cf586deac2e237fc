// SPDX-License-Identifier: Apache-2.0
// Documents in the format that was negotiated.
#include "base/base.h"

#include "repr/shape/internal.h"

bool repr_read(struct pool *pool, const struct repr_document *document, enum repr_format format, struct str text,
	struct doc_limits limits, struct doc **body, struct str *error)
{
	if (limits.depth > REPR_DEPTH_MAX)
		limits.depth = REPR_DEPTH_MAX;
	*body = NULL;
	bool read = format == REPR_XML ? shape_read_xml(pool, document, text, limits, body, error)
		: shape_read_json(pool, document, text, limits, body, error);
	if (!read)
		*body = NULL;
	return read;
}

void repr_write(const struct repr_document *document, enum repr_format format, const struct doc *body, struct buf *out)
{
	if (format == REPR_XML)
		shape_write_xml(document, body, out);
	else
		shape_write_json(document, body, out);
}

const char *repr_media_type(enum repr_format format)
{
	return format == REPR_XML ? "application/xml" : "application/json";
}
