// SPDX-License-Identifier: Apache-2.0
// Etags and state tags: keyed, so that nobody can test guesses of a masked secret offline.
#ifndef TENURE_REGISTRY_TAGS_ETAG_H
#define TENURE_REGISTRY_TAGS_ETAG_H

#include "registry/core/model.h"

// The etag that clients see of a resource. It is the stored one but where the type's document shows the owner as content
// (type_rules.shows_owner): there it is an HMAC of the stored one, the owner's id and the count of moves, so that a move
// changes it, and moving away and back does. It depends on nothing else, so it is the same in every dialect and version.
// type NULL: none that is known. stored and etag: 64 bytes, and may be the same.
void etag_of_owned(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const uint8_t *stored, uint8_t *etag);
// Sets resource->etag from stored_etag, tenant_id and moves.
void etag_show(struct registry *registry, struct resource *resource);

// Over the compact JSON of the stored fields less the ignored ones, the count of content changes (edits) among them: every
// real change gives a new etag, A -> B -> A too. A move changes no content and keeps it.
// Sets resource->stored_etag and, by etag_show, resource->etag.
void etag_of_resource(struct registry *registry, struct resource *resource);
// The same where the tree of resource->body is at hand: spares parsing it.
void etag_of_document(struct registry *registry, struct resource *resource, const struct doc *body);
// Sets tenant->etag. A tenant's etag covers tier, metadata and revision, not its count of resources.
void etag_of_tenant(struct registry *registry, struct tenant *tenant);

// Keyed hash of a uid, which two types may share, in four lanes of 32 bits. type NULL: none that is known. The state of a
// set of resources is the sum of lane * revision over them, lane by lane: a keyed multiset hash that a move (revision + 1)
// changes without touching the lanes, and that the index `state` yields in one scan. The sums are never shown, only tags
// made of them.
void state_lanes(struct registry *registry, const struct type *type, const struct uuid *uid, uint64_t lanes[4]);

#endif
