// SPDX-License-Identifier: Apache-2.0
// Which types exist, what they are, and what the caller may do with them.
#ifndef TENURE_API_SPACES_DISCOVERY_DISCOVERY_H
#define TENURE_API_SPACES_DISCOVERY_DISCOVERY_H

#include "api/spaces/common/spaces.h"

// ---- discovery.c

#define REVIEWS_GROUP "authorization.k8s.io"
#define WHO_GROUP "authentication.k8s.io"

// Types of which objects are posted and answered, but not stored, so that they have no definition; all in version v1. Sorted by
// group; ends with a group of NULL.
struct review_type {
	const char *group, *plural, *kind;
};
extern const struct review_type review_types[];

struct verb_name {
	unsigned verb;
	const char *name;
};
extern const struct verb_name verb_names[]; // ends with a name of NULL
// The verbs of a type that are possible for this caller, apart from its role.
unsigned definition_verbs_for_caller(const struct call *call, const struct definition *definition);
// All definitions of which the caller may use objects.
enum outcome discovery_read_definitions(struct call *call, const struct definition *const **list, size_t *n);

// ---- explain.c

// A definition in a short form; for NULL the JSON null.
struct doc *definition_doc(struct pool *pool, const struct definition *definition);

// ---- handlers

handler_fn get_server_version, get_api, get_apis, get_group, get_types, get_openapi;
handler_fn create_access_review, create_rules_review, create_self_review;
handler_fn explain_type, list_types, tell_effect;

#endif
