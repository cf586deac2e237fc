// SPDX-License-Identifier: Apache-2.0
// For files in lib/ only: the objects of the public header.
#ifndef TENURE_LIB_OBJECT_H
#define TENURE_LIB_OBJECT_H

#include "lib/client.h"

enum object_kind { OBJECT_RESOURCE, OBJECT_TENANT, OBJECT_METAL, OBJECT_PROVIDER };
// The version field of calls for such an object; NULL: none.
const struct version_field *object_version(enum object_kind kind);

struct tenure_resource {
	struct tenure_client *client;
	struct pool *pool;    // for what lives as long as the object
	struct pool *content; // of the last answer
	struct str path;      // while unmade: the path of its collection
	enum object_kind kind;
	bool unmade;          // it gets its path by tenure_resource_create()
	bool partial;         // the document lacks members
	struct str document;  // p NULL: none yet
	struct str etag;      // as in a header field; n 0: none
};

// An object for an encoded path; NULL without memory.
struct tenure_resource *resource_at(struct tenure_client *client, struct str path, enum object_kind kind);
// Stores a document from a list, and the etag in it, in the object.
void resource_hold(struct tenure_resource *resource, const struct doc *document);
// Removes document and etag from the object.
void resource_forget(struct tenure_resource *resource);
// A pool for one call.
struct pool *call_pool(void);
// A call for path, with the version field that the object's dialect needs.
struct wish resource_wish(const struct tenure_resource *resource, const char *method, struct str path);

// ---- baremetal.c

#define BAREMETAL_ROOT "/baremetal/v1"
// The address of its collection, "/baremetal/v1/nodes". False: there is no such kind.
bool object_collection(struct buf *path, const char *kind);
// The JSON Patch that changes held as the merge patch says.
struct doc *object_merge(struct pool *pool, const struct doc *held, const struct doc *patch);
// The path of the object's node in the tenancy dialect: "/v2.0/acme/nodes/UUID". False: it is no node, or was not read yet.
bool object_home(const struct tenure_resource *resource, struct pool *pool, struct str *path);

#endif
