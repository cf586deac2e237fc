// SPDX-License-Identifier: Apache-2.0
// Characters and names of XML 1.0. For files in repr/ only.
#ifndef TENURE_REPR_XML_TEXT_H
#define TENURE_REPR_XML_TEXT_H

#include "base/buf.h"

// Returns the character at *at and moves *at behind it. Ill-formed UTF-8 yields U+FFFD, and *at moves by one byte.
uint32_t xml_next_char(struct str s, size_t *at);
bool xml_is_char(uint32_t c);
// True when all characters of s can stand in an XML document.
bool xml_holds(struct str s);
// True when s is a name without colon, and not of those beginning with "xml" that XML keeps for itself.
bool xml_is_ncname(struct str s);
// Append s as the text of an element, or as the value of an attribute without its quotes. What XML cannot hold becomes U+FFFD.
void xml_add_text(struct buf *out, struct str s);
void xml_add_value(struct buf *out, struct str s);

#endif
