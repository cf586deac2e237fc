// SPDX-License-Identifier: Apache-2.0
// For doctor.c, which has the list of checks, and doctor_walk.c, which has those that read every document.
#ifndef TENURE_REGISTRY_UPKEEP_DOCTOR_INTERNAL_H
#define TENURE_REGISTRY_UPKEEP_DOCTOR_INTERNAL_H

#include "registry/core/context.h"

// A run of the doctor, and what the check at hand has found so far.
struct examination {
	struct registry *registry;
	bool fix;
	uint64_t found, fixed;
	const char *example; // a name of what was found first; NULL: nothing was. In the pool, or in keep
	char keep[80];
};

// Checks that go through all resources, or tenants, a page at a time. Each adds to found, fixed and example, and mends only
// if examination->fix. Each rewinds registry->pool. They return OUTCOME_OK, _UNAVAILABLE or _INTERNAL.

// What the database searches stands before what is nested too deep for it.
enum outcome doctor_check_depth(struct examination *examination);
// Each resource's document is JSON objects.
enum outcome doctor_check_documents(struct examination *examination);
// Each tenant's metadata and object are JSON objects.
enum outcome doctor_check_tenant_documents(struct examination *examination);
// Each resource's etag, size and lanes are those of its content.
enum outcome doctor_check_hashes(struct examination *examination);
// Each resource has the lookup keys and the place in a tree that its document says.
enum outcome doctor_check_relations(struct examination *examination);
// Each tenant's etag is that of its content.
enum outcome doctor_check_tenants(struct examination *examination);

#endif
