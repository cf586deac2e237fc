// SPDX-License-Identifier: Apache-2.0
// What the dialects show of a namespace's stored conditions.
#ifndef TENURE_API_NAMESPACE_STATUS_H
#define TENURE_API_NAMESPACE_STATUS_H

#include "base/str.h"

struct doc;
struct pool;
struct resource;

// The conditions in a namespace's body; NULL if there are none, or if another dialect stored something of another form.
const struct doc *namespace_status_conditions(const struct doc *body);
// Those that are shown. A namespace whose deletion waits has conditions that say what it waits for; they stay stored when it is
// recovered, and are left out then. The list is in the body, or in pool.
const struct doc *namespace_status_shown(struct pool *pool, const struct resource *space, const struct doc *body);
// The text of the body of a namespace without those that are not shown: body itself if it has none, or if the namespace waits or
// is deleted.
struct str namespace_status_body_text(struct pool *pool, const struct resource *space, struct str body);

#endif
