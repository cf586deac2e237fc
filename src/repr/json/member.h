// SPDX-License-Identifier: Apache-2.0
// Looks up a member of a JSON object, for code that treats null as it treats absence.
#ifndef TENURE_REPR_JSON_MEMBER_H
#define TENURE_REPR_JSON_MEMBER_H

#include "repr/json/doc.h"

// The value of the member; NULL: it is null, or there is no such member, or object is not an object.
static inline const struct doc *doc_member(const struct doc *object, const char *name)
{
	const struct doc *value;

	return doc_get(object, str_c(name), &value) ? value : NULL;
}

// Is the member true? False: it is false, null, of another type, or there is no such member.
static inline bool doc_member_is_true(const struct doc *object, const char *name)
{
	const struct doc *value = doc_member(object, name);

	return doc_kind(value) == DOC_BOOL && doc_bool(value);
}

#endif
