// SPDX-License-Identifier: Apache-2.0
// For files in lib/ only: what the objects of the public header hold.
#ifndef TENURE_LIB_OBJECT_H
#define TENURE_LIB_OBJECT_H

#include "lib/client.h"

enum object_kind { OBJECT_RESOURCE, OBJECT_TENANT, OBJECT_METAL, OBJECT_PROVIDER };
// What calls for such an object tell of their version; NULL: nothing.
const struct version_field *version_of(enum object_kind kind);

struct tenure_resource {
	struct tenure_client *client;
	struct pool *pool;    // as long as the object
	struct pool *content; // what was answered last
	struct str path;      // of its collection while it is not made
	enum object_kind kind;
	bool unmade;          // tenure_resource_create() is to give it an address
	bool partial;         // the document lacks members
	struct str document;  // p NULL: none yet
	struct str etag;      // as in a header field; n 0: none
};

// An object for an encoded path; NULL without memory.
struct tenure_resource *resource_at(struct tenure_client *client, struct str path, enum object_kind kind);
// Holds the document, which a list brought, and the etag in it.
void resource_hold(struct tenure_resource *resource, const struct doc *document);
// Holds nothing any more.
void resource_forget(struct tenure_resource *resource);
// A pool for one call.
struct pool *call_pool(void);
// A wish for the object's address with suffix behind it; what its dialect asks for is in it.
struct wish resource_wish(const struct tenure_resource *resource, const char *method, struct str path);

// ---- baremetal.c

#define METAL_ROOT "/baremetal/v1"
// The address of its collection, "/baremetal/v1/nodes". False: there is no such kind.
bool metal_collection(struct buf *path, const char *kind);
// The JSON Patch that does to held what the merge patch says.
struct doc *metal_merge(struct pool *pool, const struct doc *held, const struct doc *patch);
// Where the tenancy dialect has the node that the object holds: "/v2.0/acme/nodes/UUID". False: no node, or not read.
bool metal_home(const struct tenure_resource *resource, struct pool *pool, struct str *path);

#endif
