// SPDX-License-Identifier: Apache-2.0
// Objects that clients send as protobuf.
#ifndef TENURE_API_SPACES_PROTOBUF_PROTOBUF_H
#define TENURE_API_SPACES_PROTOBUF_PROTOBUF_H

#include "base/outcome.h"
#include "repr/protobuf/protobuf.h"

#define PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

// The message of a built-in kind: "v1", "Pod". NULL: that kind has none here.
const struct protobuf_message *protobuf_kind(struct str version, struct str kind);

// An object from its envelope: the document that its JSON would have been, with apiVersion and kind.
// OUTCOME_OK; _BAD_DOCUMENT, _UNSUPPORTED_MEDIA (no kind that is sent so) with *error saying why. Lives in pool.
enum outcome read_protobuf_object(struct pool *pool, struct str body, struct doc_limits limits, struct doc **object,
	struct str *error);

#endif
