// SPDX-License-Identifier: Apache-2.0
// The OpenAPI v2 document of the types that a caller sees. kubectl reads it in protobuf only (the form of gnostic); its commands
// explain and diff, validation, and dry runs on the server need it.
#ifndef TENURE_API_SPACES_SCHEMA_OPENAPI_H
#define TENURE_API_SPACES_SCHEMA_OPENAPI_H

#include "repr/json/doc.h"

// A type in one version.
struct openapi_type {
	struct str group, version, kind, plural;
	bool namespaced;
	bool has_path;            // the path of its objects is described, with a PATCH that accepts dryRun and fieldValidation
	bool builtin;
	// The schema in the form of a CustomResourceDefinition (openAPIV3Schema). NULL: that of the built-in kind, if it has one;
	// else the kind is not described, and clients don't validate it.
	const struct doc *schema;
};

// Appends the document of n types, as protobuf. Temporary memory is taken from pool.
void openapi_add(struct pool *pool, const struct openapi_type *types, size_t n, struct buf *out);
// Converts what openapi_add() has written to JSON, in pool.
struct doc *openapi_json(struct pool *pool, struct str protobuf);

#endif
