// SPDX-License-Identifier: Apache-2.0
// Label and field selectors: which objects of a list are meant.
#ifndef TENURE_API_SPACES_LANG_SELECTOR_H
#define TENURE_API_SPACES_LANG_SELECTOR_H

#include "repr/json/doc.h"

// "a=b", "a==b", "a!=b", "a in (x, y)", "a notin (x)", "a", "!a", "a>5", "a<5"; commas between them mean and. What must
// not be is true of an object without the label, too. "" means all.
struct label_selector;
// Lives in pool, and so must text. False: *error.
bool label_selector_parse(struct pool *pool, struct str text, const struct label_selector **selector,
	struct str *error);
// labels: the object's metadata.labels, NULL for none.
bool label_selector_matches(const struct label_selector *selector, const struct doc *labels);
bool label_selector_is_empty(const struct label_selector *selector);

// "metadata.name=x,status.phase!=y"; "\" before "," "=" or "\" in a value. "" means all.
struct field_selector;
// fields: what may be asked about besides metadata.name and metadata.namespace, paths of members; ends with NULL.
bool field_selector_parse(struct pool *pool, struct str text, const char *const *fields,
	const struct field_selector **selector, struct str *error);
// A field that is missing, or neither text nor boolean, counts as "".
bool field_selector_matches(const struct field_selector *selector, const struct doc *object);
bool field_selector_is_empty(const struct field_selector *selector);
// Does it ask about more than metadata.name and metadata.namespace, which never change?
bool field_selector_varies(const struct field_selector *selector);
// The value that the field must have; p NULL when no "=" is asked of it. With it one object can be read instead of all;
// what else is asked is still to be matched.
struct str field_selector_value(const struct field_selector *selector, const char *field);

#endif
