// SPDX-License-Identifier: Apache-2.0
// Walks through an XML document, element by element. For files in repr/ only. UTF-8, no DOCTYPE, no network; comments and
// processing instructions are skipped. Once a call has failed, *error is set and all later calls fail.
#ifndef TENURE_REPR_XML_CURSOR_H
#define TENURE_REPR_XML_CURSOR_H

#include "repr/json/doc.h"

struct xml_cursor {
	struct pool *pool;
	struct doc_limits limits;
	struct str *error;
	void *reader;  // the reader of libxml2
	void *opened;  // frees the reader with the pool
	size_t nodes;  // values made so far
	bool failed;
	bool at_empty; // on an element without content, for which the parser reports no end
};

// Checks the text for what is not allowed, such as more than 32 attributes of an element, and enters the document element. The
// caller closes the cursor by xml_close(); if the pool is cleared before, that closes it, too.
bool xml_open(struct xml_cursor *xml, struct pool *pool, struct str text, struct doc_limits limits, struct str *error);
void xml_close(struct xml_cursor *xml);
// Name of the element just entered, without prefix.
struct str xml_name(const struct xml_cursor *xml);
// Returns the next attribute of the element just entered, copied into pool. Declarations of namespaces (xmlns) and attributes of
// a namespace (xml:lang, xsi:schemaLocation) are left out, since a document has none. All must be read before the element's
// content. False: there are no more.
bool xml_attribute(struct xml_cursor *xml, struct str *name, struct str *value);
// Enters the next child element. False at the end of the current element, which is then left, and on failure. Text between
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
