// SPDX-License-Identifier: Apache-2.0
// Secrets in a resource's body. They are shown as SECRET_MASK, whoever asks. A write that sends the mask back keeps the stored
// secret. A patch is applied to the masked body: on the stored one, its operations "test" and "copy" would reveal the secrets.
#ifndef TENURE_REGISTRY_RESOURCE_SECRET_H
#define TENURE_REGISTRY_RESOURCE_SECRET_H

#include "registry/type/rules.h"

#define SECRET_MASK "******"
// The body as clients may see it, as compact JSON. It is resource->body itself if there are no secrets.
struct str resource_shown(struct pool *pool, const struct resource *resource);
// The same of n members of the body alone, in the order of names, as far as there are such.
struct str resource_shown_members(struct pool *pool, const struct resource *resource, const char *const *names, size_t n);
// Replaces each mask in draft->body by the stored secret. OUTCOME_OK; OUTCOME_BAD_DOCUMENT: no secret is stored in that place.
enum outcome secret_restore(struct draft *draft);

#endif
