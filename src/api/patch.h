// SPDX-License-Identifier: Apache-2.0
// PATCH in both its forms: JSON Merge Patch (RFC 7396) and JSON Patch (RFC 6902).
#ifndef TENURE_API_PATCH_H
#define TENURE_API_PATCH_H

#include "api/call.h"

struct type_rules; // registry/type/rules.h

// How a request's body changes the stored document.
enum edit_kind { EDIT_PUT, EDIT_MERGE_PATCH, EDIT_JSON_PATCH };

// Any JSON value, for call_read(): the caller checks what it contains.
extern const struct repr_document any_document;

// Reads the body of a PATCH; its media type decides *kind. OUTCOME_OK, or _BAD_DOCUMENT: not JSON, or not a well-formed patch.
enum outcome patch_read_body(struct call *call, enum edit_kind *kind, struct doc **patch);
// Applies the patch to whole, the document as it is shown; *result is a new document. rules: of the type of the resource whose
// members the document has, for secrets that a JSON Patch can't carry elsewhere; NULL: it has none. False, with *error, if the
// patch does not fit the document.
bool patch_result(struct call *call, enum edit_kind kind, const struct type_rules *rules, const struct doc *whole,
	const struct doc *patch, const struct doc **result, struct str *error);
// The same with an outcome: OUTCOME_OK, or _CONFLICT with call->problem set.
enum outcome patch_apply(struct call *call, enum edit_kind kind, const struct type_rules *rules, const struct doc *whole,
	const struct doc *patch, const struct doc **result);

#endif
