// SPDX-License-Identifier: Apache-2.0
// The OpenAPI v2 document of the types that a caller sees. kubectl takes it in protobuf (gnostic's form) alone: with it
// explain, validation, diff and dry runs on the server work.
#ifndef TENURE_API_SPACES_SCHEMA_OPENAPI_H
#define TENURE_API_SPACES_SCHEMA_OPENAPI_H

#include "repr/json/doc.h"

#define OPENAPI_PROTOBUF "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

struct openapi_type {
	struct str group, version, kind, plural;
	bool namespaced;
	bool dry_runs;            // PATCH takes dryRun
	bool builtin;
	// The schema as a CustomResourceDefinition has it (openAPIV3Schema). NULL: a built-in kind's own, where there is one;
	// else the kind is not described, and clients don't check it.
	const struct doc *schema;
};

// Appends the document.
void openapi_add(struct pool *pool, const struct openapi_type *types, size_t n, struct buf *out);
// What openapi_add wrote, as JSON has it.
struct doc *openapi_json(struct pool *pool, struct str protobuf);

#endif
