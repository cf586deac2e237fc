// SPDX-License-Identifier: Apache-2.0
// Any JSON in XML: W3C's fn:json-to-xml form. For files in repr/ only.
#ifndef TENURE_REPR_XML_ANY_H
#define TENURE_REPR_XML_ANY_H

#include "repr/json/doc.h"
#include "repr/xml/cursor.h"

#define XML_ANY_NAMESPACE "http://www.w3.org/2005/xpath-functions"

// Reads the element that the cursor has just entered, up to its end. depth: the number of levels around it.
bool xml_any_read(struct xml_cursor *xml, size_t depth, struct doc **value);
// Reads the text of the element just entered, and leaves that: as a JSON number, or as a boolean (xs:boolean).
bool xml_read_number(struct xml_cursor *xml, struct doc **value);
bool xml_read_bool(struct xml_cursor *xml, struct doc **value);
// The same from text: an attribute's value.
bool xml_parse_number(struct xml_cursor *xml, struct str text, struct doc **value);
bool xml_parse_bool(struct xml_cursor *xml, struct str text, struct doc **value);
// An attribute that is true or false, such as escaped.
bool xml_parse_flag(struct xml_cursor *xml, struct str text, bool *flag);
// Text with JSON's escapes for what XML cannot hold, and for each backslash, as the attribute escaped="true" tells; and the
// reverse.
struct str xml_escaped(struct pool *pool, struct str s);
bool xml_unescape(struct xml_cursor *xml, struct str text, struct str *result);
// Writes value as one element, which declares the namespace, without blanks.
void xml_any_write(const struct doc *value, struct buf *out);

#endif
