// SPDX-License-Identifier: Apache-2.0
// For files in lib/ only: what the objects of the public header hold.
#ifndef TENURE_LIB_OBJECT_H
#define TENURE_LIB_OBJECT_H

#include "lib/client.h"

struct tenure_resource {
	struct tenure_client *client;
	struct pool *pool;    // as long as the object
	struct pool *content; // what was answered last
	struct str path;
	bool is_tenant;
	struct str document;  // p NULL: none yet
	struct str etag;      // as in a header field; n 0: none
};

// An object for an encoded path; NULL without memory.
struct tenure_resource *resource_at(struct tenure_client *client, struct str path, bool is_tenant);
// Holds the document, which a list brought, and the etag in it.
void resource_hold(struct tenure_resource *resource, const struct doc *document);

#endif
