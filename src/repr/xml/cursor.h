// SPDX-License-Identifier: Apache-2.0
// Walks through an XML document, element by element. For files in repr/ only. UTF-8, no DOCTYPE, no network; comments
// and processing instructions are passed over. Once a call has failed, *error is set and all further ones fail.
#ifndef TENURE_REPR_XML_CURSOR_H
#define TENURE_REPR_XML_CURSOR_H

#include "repr/json/doc.h"

struct xml_cursor {
	struct pool *pool;
	struct doc_limits limits;
	struct str *error;
	void *reader;  // libxml2's
	void *opened;  // what frees it with the pool
	size_t nodes;  // values made so far
	bool failed;
	bool at_empty; // on an element without content, whose end the parser doesn't tell
};

// Refuses what text must not be and enters the document element: among the rest, more than 32 attributes of an element.
// To be closed; a pool that is cleared before closes it, too.
bool xml_open(struct xml_cursor *xml, struct pool *pool, struct str text, struct doc_limits limits, struct str *error);
void xml_close(struct xml_cursor *xml);
// Name of the element just entered, without prefix.
struct str xml_name(const struct xml_cursor *xml);
// Attributes of the element just entered, one after the other; those of XML itself (xml:lang, xmlns) are left out.
// To be read to the end, before the element's content. Copies in the pool.
bool xml_attribute(struct xml_cursor *xml, struct str *name, struct str *value);
// Enters the next child element; false at the end of the element we are in, which is left, and on failure. Text between
// elements is a failure.
bool xml_child(struct xml_cursor *xml);
// The text of the element just entered, which is left; child elements are a failure.
bool xml_text(struct xml_cursor *xml, struct str *text);
// Leaves the element just entered with all that is in it.
bool xml_skip(struct xml_cursor *xml);
// After the document element's end: nothing but comments may follow.
bool xml_finish(struct xml_cursor *xml);
// Counts one value; false when there are too many.
bool xml_count(struct xml_cursor *xml);
// Sets the error, with the line. Returns false.
bool xml_fail(struct xml_cursor *xml, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
