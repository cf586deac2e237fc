// SPDX-License-Identifier: Apache-2.0
// Secrets in a resource's body: shown as SECRET_MASK whoever asks; a write that sends the mask back keeps what is stored.
// A patch is applied to the body as it is shown: on the stored one, its "test" and "copy" would tell what the mask hides.
#ifndef TENURE_REGISTRY_RESOURCE_SECRET_H
#define TENURE_REGISTRY_RESOURCE_SECRET_H

#include "registry/type/rules.h"

#define SECRET_MASK "******"
// The body with its secrets masked: body itself where there are none, else a copy. rules may be NULL.
const struct doc *secrets_masked(struct pool *pool, const struct type_rules *rules, const struct doc *body);
// The body as clients may see it: the stored text itself where it has no secrets.
struct str resource_shown(struct pool *pool, const struct resource *resource);
// Puts what is stored back where body has the mask in a secret's place. OUTCOME_OK; _BAD_DOCUMENT: nothing is stored there.
enum outcome secrets_restore(struct draft *draft);

#endif
