// SPDX-License-Identifier: Apache-2.0
// PATCH in both its forms: JSON Merge Patch (RFC 7396) and JSON Patch (RFC 6902).
#ifndef TENURE_API_PATCH_H
#define TENURE_API_PATCH_H

#include "api/call.h"

// What a request's body is to the document that is there.
enum edit_kind { EDIT_PUT, EDIT_MERGE_PATCH, EDIT_JSON_PATCH };

// Any JSON, for call_read: what is in it is looked at by those who asked for it.
extern const struct repr_document any_document;

// Reads the body of a PATCH whose media type tells the kind. OUTCOME_OK; _BAD_DOCUMENT: no JSON, or no well-formed patch.
enum outcome read_patch(struct call *call, enum edit_kind *kind, struct doc **patch);
// The result of a patch, a new document. False, with *error, when it does not fit what is there.
bool patch_result(struct call *call, enum edit_kind kind, const struct doc *whole, const struct doc *patch,
	const struct doc **result, struct str *error);
// The same as an outcome: OUTCOME_OK; _CONFLICT with call->problem set.
enum outcome carry_out_patch(struct call *call, enum edit_kind kind, const struct doc *whole, const struct doc *patch,
	const struct doc **result);

#endif
