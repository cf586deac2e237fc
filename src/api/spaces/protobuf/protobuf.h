// SPDX-License-Identifier: Apache-2.0
// Reads objects that clients send as protobuf.
#ifndef TENURE_API_SPACES_PROTOBUF_PROTOBUF_H
#define TENURE_API_SPACES_PROTOBUF_PROTOBUF_H

#include "base/outcome.h"
#include "repr/protobuf/protobuf.h"

#define PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

// The message of a built-in kind, such as "v1", "Pod"; NULL if the kind has none here.
const struct protobuf_message *protobuf_kind(struct str version, struct str kind);

// Reads an object from its envelope: *object is the document that its JSON would have given, with apiVersion and kind.
// OUTCOME_OK; _BAD_DOCUMENT, or _UNSUPPORTED_MEDIA (a kind without a message), with *error saying why. Lives in pool.
enum outcome protobuf_read_object(struct pool *pool, struct str body, struct doc_limits limits, struct doc **object,
	struct str *error);

#endif
