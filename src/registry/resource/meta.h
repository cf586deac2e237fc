// SPDX-License-Identifier: Apache-2.0
// Metadata as clients write it: which members are the server's, and what the others have to be. Every dialect that stores a
// client's metadata asks here, so that what one of them has stored can be shown by all, and a dump of it be restored.
#ifndef TENURE_REGISTRY_RESOURCE_META_H
#define TENURE_REGISTRY_RESOURCE_META_H

#include "registry/resource/resource.h"
#include "repr/json/doc.h"

// Does the server set the member of that name, in some dialect? Each dialect ignores a client's value for it. This says nothing
// of the members that repeat the address: name, namespace and tenant.
bool resource_meta_is_owned(struct str name);
// Checks the kind of a client's member. Kubernetes' clients can't read a list in which one object has one of another kind.
// Returns what the member has to be, to be put after "must be"; NULL: value is that, or the member may be anything.
const char *resource_meta_fault(struct str name, const struct doc *value);
// Members that an answer may set itself, as flags.
enum { META_GENERATION = 1, META_GRACE_PERIOD = 2, META_TRAITS = 4 };
// The resource's stored metadata, to be put beside the members that the answer sets itself. Rows that were written by earlier
// versions may have such a member: then all that the server sets is left out, since nobody can read an answer that has a name
// twice. From pool, if so.
struct str resource_client_meta(struct pool *pool, const struct resource *resource, unsigned sets);

#endif
