// SPDX-License-Identifier: Apache-2.0
// Label and field selectors, which select the objects of a list.
#ifndef TENURE_API_SELECTOR_H
#define TENURE_API_SELECTOR_H

#include "repr/json/doc.h"

// Syntax of label selectors: "a=b", "a==b", "a!=b", "a in (x, y)", "a notin (x)", "a", "!a", "a>5", "a<5"; commas mean "and". A
// negative condition also holds for an object without the label. "" selects all objects.
struct label_selector;
// Parses text. The selector lives in pool and refers to text, which must live as long. False: *error says why.
bool label_selector_parse(struct pool *pool, struct str text, const struct label_selector **selector,
	struct str *error);
// labels: the object's metadata.labels; NULL if it has none.
bool label_selector_matches(const struct label_selector *selector, const struct doc *labels);
bool label_selector_is_empty(const struct label_selector *selector);
// A text that the compact JSON of every object has whose labels the selector matches; other objects may have it, too. It saves
// parsing those that don't: "\"app\":\"web\"". p NULL: no such text is known.
struct str label_selector_trace(struct pool *pool, const struct label_selector *selector);

// Syntax of field selectors: "metadata.name=x,status.phase!=y"; a "\" stands before "," "=" or "\" in a value. "" selects all.
struct field_selector;
// fields: paths of members, ending with NULL, that may be used besides metadata.name and metadata.namespace.
bool field_selector_parse(struct pool *pool, struct str text, const char *const *fields,
	const struct field_selector **selector, struct str *error);
// A field that is absent, or neither text nor boolean, counts as "".
bool field_selector_matches(const struct field_selector *selector, const struct doc *object);
bool field_selector_is_empty(const struct field_selector *selector);
// Does it use other fields than metadata.name and metadata.namespace, which never change?
bool field_selector_varies(const struct field_selector *selector);
// The value that the selector requires of the field by "="; p NULL if there is no such condition. With it one object can be read
// instead of all; the selector's other conditions must still be checked.
struct str field_selector_value(const struct field_selector *selector, const char *field);
// A text that occurs in the compact JSON, outside of the metadata, of every object that the selector matches. Objects that it
// does not match may have the text, too. p NULL: no such text is known.
struct str field_selector_trace(struct pool *pool, const struct field_selector *selector);

#endif
