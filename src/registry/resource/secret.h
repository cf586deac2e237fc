// SPDX-License-Identifier: Apache-2.0
// Secrets in a resource's body. They are shown as SECRET_MASK, whoever asks. A write that sends the mask back keeps the stored
// secret. A patch is applied to the masked body: on the stored one, its operations "test" and "copy" would reveal the secrets. So
// a JSON Patch can't carry a secret to another place.
#ifndef TENURE_REGISTRY_RESOURCE_SECRET_H
#define TENURE_REGISTRY_RESOURCE_SECRET_H

#include "registry/type/rules.h"

#define SECRET_MASK "******"
// The body as clients may see it, as compact JSON. It is resource->body itself if there are no secrets.
struct str resource_shown(struct pool *pool, const struct resource *resource);
// Appends the JSON value of one member of a body with its secrets masked. rules: of the resource's type, or NULL.
void secret_add_shown(struct pool *pool, const struct type_rules *rules, struct str name, const struct doc *value, struct buf *out);
// Replaces each mask in draft->body by the stored secret. OUTCOME_OK; OUTCOME_BAD_DOCUMENT: no secret is stored in that place.
enum outcome secret_restore(struct draft *draft);

// The rule of JSON Patches on masked documents that have the members of a body with these rules: a mask is not moved, nor copied
// to where it would stand for a secret. rules NULL: nothing is secret.
struct doc_patch_rule secret_patch_rule(const struct type_rules *rules);

// The shown text of a body whose compact text was just written from the tree: the body itself if there is no secret in it, else a
// copy with each member that has one written anew. What resource_shown() makes of the tree alone, in fewer steps.
struct str secret_shown_text(struct pool *pool, const struct type_rules *rules, struct str body, const struct doc *tree);

#endif
