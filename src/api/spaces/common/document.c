// SPDX-License-Identifier: Apache-2.0
// JSON documents as answers, and members of an object's metadata.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "repr/json/doc.h"

void spaces_write_json_text(struct call *call, struct str text)
{
	call->response.body = text;
	call->response.content_type = STR("application/json");
}

void spaces_write_json_doc(struct call *call, const struct doc *doc)
{
	struct buf out = buf_new(call->pool, 1024);

	doc_write_json(doc, &out);
	spaces_write_json_text(call, buf_str(&out));
}

struct str spaces_metadata_text(const struct doc *object, const char *name)
{
	const struct doc *metadata, *value;

	if (!doc_get(object, STR("metadata"), &metadata) || !doc_get(metadata, str_c(name), &value) ||
		doc_kind(value) != DOC_STRING)
		return STR_NONE;
	return doc_string(value);
}
