// SPDX-License-Identifier: Apache-2.0
// One description of a document for reading and writing it, in JSON and XML. A shape says which members an object has and how
// each looks in XML. The reader checks a text against it and makes a tree (repr/json/doc.h); the writer makes a text of a tree.
// Handlers only see trees.
//
// JSON: a document with a root name is an object with that one member ({"account": {…}}); root NULL: the bare value.
// XML:  the root name (in xmlns, when given) is the document element. A member is an attribute (SHAPE_ATTR) or a child
//       element of its name. SHAPE_MAP: an object of strings, each a child element named like its key (inline: directly
//       in the parent). SHAPE_LIST: a wrapper element of the member's name around one element per item, named
//       item->name. SHAPE_ANY: any JSON, in XML as W3C's fn:json-to-xml has it (XPath and XQuery Functions 3.1,
//       section 17.4.2), namespace http://www.w3.org/2005/xpath-functions.
#ifndef TENURE_REPR_SHAPE_SHAPE_H
#define TENURE_REPR_SHAPE_SHAPE_H

#include "repr/json/doc.h"

enum repr_format { REPR_JSON, REPR_XML };

enum shape_kind { SHAPE_STRING, SHAPE_NUMBER, SHAPE_BOOL, SHAPE_OBJECT, SHAPE_LIST, SHAPE_MAP, SHAPE_ANY };

enum shape_flags {
	SHAPE_ATTR = 1,      // in XML an attribute (STRING, NUMBER, BOOL only)
	SHAPE_INLINE = 2,    // MAP or LIST: its elements stand directly in the parent, without wrapper
	SHAPE_REQUIRED = 4,  // reader: absence is an error
	SHAPE_NOT_READ = 8,  // reader: accepted and ignored (what the server owns in a document a client sends back)
	SHAPE_SKIP_EMPTY = 16, // XML writer: an empty list leaves no wrapper behind (JSON writes [])
};

struct shape {
	const char *name;  // member's name in JSON, attribute's or element's in XML
	enum shape_kind kind;
	unsigned flags;
	const struct shape *members; // OBJECT: ends with a name of NULL
	const struct shape *item;    // LIST: of each element; item->name is the element's name in XML
};

struct repr_document {
	const char *root;      // "account"; NULL: the JSON form is the bare value
	const char *xmlns;     // of the XML form, NULL for none; readers take any namespace
	struct shape body;     // its name: with root NULL, XML's document element (NULL: JSON-only or SHAPE_ANY)
};

// Reads text as a document. JSON: by the rules of doc_parse_json(). XML: UTF-8, no DOCTYPE, no NUL, limited depth and size, no
// network; processing instructions are ignored. Errors are unknown members, elements and attributes, values of the wrong kind,
// missing required members, and another root ("expected \"account\", found \"tenant\""). *body is the tree without the root.
// False: *error, in pool.
bool repr_read(struct pool *pool, const struct repr_document *document, enum repr_format format, struct str text,
	struct doc_limits limits, struct doc **body, struct str *error);

// Writes the tree in that format. Only members of the shape are written; members that the tree lacks are left out. XML begins
// with an XML declaration. Characters that XML 1.0 cannot hold are written as U+FFFD in plain members, and in SHAPE_MAP and
// SHAPE_ANY escaped as fn:json-to-xml says (escaped="true", \uXXXX), so that they come back.
void repr_write(const struct repr_document *document, enum repr_format format, const struct doc *body, struct buf *out);

// "application/json" or "application/xml".
const char *repr_media_type(enum repr_format format);

#endif
