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

#endif
