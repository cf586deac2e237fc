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
	unsigned verb; // one of enum definition_verbs
	const char *name;
};
extern const struct verb_name verb_names[]; // ends with a name of NULL
// The verbs of a type that this caller could use if its role sufficed: without watch if this process can't hand a request over.
unsigned definition_verbs_for_caller(const struct call *call, const struct definition *definition);
// The definitions of all types that the caller's tenant has, and of those that are announced to it (definition_announced()),
// ordered by group and plural. OUTCOME_OK; _FORBIDDEN: the caller is of no tenant; or that of a failed statement.
enum outcome discovery_read_definitions(struct call *call, const struct definition *const **list, size_t *n);

// ---- explain.c

// A definition as explanations and effects show it; NULL, which stands for JSON's null, if definition is NULL.
struct doc *definition_doc(struct pool *pool, const struct definition *definition);

// ---- handlers

handler_fn get_server_version, get_api, get_apis, get_group, get_types, get_openapi;
handler_fn create_access_review, create_rules_review, create_self_review;
handler_fn explain_type, list_types, tell_effect;

#endif
