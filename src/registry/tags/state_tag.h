// SPDX-License-Identifier: Apache-2.0
// State tags: what a preview of a move or of an undo is compared by. They are HMACs of what the preview shows, by a key that
// changes: the newest etag key that every process knows, or, while there is only the first one, the registry's state_key. A
// preview that was made by a former key counts as well, as long as that key is there. state_key also makes the lanes that tags
// add up (etag_state_lanes()); these are stored and never shown, so it stays.
#ifndef TENURE_REGISTRY_TAGS_STATE_TAG_H
#define TENURE_REGISTRY_TAGS_STATE_TAG_H

#include "registry/tags/keys.h"

enum { STATE_TAG_HEX = 40 };

// A tag, and those that the other keys make of the same state.
struct state_tags {
	char other[ETAG_KEYS_MAX][STATE_TAG_HEX + 1];
	size_t n;
};

// Writes the tag of the n parts, STATE_TAG_HEX hex digits and a NUL. others: gets what the other keys make of them; NULL: not
// needed. The caller makes sure that no two states give the same bytes.
void state_tag_make(struct registry *registry, const struct str *parts, size_t n, char tag[STATE_TAG_HEX + 1], struct state_tags *others);

#endif
