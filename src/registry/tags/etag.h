// SPDX-License-Identifier: Apache-2.0
// Etags and the hashes that state tags add up. Both are keyed, so that nobody can test guesses of a secret against them.
#ifndef TENURE_REGISTRY_TAGS_ETAG_H
#define TENURE_REGISTRY_TAGS_ETAG_H

#include "registry/core/model.h"

// Computes the etag that clients see from the stored one. The two are the same unless the type's document shows the owner as
// content (type_rules.shows_owner). Then it is an HMAC of the stored etag, the owner's id and the count of moves: it changes
// when the resource moves away, and again when it moves back. It depends on nothing else, so it is the same in every dialect
// and version. type NULL: the type is not known. stored and etag have 64 bytes and may be the same buffer.
void etag_of_owned(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const uint8_t *stored, uint8_t *etag);
// Returns the etag that clients see, 64 bytes, which live as long as the resource and the registry's pool. If it is derived from
// the stored one and the resource does not have it yet, it is made here, which takes an HMAC.
const uint8_t *etag_shown(struct registry *registry, const struct resource *resource);
// Makes what etag_shown() returns and keeps it in the resource: for one whose etag is about to be shown more than once, or that
// is cached.
void etag_derive(struct registry *registry, struct resource *resource);
// Makes stored, 64 bytes, the resource's stored etag. What was derived from the former one is forgotten.
void etag_replace(struct resource *resource, const uint8_t *stored);

// Sets resource->stored_etag and derives what clients see. The stored etag is an HMAC over the compact JSON of the stored fields,
// without those that the type leaves out, and with the count of content changes (edits): so A -> B -> A gives another etag. A
// move changes no content and keeps it. Whoever changes the resource's tenant_id or moves calls etag_derive() afterwards.
void etag_of_resource(struct registry *registry, struct resource *resource);
// The part of resource->body that the etag covers. The body must be compact, as doc_write_json() has just written it.
struct str etag_covered(struct pool *pool, const struct resource *resource);
// Is the text that the etag covers the same in the bodies of two resources of one type?
bool etag_covers_same(struct pool *pool, const struct resource *a, const struct resource *b);
// etag_of_resource() without parsing the body, whose covered part the caller has.
void etag_of_covered(struct registry *registry, struct resource *resource, struct str covered);
// The id of the key (registry/tags/keys.h) that made resource->stored_etag, or tenant->etag, of what is stored there now. 0: none
// of those there are, so content and etag don't belong together. Takes one HMAC for each key at most, the newest first.
uint64_t etag_key_of_resource(struct registry *registry, const struct resource *resource);
uint64_t etag_key_of_tenant(struct registry *registry, const struct tenant *tenant);
// Sets tenant->etag. It covers revision, tier, etag_required, metadata and the Tenant object, but not the count of resources.
void etag_of_tenant(struct registry *registry, struct tenant *tenant);

// Computes the four lanes of a resource: a keyed hash of its uid and its type's group, as four numbers of 32 bits. type NULL:
// the type is not known. The state of a set of resources is, lane by lane, the sum of lane * revision: a keyed multiset hash. A
// move raises the revision, so it changes the state without touching the lanes, and the index `state` yields the sums in one
// scan. Only tags made of the sums are ever shown.
void etag_state_lanes(struct registry *registry, const struct type *type, const struct uuid *uid, uint64_t lanes[4]);

#endif
